package tenants

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/lower"
	"github.com/reprise-gpu/reprise/internal/opname"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// work is the operations of a tenant's program, as work for the device.
type work struct {
	ops  []device.Work // in program order
	deps [][]int       // of each, the operations that must have ended, without those that others imply
}

// newWork lowers the program of an instance. It returns an error for operations that cannot be submitted one by one.
func newWork(dev device.Device, in *Instance) (*work, error) {
	for b := range in.Graph.Buffers {
		if err := in.Bound.Allocate(ir.BufferID(b)); err != nil {
			return nil, err
		}
	}
	planned, err := optimizer.Plan(in.Graph, optimizer.Options{})
	if err != nil {
		return nil, err
	}
	g := planned.Reduced
	w := &work{ops: make([]device.Work, g.Len()), deps: make([][]int, g.Len())}
	for i := range g.Ops {
		if w.ops[i], err = lowerOp(dev, g, ir.OpID(i), in.Bound); err != nil {
			return nil, fmt.Errorf("operation %s: %w", opname.Of(g).Of(ir.OpID(i)), err)
		}
		for _, d := range g.DepsInto(ir.OpID(i)) {
			w.deps[i] = append(w.deps[i], int(d.From))
		}
	}
	return w, nil
}

func lowerOp(dev device.Device, g *ir.Graph, v ir.OpID, bound traced.Bindings) (device.Work, error) {
	switch kind := g.Ops[v].Kind; kind {
	case ir.KindLoop, ir.KindBranch, ir.KindHost:
		return nil, fmt.Errorf("a %v cannot run for several tenants: use a program of launches, copies and fills", kind)
	}
	return lower.Recorded(dev, g, v, bound)
}

// isKernel reports whether work is the launch of a kernel.
func isKernel(w device.Work) bool {
	_, ok := w.(*device.Launch)
	return ok
}

// disabled returns work of the same kind that does nothing. A node of a graph has it while its branch does not run.
func disabled(w device.Work) device.Work {
	switch w := w.(type) {
	case *device.Launch:
		off := *w
		off.Off = true
		return &off
	case *device.Copy:
		off := *w
		off.Bytes = 0
		return &off
	case *device.Memset:
		off := *w
		off.Count = 0
		return &off
	}
	return w
}
