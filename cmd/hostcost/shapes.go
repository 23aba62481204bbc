//go:build cuda && cgo

package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// shape is a family of programs of any number of launches.
type shape struct {
	name   string
	launch func(p *program, ops int)
}

var shapes = []shape{
	{"chain", chain},
	{"fan", fan},
	{"diamonds", diamonds},
	{"random", random},
}

// lanes bounds the lanes of a schedule, because each lane is a stream.
const lanes = 8

// tile is the number of elements that a launch works on.
const tile = 256

// program is a trace under construction. All its launches are of one kernel with three inputs and one output.
type program struct {
	*tracer.Tracer
	kernel *tracer.Kernel
	tiles  tracer.Buffer
}

// plan traces and schedules a program of the given number of launches. The caller closes the trace.
func (s shape) plan(dev device.Device, ops int) (*tracer.Trace, *ir.Schedule, error) {
	k, ok := kernels.Lookup("combine")
	if !ok {
		panic("BUG: there is no kernel combine")
	}
	t := tracer.New(dev, s.name, tracer.Deferred)
	p := &program{Tracer: t, kernel: t.Module(k.File, k.PTX).Kernel(k.Name)}
	p.tiles = p.Alloc("tiles", ir.F32, 2*int64(ops)*tile, ir.InOut)
	s.launch(p, ops)
	trace, err := t.Finish()
	if err != nil {
		return nil, nil, err
	}
	plan, err := optimizer.Plan(trace.Graph, optimizer.Options{
		Strategy: fmt.Sprintf("nimble(%d)", lanes), Passes: []string{"hazards", "reduce", "assign", "syncs"}})
	if err != nil {
		return nil, nil, device.Join(err, trace.Close())
	}
	return trace, plan.Schedule, nil
}

func (p *program) tile(i int) tracer.Buffer { return p.tiles.Slice(int64(i)*tile, int64(i+1)*tile) }

// combine launches the kernel, whose result is in tile out.
func (p *program) combine(x, y, z, out tracer.Buffer) {
	p.Launch(p.kernel, tracer.Linear(4, 64), x, y, z, out, int32(out.Len()))
}

func chain(p *program, ops int) {
	for range ops {
		p.combine(p.tile(0), p.tile(0), p.tile(0), p.tile(0))
	}
}

// fan is a fork and a join: one launch, many that read its result, and one that reads all of their results. The last
// launch writes as many elements as it reads.
func fan(p *program, ops int) {
	n := int64(ops)
	first, all, last := p.tile(0), p.tiles.Slice(tile, (n-1)*tile), p.tiles.Slice(n*tile, (2*n-2)*tile)
	p.combine(first, first, first, first)
	for i := range ops - 2 {
		p.combine(first, first, first, p.tile(1+i))
	}
	p.Launch(p.kernel, tracer.Linear(4, 64), all, all, all, last, int32(all.Len()))
}

// diamonds is a chain of launches of which every other three are a fork and a join.
func diamonds(p *program, ops int) {
	top, left, right := p.tile(0), p.tile(1), p.tile(2)
	for i := range ops {
		switch i % 3 {
		case 0:
			p.combine(left, right, right, top)
		case 1:
			p.combine(top, top, top, left)
		case 2:
			p.combine(top, top, top, right)
		}
	}
}

// random is a sequence of launches that each read three random tiles of 32 and overwrite one.
func random(p *program, ops int) {
	r := rand.New(rand.NewPCG(1, 1))
	pick := func() tracer.Buffer { return p.tile(r.IntN(min(32, ops))) }
	for range ops {
		p.combine(pick(), pick(), pick(), pick())
	}
}
