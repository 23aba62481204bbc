package optimizer

import (
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/ir"
)

// CostModel says what an operation asks of the device. The optimizer knows no
// device beyond it.
type CostModel interface {
	Demand(g *ir.Graph, v ir.OpID) des.Demand
}

// DeclaredCosts is the cost model for programs that have not run yet: the
// declared cost of an operation that has one, otherwise an estimate from its
// shape alone. A copy or a kernel moves the bytes of its accesses at the speed
// of the profile's memory or host link, and a kernel fills as much of the device
// as its grid can. Instructions are not counted, so a kernel bound by arithmetic
// comes out too fast. Managed memory that the program sets before a replay comes to the
// device with what touches it first in program order. The model is for one goroutine,
// and for graphs that do not change.
func DeclaredCosts(p *des.Profile) CostModel { return &declaredCosts{profile: p} }

// ModelledCosts is DeclaredCosts but for what is declared, which it does not look at: an
// operation that runs nothing costs nothing.
func ModelledCosts(p *des.Profile) CostModel { return &declaredCosts{profile: p, undeclared: true} }

type declaredCosts struct {
	profile    *des.Profile
	undeclared bool
	graph      *ir.Graph // of moved
	moved      []float64 // bytes of managed memory, by operation
}

// guessedBlockCycles is how long a block takes that loads, computes a little and
// stores: two trips to DRAM and some change. An estimate, not measured.
const guessedBlockCycles = 1500

func (m *declaredCosts) Demand(g *ir.Graph, v ir.OpID) des.Demand {
	if m.graph != g {
		m.graph, m.moved = g, migrations(g, !m.profile.PageFaults())
	}
	op := &g.Ops[v]
	if op.Cost >= 0 && !m.undeclared {
		return des.Demand{Kind: des.Fixed, Duration: des.Time(min(op.Cost, unforeseeable)) * des.Nanosecond}
	}
	switch op.Kind {
	case ir.KindLaunch:
		return m.launch(op, m.moved[v])
	case ir.KindCopy:
		return transfer(g, op.Copy)
	case ir.KindMemset:
		return moved(des.CopyOn, op.Memset.Dst, 1)
	case ir.KindPrefetch:
		if op.Prefetch.ToDevice {
			return transferred(des.CopyIn, m.moved[v])
		}
		return transferred(des.CopyOut, m.moved[v])
	case ir.KindHost:
		return des.Demand{Kind: des.Host}
	}
	return des.Demand{Kind: des.Marker}
}

func (m *declaredCosts) launch(op *ir.Op, moved float64) des.Demand {
	l := op.Launch
	perSM := m.profile.Limits.Occupancy(int(l.Block.Count()), 0, int(l.Shared))
	d := des.Demand{
		Kind:        des.Kernel,
		Blocks:      float64(max(1, l.Grid.Count())),
		PerSM:       float64(max(1, perSM)),
		BlockCycles: guessedBlockCycles,
	}
	for _, a := range op.Uses {
		d.Bytes += traffic(a)
	}
	if m.profile.PageFaults() {
		d.Faulted = moved
	} else {
		d.Bulk = moved
	}
	return d
}

// traffic is the bytes an access moves if it touches its range once.
func traffic(a ir.Access) float64 {
	bytes := float64(max(0, a.Hi-a.Lo))
	if a.Mode.Reads() && a.Mode.Writes() {
		return 2 * bytes
	}
	return bytes
}

// transfer is a copy: over the link into or out of the device, a peer's bytes
// too, or within it, where memory sees each byte twice.
func transfer(g *ir.Graph, c *ir.Copy) des.Demand {
	src, dst := g.Buffers[c.Src.Buffer].Place, g.Buffers[c.Dst.Buffer].Place
	switch {
	case src == dst && dst.Kind == ir.OnDevice:
		return moved(des.CopyOn, c.Dst, 2)
	case src.Kind != ir.OnDevice && dst.Kind == ir.OnDevice:
		return moved(des.CopyIn, c.Dst, 1)
	}
	return moved(des.CopyOut, c.Dst, 1)
}

// moved is the demand of passing over a range so many times.
func moved(kind des.DemandKind, r ir.Range, times float64) des.Demand {
	return transferred(kind, times*float64(max(0, r.Hi-r.Lo)))
}

// transferred is the demand of so many bytes; none need no engine.
func transferred(kind des.DemandKind, bytes float64) des.Demand {
	if bytes == 0 {
		return des.Demand{Kind: des.Marker}
	}
	return des.Demand{Kind: kind, Bytes: bytes}
}
