package optimizer

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/dense/densetest"
	"github.com/reprise-gpu/reprise/ir"
)

// docs/STRATEGIES.md has one graph, and below it what each strategy makes of it. Both are fenced:
// the graph is planned, and what comes out must be what stands there.
func TestStrategiesDocument(t *testing.T) {
	text, err := os.ReadFile("../docs/STRATEGIES.md")
	require.NoError(t, err)
	f, err := ir.Parse("STRATEGIES.md", fenced(t, string(text), "rir"))
	require.NoError(t, err)
	var b strings.Builder
	for _, name := range []string{"serial", "roundrobin(3)", "levels", "grcuda", "grcuda(same-as-parent)", "nimble", "nimble(2)", "mincover", "coloring", "listsched(2)", "auto"} {
		drawLanes(&b, name, plan(t, f.Graph, name).Schedule)
	}
	assert.Equal(t, b.String(), fenced(t, string(text), "lanes"))
	for _, s := range Strategies() {
		assert.Contains(t, string(text), "[`"+s.Usage+"`](strategies/"+s.Name+".md)")
	}
}

// fenced is the first block of that kind.
func fenced(t *testing.T, text, kind string) string {
	_, rest, ok := strings.Cut(text, "```"+kind+"\n")
	require.True(t, ok, "there is no block of %s", kind)
	block, _, _ := strings.Cut(rest, "```")
	return block
}

// drawLanes prints a lane a line, an operation that waits for others with those in brackets.
func drawLanes(b *strings.Builder, name string, s *ir.Schedule) {
	fmt.Fprintf(b, "%s: %d waits, %.1f us\n", name, s.Syncs(), float64(s.Predicted)/1000)
	for _, lane := range byLane(s) {
		for _, v := range lane {
			fmt.Fprintf(b, "  %d", v)
			if len(s.Waits[v]) > 0 {
				fmt.Fprintf(b, "%d", s.Waits[v])
			}
		}
		b.WriteString("\n")
	}
}

// What the table says of lanes, concurrency and waits, on random graphs, before fold gives up
// concurrency that does not pay. Of the final plan the same holds for lanes and waits, which are
// then never more: see TestFinalPlansKeepTheirPromises.
func TestStrategiesKeepTheirGuarantees(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 61))
	for round := range densetest.Rounds(1000) {
		n := 1 + r.IntN(12)
		g := graphOf(t, "random", n, densetest.RandomEdges(r, n, r.IntN(2*n), 1+r.IntN(n)))
		reduced := plan(t, g, "serial").Reduced
		var edges []edge
		for _, d := range reduced.Deps() {
			edges = append(edges, edge{int32(d.From), int32(d.To)})
		}
		reach, width := densetest.Closure(n, edges), largestAntichain(n, edges)
		matched := densetest.Matching(reduced.Len(), dagOf(reduced).Edges())
		for _, c := range []struct {
			name       string
			concurrent bool // no two that may run at the same time share a lane
			lanes      int  // at most
			waits      func(lanes int) int
		}{
			{"serial", false, 1, func(int) int { return 0 }},
			{"roundrobin(3)", false, 3, nil},
			{"levels(3)", false, 3, nil},
			{"grcuda", true, n, func(lanes int) int { return len(edges) - (n - lanes) }},
			{"grcuda(same-as-parent)", false, n, func(lanes int) int { return len(edges) - (n - lanes) }},
			{"nimble", true, n, func(int) int { return len(edges) - matched }},
			{"nimble(2)", false, 2, nil},
			{"mincover", true, width, nil},
			{"coloring", true, n, nil},
			{"coloring(rlf)", true, n, nil},
			{"coloring(exact)", true, width, nil},
			{"listsched(2)", false, 2, nil},
		} {
			res, err := Plan(g, Options{Strategy: c.name, Passes: []string{"hazards", "reduce", "assign", "syncs"}, Verify: true})
			require.NoError(t, err)
			s := res.Schedule
			require.LessOrEqual(t, s.Lanes, c.lanes, "round %d, %s", round, c.name)
			waits := len(edges)
			if c.waits != nil {
				waits = c.waits(s.Lanes)
			}
			require.LessOrEqual(t, s.Syncs(), waits, "round %d, %s", round, c.name)
			if c.concurrent {
				requireConcurrent(t, s, reach)
			}
		}
	}
}
