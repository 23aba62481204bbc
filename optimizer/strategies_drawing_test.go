package optimizer

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/section"
	"github.com/reprise-gpu/reprise/ir"
)

// Extents of a drawing, in pixels.
const (
	perMicrosecond = 21.0
	laneHeight     = 34.0
	boxHeight      = 24.0
	leftMargin     = 58.0
	topMargin      = 30.0
	drawingWidth   = leftMargin + 31*perMicrosecond
)

// TestStrategiesAreDrawn compares the pictures of docs/strategies with the example of docs/STRATEGIES.md under each strategy.
// -rewrite draws them again.
func TestStrategiesAreDrawn(t *testing.T) {
	text, err := os.ReadFile("../docs/STRATEGIES.md")
	require.NoError(t, err)
	f, err := ir.Parse("STRATEGIES.md", fenced(t, string(text), "rir"))
	require.NoError(t, err)
	for _, s := range Strategies() {
		name, spec := s.Name, s.Name
		if name == "roundrobin" || name == "listsched" {
			spec = map[string]string{"roundrobin": "roundrobin(3)", "listsched": "listsched(2)"}[name]
		}
		drawing := drawTimes(t, spec, plan(t, f.Graph, spec).Schedule)
		section.CheckPage(t, "../docs/strategies/"+name+".svg", drawing)
		page, err := os.ReadFile("../docs/strategies/" + name + ".md")
		require.NoError(t, err)
		assert.Contains(t, string(page), "# `"+s.Usage+"`\n")
		assert.Contains(t, string(page), "]("+name+".svg)")
	}
}

// drawTimes draws when each operation of a schedule runs in a replay as a graph: a row for each lane, and an arrow for each
// wait. Operations have fixed costs, so that they begin their costs before their ends.
func drawTimes(t *testing.T, name string, s *ir.Schedule) string {
	f, err := (&Options{}).forecast(s.Graph)
	require.NoError(t, err)
	_, ends := f.asGraph(s)
	begins := make([]model.Time, len(ends))
	for v := range ends {
		begins[v] = ends[v] - model.Time(s.Graph.Ops[v].Cost)*model.Nanosecond
	}
	offset := slices.Min(begins) // the time until the first operation is the same for all strategies
	x := func(at model.Time) float64 {
		return leftMargin + float64(at-offset)/float64(model.Microsecond)*perMicrosecond
	}
	lanes := byLane(s)
	y := func(lane ir.LaneID) float64 { return topMargin + float64(lane)*laneHeight }
	height := topMargin + float64(len(lanes))*laneHeight + 8

	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" role="img" aria-label="%s: the lanes over time">
<style>
text { font: 12px system-ui, sans-serif; fill: #57606a }
.name { fill: #ffffff; text-anchor: middle; font-weight: 600 }
.op { fill: #1f6feb }
.lane { stroke: #8c959f; stroke-opacity: .35 }
.wait { stroke: #bc4c00; stroke-width: 1.5; fill: none; marker-end: url(#head) }
.head { fill: #bc4c00 }
@media (prefers-color-scheme: dark) { text { fill: #9198a1 } .op { fill: #4493f8 } .name { fill: #0d1117 } .wait { stroke: #f0883e } .head { fill: #f0883e } }
</style>
<defs><marker id="head" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" markerHeight="6" orient="auto"><path class="head" d="M0 0L6 3L0 6z"/></marker></defs>
`, drawingWidth, height, drawingWidth, height, name)
	for lane := range lanes {
		middle := y(ir.LaneID(lane)) + boxHeight/2
		fmt.Fprintf(&b, `<text x="4" y="%.1f">lane %d</text><path class="lane" d="M%.1f %.1fH%.1f"/>`+"\n", middle+4, lane, leftMargin, middle, drawingWidth-8)
	}
	last := slices.Max(ends)
	fmt.Fprintf(&b, `<text x="%.1f" y="16">0 us</text><text x="%.1f" y="16" text-anchor="end">%.1f us</text>`+"\n",
		leftMargin, x(last), float64(last-offset)/float64(model.Microsecond))
	for v := range ends {
		top, w := y(s.Lane[v]), x(ends[v])-x(begins[v])
		fmt.Fprintf(&b, `<rect class="op" x="%.1f" y="%.1f" width="%.1f" height="%.0f" rx="4"/><text class="name" x="%.1f" y="%.1f">%d</text>`+"\n",
			x(begins[v]), top, w, boxHeight, x(begins[v])+w/2, top+boxHeight/2+4, v)
	}
	for _, w := range waitsOf(s) {
		fromY, toY := y(s.Lane[w[0]])+boxHeight/2, y(s.Lane[w[1]])+boxHeight/2
		fmt.Fprintf(&b, `<path class="wait" d="M%.1f %.1fL%.1f %.1f"/>`+"\n", x(ends[w[0]]), fromY, x(begins[w[1]]), toY)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// waitsOf returns the pairs of operations that a wait orders, sorted.
func waitsOf(s *ir.Schedule) (pairs [][2]ir.OpID) {
	for v, waits := range s.Waits {
		for _, w := range waits {
			pairs = append(pairs, [2]ir.OpID{w, ir.OpID(v)})
		}
	}
	slices.SortFunc(pairs, func(a, b [2]ir.OpID) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	return pairs
}
