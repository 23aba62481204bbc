package optimizer

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/costmodel"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/ir"
)

// CostModel returns what an operation demands of the device: its kind, blocks, cycles and bytes. It is the
// optimizer's only source of costs.
type CostModel interface {
	Demand(g *ir.Graph, v ir.OpID) model.Demand
}

// newDeclaredCosts returns the default model of Options.Costs. Managed memory that the program sets before a replay
// migrates to the device with the first access in program order. The model is for one goroutine, and for graphs that
// do not change.
func newDeclaredCosts(p *model.Profile) CostModel { return &declaredCosts{profile: p} }

// newModelledCosts returns newDeclaredCosts without the declared costs. An empty operation then costs nothing.
func newModelledCosts(p *model.Profile) costmodel.Model {
	return &declaredCosts{profile: p, undeclared: true}
}

type declaredCosts struct {
	profile    *model.Profile
	undeclared bool
	graph      *ir.Graph // the graph that moved is for
	moved      []float64 // by operation: bytes of managed memory that it migrates
}

// guessedBlockCycles is the assumed duration of a block that loads, computes a little and
// stores: two round trips to DRAM and some overhead. It is an estimate, not measured.
const guessedBlockCycles = 1500

func (m *declaredCosts) Demand(g *ir.Graph, v ir.OpID) model.Demand {
	if m.graph != g {
		m.graph, m.moved = g, migrations(g, !des.PageFaults(m.profile))
	}
	op := &g.Ops[v]
	if op.Cost >= 0 && !m.undeclared {
		return model.Demand{Kind: model.Fixed, Duration: model.Time(min(op.Cost, beyondHorizon)) * model.Nanosecond}
	}
	switch op.Kind {
	case ir.KindLaunch:
		return m.launch(g, op, wholeGrid(g, v), m.moved[v])
	case ir.KindCopy:
		return transfer(g, op.Copy)
	case ir.KindMemset:
		return moved(model.CopyOn, op.Memset.Dst, 1)
	case ir.KindPrefetch:
		if op.Prefetch.ToDevice {
			return transferred(model.CopyIn, m.moved[v])
		}
		return transferred(model.CopyOut, m.moved[v])
	case ir.KindHost:
		return model.Demand{Kind: model.Host}
	}
	return model.Demand{Kind: model.Marker}
}

// launch returns the demand of a launch with a number of blocks.
func (m *declaredCosts) launch(g *ir.Graph, op *ir.Op, blocks float64, moved float64) model.Demand {
	l := op.Launch
	perSM, _ := m.profile.Limits.Occupancy(int(l.Block.Count()), 0, int(l.Shared))
	d := model.Demand{
		Kind:        model.Kernel,
		Blocks:      max(1, blocks),
		PerSM:       float64(max(1, perSM)),
		BlockCycles: guessedBlockCycles,
		Memory:      len(op.Uses) > 0,
	}
	for _, a := range op.Uses {
		d.Bytes += traffic(g, a)
	}
	if des.PageFaults(m.profile) {
		d.Faulted = moved
	} else {
		d.Bulk = moved
	}
	return d
}

// traffic returns the bytes that an access of g moves if it touches each of them once.
func traffic(g *ir.Graph, a ir.Access) float64 {
	bytes := float64(max(0, g.Box(a).Bytes()))
	if a.Mode.Reads() && a.Mode.Writes() {
		return 2 * bytes
	}
	return bytes
}

// transfer returns the demand of a copy: over the link into or out of the device (also for the
// memory of a peer), or within the device, where memory both reads and writes each byte.
func transfer(g *ir.Graph, c *ir.Copy) model.Demand {
	src, dst := g.Buffers[c.Src.Buffer].Place, g.Buffers[c.Dst.Buffer].Place
	switch {
	case src == dst && dst.Kind == ir.OnDevice:
		return moved(model.CopyOn, c.Dst, 2)
	case src.Kind != ir.OnDevice && dst.Kind == ir.OnDevice:
		return moved(model.CopyIn, c.Dst, 1)
	}
	return moved(model.CopyOut, c.Dst, 1)
}

// moved returns the demand of moving the bytes of a range a number of times.
func moved(kind model.DemandKind, r ir.Range, times float64) model.Demand {
	return transferred(kind, times*float64(max(0, r.Hi-r.Lo)))
}

// transferred returns the demand of moving a number of bytes. Zero bytes use no engine.
func transferred(kind model.DemandKind, bytes float64) model.Demand {
	if bytes == 0 {
		return model.Demand{Kind: model.Marker}
	}
	return model.Demand{Kind: kind, Bytes: bytes}
}
