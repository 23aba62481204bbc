package taskgraph

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// TestBoundedNimbleOnTaskGraphs expects that nimble(k) is never predicted to be slower than roundrobin(k), in either
// form, and that on average it stays within a tenth of the larger of Result.Bound and work/k.
func TestBoundedNimbleOnTaskGraphs(t *testing.T) {
	lanes := []int{2, 3, 4, 6, 8, 12, 16}
	if testing.Short() {
		lanes = []int{3, 8, 16}
	}
	for _, k := range lanes {
		ratios, graphs := 0.0, 0.0
		for i := range families {
			f := &families[i]
			for _, size := range []int{60, 250} {
				ratio := boundedRatio(t, f.Draw(size, 1).Empty(100*time.Microsecond), k, size == 250 && k == 8)
				ratios, graphs = ratios+math.Log(ratio), graphs+1
			}
		}
		mean := math.Exp(ratios / graphs)
		t.Logf("%d lanes: %.3f of the bound", k, mean)
		assert.Less(t, mean, 1.1, "%d lanes", k)
	}
}

// TestBoundedNimbleIsNearTheBoundOfEnergy examines the graphs on which nimble(k) exceeds Result.Bound and work/k by
// more than a tenth. There hardly any plan is better: nimble(k) is within a tenth of the tighter energy bound, except
// on Strassen's graph, on which a search of 60,000 steps finds nothing better than 1.07, 1.11 and 1.16 times that
// bound on 8, 12 and 16 lanes.
func TestBoundedNimbleIsNearTheBoundOfEnergy(t *testing.T) {
	lanes := []int{2, 3, 4, 6, 8, 12, 16}
	if testing.Short() {
		lanes = []int{3, 6}
	}
	judged := 0
	for _, k := range lanes {
		for i := range families {
			g := families[i].Draw(60, 1).Empty(100 * time.Microsecond)
			if boundedRatio(t, g, k, false) <= 1.1 {
				continue
			}
			judged++
			res, err := optimizer.Plan(g, optimizer.Options{Strategy: fmt.Sprintf("nimble(%d)", k)})
			require.NoError(t, err)
			most := 1.1
			if families[i].Name == "strassen" && k >= 8 {
				most = 1.18
			}
			e := newEnergy(res.Graph, k)
			assert.False(t, e.fits(int64(float64(res.Schedule.Predicted)/most)), "%s, %d lanes", g.Name, k)
			if g.Len() < 80 {
				require.True(t, e.fits(res.Schedule.Predicted), "%s, %d lanes: the bound is none", g.Name, k)
			}
		}
	}
	assert.Greater(t, judged, 5)
}

// TestBoundedNimbleOnAStencil has more tiles than lanes, concurrent from start to end. On this shape, assigning whole
// paths to lanes took six times as long as round-robin.
func TestBoundedNimbleOnAStencil(t *testing.T) {
	g := longStencil(60, 22)
	for _, k := range []int{2, 3, 4, 5, 7, 8, 11, 16} {
		assert.Less(t, boundedRatio(t, g, k, k == 8), 1.1, "%d lanes", k)
	}
}

// longStencil returns a stencil over a row of tiles. Each task depends on the previous step of its tile and of the
// neighbouring tiles, and takes 1 to 100 ms.
func longStencil(tiles, steps int) *ir.Graph {
	r := rand.New(rand.NewPCG(8, 8))
	g := &ir.Graph{Name: "stencil"}
	for v := range tiles * steps {
		op := ir.Op{Kind: ir.KindEmpty, Cost: 1_000_000 * (1 + r.Int64N(100))}
		if v >= tiles {
			at := v % tiles
			for n := max(0, at-1); n <= min(tiles-1, at+1); n++ {
				op.After = append(op.After, ir.OpID(v-tiles-at+n))
			}
		}
		g.Ops = append(g.Ops, op)
	}
	return g
}

// boundedRatio returns the predicted time of nimble(k) as a graph, divided by a lower bound on k lanes.
func boundedRatio(t *testing.T, g *ir.Graph, k int, alsoStreams bool) float64 {
	t.Helper()
	for _, streams := range []bool{false, true} {
		if streams && !alsoStreams {
			continue
		}
		nimble, roundRobin := planned(t, g, "nimble", k, streams), planned(t, g, "roundrobin", k, streams)
		require.LessOrEqual(t, nimble.Schedule.Predicted, roundRobin.Schedule.Predicted,
			"%s, %d lanes, streams %v", g.Name, k, streams)
	}
	res := planned(t, g, "nimble", k, false)
	require.LessOrEqual(t, res.Schedule.Lanes, k)
	work := int64(0)
	for i := range g.Ops {
		work += g.Ops[i].Cost
	}
	return float64(res.Schedule.Predicted) / math.Max(float64(res.Bound), float64(work)/float64(k))
}

func planned(t *testing.T, g *ir.Graph, family string, k int, streams bool) *optimizer.Result {
	t.Helper()
	res, err := optimizer.Plan(g, optimizer.Options{Strategy: fmt.Sprintf("%s(%d)", family, k), Streams: streams, Bound: true})
	require.NoError(t, err)
	return res
}
