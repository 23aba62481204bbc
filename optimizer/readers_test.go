package optimizer

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/irtest"
	"github.com/reprise-gpu/reprise/ir"
)

// Dependencies are the same if unreachable links are removed before every operation.
func TestSweptReadersLoseNoDependency(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	removed := 0
	for round := range 200 {
		g := irtest.Random(r, 1+r.IntN(100))
		if round%4 == 0 {
			g = tiledTrace(r, 2+r.Int64N(80), 100+r.IntN(100))
		}
		want, err := newHazardScan(g).scan(g)
		require.NoError(t, err)
		s := newHazardScan(g)
		for v := range g.Ops {
			links := len(s.readers.links)
			s.readers.limit = 0
			require.NoError(t, s.op(ir.OpID(v), &g.Ops[v]))
			removed += max(0, links-len(s.readers.links))
		}
		require.Equal(t, want.Deps(), trimmed(s.past.deps), "round %d", round)
	}
	assert.Positive(t, removed)
}

// There are about as many links as live ones, however many reads a trace has.
func TestReadersAreBounded(t *testing.T) {
	g := &ir.Graph{Buffers: []ir.Buffer{{Name: "x", Elem: ir.U8, Len: 8}}}
	for i := range 4 * minSweep {
		mode := ir.Read
		if i%4 == 0 {
			mode = ir.Write
		}
		at := int64(i / 4 % 8)
		g.Ops = append(g.Ops, ir.Op{Kind: ir.KindHost, Uses: []ir.Access{{Range: ir.Range{Lo: at, Hi: at + 1}, Mode: mode}}})
	}
	s := newHazardScan(g)
	_, err := s.scan(g)
	require.NoError(t, err)
	assert.Less(t, len(s.readers.links), minSweep+64)
	assert.Less(t, cap(s.readers.links), 2*minSweep)
}
