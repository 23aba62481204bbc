package optimizer

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/ir"
)

// wandering is a random program over managed memory: launches that touch ranges, prefetches
// either way.
func wandering(r *rand.Rand) *ir.Graph {
	g := &ir.Graph{}
	for range 1 + r.IntN(3) {
		g.Buffers = append(g.Buffers, ir.Buffer{
			Elem: ir.U8, Len: r.Int64N(12*pageBytes + 1), Place: ir.Place{Kind: ir.Managed}, Role: ir.Role(r.IntN(5)),
		})
	}
	part := func() ir.Range {
		b := r.IntN(len(g.Buffers))
		n := g.Buffers[b].Len
		lo := r.Int64N(n + 1)
		return ir.Range{Buffer: ir.BufferID(b), Lo: lo, Hi: lo + r.Int64N(n-lo+1)}
	}
	for range r.IntN(12) {
		op := ir.Op{Kind: ir.KindLaunch, Cost: -1, Launch: &ir.Launch{}}
		for range r.IntN(4) {
			op.Uses = append(op.Uses, ir.Access{Range: part(), Mode: ir.Mode(r.IntN(3))})
		}
		if r.IntN(3) == 0 {
			op = ir.Op{Kind: ir.KindPrefetch, Cost: -1, Prefetch: &ir.Prefetch{Range: part(), ToDevice: r.IntN(2) == 0}}
		}
		g.Ops = append(g.Ops, op)
	}
	return g
}

// Against where each page is, one by one.
func TestMigrationsMovePages(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for round := range 3000 {
		g, whole := wandering(r), round%2 == 0
		onHost := map[[2]int64]bool{} // buffer, page
		move := func(rg ir.Range, toHost bool) (bytes float64) {
			size := g.Buffers[rg.Buffer].Len
			for page := int64(0); page*pageBytes < size; page++ {
				lo, hi := page*pageBytes, min(size, (page+1)*pageBytes)
				key := [2]int64{int64(rg.Buffer), page}
				if touched := max(lo, rg.Lo) < min(hi, rg.Hi); touched && onHost[key] != toHost {
					onHost[key] = toHost
					bytes += float64(hi - lo)
				}
			}
			return bytes
		}
		all := func(b ir.BufferID) ir.Range { return ir.Range{Buffer: b, Hi: g.Buffers[b].Len} }
		for i, b := range g.Buffers {
			if b.Role == ir.Input || b.Role == ir.InOut {
				move(all(ir.BufferID(i)), true)
			}
		}
		got := migrations(g, whole)
		for v, op := range g.Ops {
			want := 0.0
			if p := op.Prefetch; p != nil {
				want = move(p.Range, !p.ToDevice)
			}
			for _, a := range op.Uses {
				if whole && !a.Range.Empty() {
					a.Range = all(a.Range.Buffer)
				}
				want += move(a.Range, false)
			}
			require.InDelta(t, want, got[v], 0, "round %d: %v", round, ir.OpID(v))
		}
	}
}

// Of two kernels that read one array the second finds it there, whichever device it is;
// before compute capability 6.0 the first has moved all of it.
func TestTheFirstKernelThatTouchesManagedMemoryMovesIt(t *testing.T) {
	const size = 4 * pageBytes
	g := &ir.Graph{Buffers: []ir.Buffer{{Elem: ir.U8, Len: size, Place: ir.Place{Kind: ir.Managed}, Role: ir.Input}}}
	for _, hi := range []int64{pageBytes + 1, size} {
		g.Ops = append(g.Ops, ir.Op{Kind: ir.KindLaunch, Cost: -1,
			Launch: &ir.Launch{Grid: ir.Dim3{X: 1, Y: 1, Z: 1}, Block: ir.Dim3{X: 32, Y: 1, Z: 1}},
			Uses:   []ir.Access{{Range: ir.Range{Hi: hi}, Mode: ir.Read}}})
	}
	for id, want := range map[string][2][2]float64{
		"h200":   {{2 * pageBytes, 0}, {2 * pageBytes, 0}},
		"gtx960": {{0, size}, {0, 0}},
	} {
		p, err := profiles.Lookup(id)
		require.NoError(t, err)
		costs := newDeclaredCosts(p)
		for v, want := range want {
			d := costs.Demand(g, ir.OpID(v))
			assert.Equal(t, want, [2]float64{d.Faulted, d.Bulk}, "%s: operation %d", id, v)
		}
	}
}
