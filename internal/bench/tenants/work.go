package tenants

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/lower"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// work is the operations of a tenant's program, as work for the device.
type work struct {
	ops  []device.Work // in program order
	deps [][]int       // of each, the operations that must have ended, without those that others imply
}

// values resolves the buffers and parameters of an instance.
type values struct{ *Instance }

func (v values) Address(b ir.BufferID) device.Ptr { return v.Bound.Pointer(b) }
func (v values) Value(p ir.ParamID) ir.Scalar     { return v.Graph.Params[p].Value }

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
		if w.ops[i], err = lowerOp(dev, in, &g.Ops[i]); err != nil {
			return nil, fmt.Errorf("operation %d: %w", i, err)
		}
		for _, d := range g.DepsInto(ir.OpID(i)) {
			w.deps[i] = append(w.deps[i], int(d.From))
		}
	}
	return w, nil
}

func lowerOp(dev device.Device, in *Instance, op *ir.Op) (device.Work, error) {
	s := lower.Settings{Label: op.Label}
	switch op.Kind {
	case ir.KindLoop, ir.KindBranch, ir.KindHost:
		return nil, fmt.Errorf("a %v cannot run for several tenants: use a program of launches, copies and fills", op.Kind)
	case ir.KindLaunch:
		f, err := dev.Function(in.Bound.Module(op.Launch.Module), op.Launch.Entry)
		if err != nil {
			return nil, err
		}
		s.Function = f
	}
	return lower.Work(op, &s, values{in}), nil
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
