package lower

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
)

// Recorded returns the work of an operation of a recorded graph, with the addresses, kernels and host functions of b and the
// values of parameters in the graph. All buffers must have memory. A host call without a function does nothing.
func Recorded(dev device.Device, g *ir.Graph, v ir.OpID, b traced.Bindings) (device.Work, error) {
	op := &g.Ops[v]
	s := Settings{Label: op.Label, Off: op.Kind == ir.KindHost && b.HostFunc(v) == nil}
	switch op.Kind {
	case ir.KindHost:
		s.Host = b.HostFunc(v)
	case ir.KindLaunch:
		f, err := dev.Function(b.Module(op.Launch.Module), op.Launch.Entry)
		if err != nil {
			return nil, err
		}
		s.Function = f
	}
	return Work(op, &s, recorded{g, b}), nil
}

// recorded resolves the buffers and parameters of a recorded graph.
type recorded struct {
	graph *ir.Graph
	bound traced.Bindings
}

func (r recorded) Address(b ir.BufferID) device.Ptr { return r.bound.Pointer(b) }
func (r recorded) Value(p ir.ParamID) ir.Scalar     { return r.graph.Params[p].Value }
