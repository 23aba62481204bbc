package timing

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/internal/des/links"
	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/ir"
)

// work is what an operation demands of its device, and of the links of the rank.
type work struct {
	demand model.Demand
	route  *links.Route // of a copy to another device
	kernel bool
}

// work returns the work of an operation.
func (s *Simulation) work(k *rank, op *distribute.Op) work {
	bytes := float64(op.Bytes.Hi - op.Bytes.Lo)
	switch op.Kind {
	case distribute.Push:
		r := k.links.Routes[op.Device-k.first][op.Peer-k.first]
		return work{demand: model.Demand{Kind: des.CopyPeer, Bytes: bytes, Duration: r.Latency}, route: r}
	case distribute.Out:
		return work{demand: model.Demand{Kind: model.CopyOut, Bytes: bytes}}
	case distribute.In:
		return work{demand: model.Demand{Kind: model.CopyIn, Bytes: bytes}}
	}
	chunk := &s.plan.Decisions[op.Of].Chunks[op.Chunk]
	switch s.plan.Graph.Ops[op.Of].Kind {
	case ir.KindLaunch:
		return work{demand: s.demand(op), kernel: true}
	case ir.KindCopy:
		return work{demand: model.Demand{Kind: model.CopyOn, Bytes: 2 * float64(chunk.Count)}}
	case ir.KindMemset:
		return work{demand: model.Demand{Kind: model.CopyOn, Bytes: float64(chunk.Count)}}
	}
	return work{}
}

// start returns the function that a device calls when a task starts. The data of markers are nil.
func (k *rank) start(g *gpu) func(des.TaskID, any) model.Demand {
	return func(_ des.TaskID, data any) model.Demand {
		w, is := data.(*work)
		if !is {
			return model.Demand{}
		}
		if w.route != nil {
			links.Cross(g.engine, w.demand.Bytes, w.route.Channels...)
		}
		k.links.Ports[g.number].Cross(g.engine, &w.demand)
		return w.demand
	}
}
