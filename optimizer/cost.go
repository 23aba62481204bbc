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
// comes out too fast.
func DeclaredCosts(p *des.Profile) CostModel { return declaredCosts{p} }

type declaredCosts struct{ profile *des.Profile }

// guessedBlockCycles is how long a block takes that does nothing but load,
// compute a little and store: two trips to DRAM of about 600 cycles each, which
// is what microbenchmarks of recent devices show, and some change.
const guessedBlockCycles = 1500

func (m declaredCosts) Demand(g *ir.Graph, v ir.OpID) des.Demand {
	op := &g.Ops[v]
	if op.Cost >= 0 {
		return des.Demand{Kind: des.Fixed, Duration: des.Time(op.Cost) * des.Nanosecond}
	}
	switch op.Kind {
	case ir.KindLaunch:
		return m.launch(op)
	case ir.KindCopy:
		return m.transfer(g.Buffers[op.Copy.Src.Buffer].Place, g.Buffers[op.Copy.Dst.Buffer].Place, op.Copy.Dst)
	case ir.KindMemset:
		place := g.Buffers[op.Memset.Dst.Buffer].Place
		return m.transfer(place, place, op.Memset.Dst)
	case ir.KindHost:
		return des.Demand{Kind: des.Host}
	}
	return des.Demand{Kind: des.Marker}
}

func (m declaredCosts) launch(op *ir.Op) des.Demand {
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

// transfer is a copy between two places, or a fill when they are the same.
func (m declaredCosts) transfer(src, dst ir.Place, r ir.Range) des.Demand {
	bytes := float64(r.Hi - r.Lo)
	switch from, to := src.Kind == ir.OnDevice, dst.Kind == ir.OnDevice; {
	case !from && to:
		return des.Demand{Kind: des.CopyIn, Bytes: bytes}
	case from && !to, from && to && src.Device != dst.Device: // a peer's bytes leave over the link too
		return des.Demand{Kind: des.CopyOut, Bytes: bytes}
	case from && to:
		return des.Demand{Kind: des.CopyOn, Bytes: bytes}
	}
	return des.Demand{Kind: des.Host, Duration: des.Time(bytes / m.profile.LinkGBps * 1e3)}
}
