package strategies

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/costmodel"
	"github.com/reprise-gpu/reprise/internal/plansize"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// diamond is a diamond with branches of 1 ms. Concurrent branches save one of them, at the cost of one wait and of two
// nodes that do not continue a chain.
const diamond = `graph diamond {
  %0 = empty cost(1ms)
  %1 = empty after(%0) cost(1ms)
  %2 = empty after(%0) cost(1ms)
  %3 = empty after(%0, %1, %2) cost(1ms)
}`

func TestCompare(t *testing.T) {
	f, err := ir.Parse("diamond.rir", diamond)
	require.NoError(t, err)
	p := profiles.All()[0]
	c, err := Compare(context.Background(), f.Graph, optimizer.Options{Custom: p}, []string{"serial", "nimble", "nonesuch"})
	require.NoError(t, err)
	assert.Equal(t, 4, c.Ops)
	assert.Equal(t, 5, c.Edges)
	assert.Equal(t, 4, c.ReducedEdges, "the edge past the branches is implied")
	launch := float64(p.Host.GraphLaunch+p.SubmitLatency+4*p.Host.GraphNode+2*p.GraphEdgeGap) / float64(model.Microsecond)
	branch := float64(p.Host.GraphBranch) / float64(model.Microsecond)
	assert.InDelta(t, 3000+launch+branch, c.BoundUS, 0.001, "four milliseconds in three take two chains")

	serial, nimble, none := c.Rows[0], c.Rows[1], c.Rows[2]
	assert.Equal(t, [3]int{1, 0, 0}, [3]int{serial.Lanes, serial.Waits, serial.Records})
	assert.Equal(t, [3]int{2, 2, 2}, [3]int{nimble.Lanes, nimble.Waits, nimble.Records})
	gap := float64(p.GraphEdgeGap) / float64(model.Microsecond)
	assert.InDelta(t, 4000+launch+gap, serial.PredictedUS, 0.001)
	assert.InDelta(t, 3000+launch+3*branch, nimble.PredictedUS, 0.001)
	assert.InDelta(t, nimble.PredictedUS/c.BoundUS, nimble.OverBound, 1e-9)
	assert.Positive(t, nimble.PlanningMS)
	assert.Contains(t, none.Error, `unknown strategy "nonesuch"`)

	stopped, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Compare(stopped, f.Graph, optimizer.Options{Custom: p}, []string{"serial"})
	assert.ErrorIs(t, err, context.Canceled)
}

// TestCompareWithOptions expects the given costs and optional passes in all rows and in the bound.
func TestCompareWithOptions(t *testing.T) {
	f, err := ir.Parse("relay.rir", relay)
	require.NoError(t, err)
	p := profiles.All()[0]
	opts := optimizer.Options{Custom: p, Also: []string{"dce"}}
	c, err := Compare(context.Background(), f.Graph, opts, []string{"serial", "nimble"})
	require.NoError(t, err)
	assert.Equal(t, 2, c.Ops, "no operation reads c")
	assert.Equal(t, 1, c.Rows[1].Lanes)

	f, err = ir.Parse("diamond.rir", diamond)
	require.NoError(t, err)
	opts = optimizer.Options{Custom: p, Costs: costmodel.Modelled(p)}
	c, err = Compare(context.Background(), f.Graph, opts, []string{"serial"})
	require.NoError(t, err)
	assert.Less(t, c.BoundUS, 1000.0, "an empty operation takes no time by the model, whatever it declares")
	assert.Less(t, c.Rows[0].PredictedUS, 1000.0)
	assert.GreaterOrEqual(t, c.Rows[0].OverBound, 1.0)
}

// relay has three buffers. On one lane, a is dead when c is written; on several lanes all three are alive at once.
const relay = `graph relay {
  buffer @a u8[1000000] device(0) temporary
  buffer @b u8[1000000] device(0) temporary
  buffer @c u8[1000000] device(0) temporary
  buffer @out u8[1000000] device(0) output
  %0 = memset @a u8=1
  %1 = copy @a -> @out
  %2 = memset @b u8=2
  %3 = copy @b -> @c
}`

func TestCompareMemory(t *testing.T) {
	f, err := ir.Parse("relay.rir", relay)
	require.NoError(t, err)
	c, err := Compare(context.Background(), f.Graph, optimizer.Options{Custom: profiles.All()[0]}, []string{"serial", "nimble"})
	require.NoError(t, err)
	const mb = 1000192 // with what aligns the next
	assert.Equal(t, plansize.Memory{Before: 4 * mb, After: 3 * mb, Bound: 3 * mb}, c.Rows[0].Memory)
	assert.Equal(t, plansize.Memory{Before: 4 * mb, After: 4 * mb, Bound: 4 * mb}, c.Rows[1].Memory)
	for i := range c.Rows {
		c.Rows[i].PlanningMS = 0
	}
	c.Rows = append(c.Rows, Row{Strategy: "exact", Error: "too large"})
	var b strings.Builder
	require.NoError(t, WriteTable(&b, []*Comparison{c}))
	head, table, _ := strings.Cut(b.String(), "\n")
	assert.Contains(t, head, "; 4.00 MB of buffers")
	assert.Regexp(t, `(?s)^  strategy .* to bound  memory MB  least MB  planning ms
.* serial .*x       3.00      3.00         0.00
.* nimble .*x       4.00      4.00         0.00
.*  exact .*          -         -            -
exact: too large
$`, table)
}

// two returns two comparisons with made-up times.
func two() []*Comparison {
	return []*Comparison{
		{Graph: "a", Device: "h200", Ops: 3, Edges: 3, ReducedEdges: 2, BoundUS: 10, Rows: []Row{
			{Strategy: "serial", Lanes: 1, PredictedUS: 20, OverBound: 2, PlanningMS: 0.5},
			{Strategy: "exact", Error: "too large"},
			{Strategy: "nimble", Lanes: 2, Waits: 3, Records: 2, PredictedUS: 10, OverBound: 1, PlanningMS: 1},
		}},
		{Graph: "b", Device: "h200", BoundUS: 10, Rows: []Row{
			{Strategy: "serial", PredictedUS: 80, OverBound: 8},
			{Strategy: "exact", Error: "too large"},
			{Strategy: "nimble", PredictedUS: 80, OverBound: 8},
		}},
	}
}

// TestGraphsWithoutOperationsHaveNoBound plans an empty graph, which must not affect the standings of strategies.
func TestGraphsWithoutOperationsHaveNoBound(t *testing.T) {
	c, err := Compare(context.Background(), &ir.Graph{Name: "empty"}, optimizer.Options{Custom: profiles.All()[0]}, []string{"serial", "auto"})
	require.NoError(t, err)
	assert.Zero(t, c.BoundUS)
	assert.Zero(t, c.Rows[0].OverBound)
	got := Standings(append(two(), c))
	assert.Equal(t, 3, got[0].Graphs)
	assert.InDelta(t, 4, got[0].OverBound, 1e-9)
}

func TestStandings(t *testing.T) {
	got := Standings(two())
	assert.InDelta(t, math.Sqrt(8), got[2].OverBound, 1e-9)
	got[2].OverBound = 0
	assert.InDelta(t, 4, got[0].OverBound, 1e-9)
	got[0].OverBound = 0
	assert.Equal(t, []Standing{
		{Strategy: "serial", Graphs: 2, Fastest: 1},
		{Strategy: "exact"},
		{Strategy: "nimble", Graphs: 2, Fastest: 2},
	}, got)
}

func TestTable(t *testing.T) {
	var b strings.Builder
	require.NoError(t, WriteTable(&b, two()))
	assert.Equal(t, strings.TrimPrefix(`
a: 3 operations, 3 edges, 2 not implied; bound 10.00 us on h200
  strategy  lanes  waits  records  predicted us  to bound  planning ms
    serial      1      0        0         20.00    2.000x         0.50
     exact      -      -        -             -         -            -
    nimble      2      3        2         10.00    1.000x         1.00
exact: too large

b: 0 operations, 0 edges, 0 not implied; bound 10.00 us on h200
  strategy  lanes  waits  records  predicted us  to bound  planning ms
    serial      0      0        0         80.00    8.000x         0.00
     exact      -      -        -             -         -            -
    nimble      0      0        0         80.00    8.000x         0.00
exact: too large

over 2 graphs
  strategy  graphs  fastest on  to bound, mean
    serial       2           1          4.000x
     exact       0           0               -
    nimble       2           2          2.828x
`, "\n"), b.String())
}
