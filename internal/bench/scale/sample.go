package scale

import (
	"context"
	"errors"
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/bench/scale/programs"
	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/internal/ranks"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/transport"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// sampledBlocks is the number of blocks of a chunk that are run to count what the chunk demands.
const sampledBlocks = 8

// maxContents is the greatest size of all buffers, in bytes, whose initial contents are set for counting. Beyond, buffers
// are zero, which only matters to kernels whose control flow or addresses depend on data.
const maxContents = 256 << 20

// role identifies chunks that demand the same of their devices for each block.
type role struct {
	of      ir.OpID
	edge    bool
	profile *model.Profile
}

// counted is what a chunk demands.
type counted struct {
	model.Demand
	blocks int64
}

// sampler counts the demands of the chunks of a plan. Of each device that it runs, it makes a plan for this device alone.
type sampler struct {
	plan    *distribute.Plan
	machine *machine.Machine
	in      *programs.Instance
	devices []machine.Device // by number in the layout
	found   map[role]counted
}

// demands returns what each operation that runs a chunk of a launch demands of its device.
func demands(ctx context.Context, m *machine.Machine, in *programs.Instance, plan *distribute.Plan) (func(*distribute.Op) model.Demand, error) {
	s := &sampler{plan: plan, machine: m, in: in, found: map[role]counted{}}
	for _, r := range m.Ranks {
		s.devices = append(s.devices, r.Devices...)
	}
	for _, d := range s.chosen() {
		if err := s.run(ctx, d); err != nil {
			return nil, fmt.Errorf("counting the kernels of device %d: %w", d, err)
		}
	}
	return s.demand, nil
}

// demand returns the demand of a chunk, scaled from the one that was counted by the number of blocks.
func (s *sampler) demand(op *distribute.Op) model.Demand {
	c := s.found[s.role(op)]
	by := float64(s.plan.Decisions[op.Of].Chunks[op.Chunk].Count) / float64(c.blocks)
	d := c.Demand
	if by == 1 {
		return d
	}
	d.Blocks *= by
	d.Bytes *= by
	d.L2Bytes *= by
	d.Updates *= by
	for u := range d.Work {
		d.Work[u] *= by
	}
	return d
}

func (s *sampler) role(op *distribute.Op) role {
	return role{op.Of, s.plan.Decisions[op.Of].Chunks[op.Chunk].Edge, s.devices[op.Device].Profile}
}

// chosen returns devices that together have chunks of all roles: the one in the middle, because it has two neighbours, and
// the first ones with other roles.
func (s *sampler) chosen() (list []int32) {
	has := map[role]bool{}
	middle := int32(len(s.devices) / 2)
	for _, only := range []bool{true, false} {
		s.launches(func(op *distribute.Op) {
			if only && op.Device != middle || has[s.role(op)] {
				return
			}
			has[s.role(op)] = true
			if n := len(list); n == 0 || list[n-1] != op.Device {
				list = append(list, op.Device)
			}
		})
	}
	return list
}

// launches calls f for each chunk of a launch in a step of the steady state.
func (s *sampler) launches(f func(*distribute.Op)) {
	ops := s.plan.Rounds[s.plan.Repeat].Ops
	for i := range ops {
		if ops[i].Kind == distribute.Run && s.plan.Graph.Ops[ops[i].Of].Kind == ir.KindLaunch {
			f(&ops[i])
		}
	}
}

// alone returns a plan for device d of the machine: its chunks, without those of others and without transfers. The first
// round also sets the contents of its memory.
func (s *sampler) alone(d int32, contents bool) *distribute.Plan {
	p := &distribute.Plan{
		Graph: s.plan.Graph, Decisions: s.plan.Decisions, Shapes: s.plan.Shapes, Memory: s.plan.Memory[d : d+1], Scratch: s.plan.Scratch[d : d+1], Repeat: 1,
		Layout: &distribute.Layout{Devices: []distribute.Device{s.plan.Layout.Devices[d]}, Peers: func(a, b int32) bool { return false }},
	}
	p.Layout.Devices[0].Rank = 0
	var loads, runs []distribute.Op
	for b, span := range s.plan.Memory[d] {
		if contents && span.Lo < span.Hi {
			loads = append(loads, distribute.Op{Kind: distribute.Load, Bytes: ir.Range{Buffer: ir.BufferID(b), Lo: span.Lo, Hi: span.Hi}, Exchange: -1})
		}
	}
	for _, op := range s.plan.Rounds[s.plan.Repeat].Ops {
		if op.Kind == distribute.Run && op.Device == d {
			runs = append(runs, distribute.Op{Kind: distribute.Run, Of: op.Of, Chunk: op.Chunk, Exchange: -1})
		}
	}
	p.Rounds = []distribute.Round{{Ops: append(loads, runs...)}, {Ops: runs}}
	return p
}

// run counts the launches of a device in its second step, when its caches are those of the steady state.
func (s *sampler) run(ctx context.Context, d int32) error {
	one := s.devices[d]
	dev, err := sim.New(sim.Options{Custom: one.Profile, On: sim.NewSystem().GPU(one.Memory), Sample: sampledBlocks})
	if err != nil {
		return err
	}
	m := &machine.Machine{ID: s.machine.ID, Ranks: []machine.Rank{{Devices: []machine.Device{one}}}}
	r, err := ranks.New(m, transport.Local(1)[0], []device.Device{dev}, dev.Close)
	if err != nil {
		return errors.Join(err, dev.Close())
	}
	counts, err := s.count(ctx, r, dev, d)
	if err = errors.Join(err, r.Close()); err != nil {
		return err
	}
	s.launches(func(op *distribute.Op) {
		if op.Device == d {
			s.found[s.role(op)] = counted{counts[0], s.plan.Decisions[op.Of].Chunks[op.Chunk].Count}
			counts = counts[1:]
		}
	})
	return nil
}

// count runs two steps of a device alone and returns the demands of the launches of the second.
func (s *sampler) count(ctx context.Context, r *ranks.Rank, dev *sim.Device, d int32) (counts []model.Demand, err error) {
	contents := s.bytes() <= maxContents
	p, err := r.Prepare(ctx, s.alone(d, contents), ranks.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if contents {
		if err := s.in.Start(func(b tracer.Buffer, data []byte) error { return p.Write(b.Range(), data) }); err != nil {
			return nil, err
		}
	}
	if err := p.Run(ctx, 1); err != nil {
		return nil, err
	}
	return dev.CountLaunches(func() error { return p.Run(ctx, 1) })
}

// bytes returns the size of all buffers.
func (s *sampler) bytes() (sum int64) {
	for b := range s.plan.Graph.Buffers {
		sum += s.plan.Graph.Buffers[b].Size()
	}
	return sum
}
