package launches_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/bench/scale/programs"
	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/ranks/launches"
	"github.com/reprise-gpu/reprise/tracer"
)

// In each segment of the wave equation's repeated rounds, what other ranks need is in the urgent graph, and the interior is not,
// so that it runs beside the messages. It waits for no graph of its segment.
func TestMessagesRunBesideTheInterior(t *testing.T) {
	for _, size := range [][2]int{{4, 1}, {2, 2}} {
		plan := waveOn(t, size[0], size[1])
		for rank := range size[0] {
			t.Run(fmt.Sprintf("rank %d of %v", rank, size), func(t *testing.T) {
				l := launches.Of(plan, int32(rank*size[1]), size[1])
				urgent, rest := nodes(plan, l, launches.Urgent), nodes(plan, l, launches.Rest)
				for r := plan.Repeat; r < len(plan.Rounds); r++ {
					for i, op := range plan.Rounds[r].Ops {
						at := distribute.Wait{Round: int32(r), Op: int32(i)}
						if !urgent[at] && !rest[at] {
							continue // of another rank
						}
						switch {
						case op.Kind == distribute.Out:
							assert.True(t, urgent[at], "#%d", i)
							for _, w := range op.Waits {
								assert.True(t, int(w.Round) < plan.Repeat || urgent[w], "#%d waits for #%d, which is not urgent", i, w.Op)
							}
						case op.Kind == distribute.Run && plan.Lane(&op) == distribute.Compute:
							assert.True(t, rest[at], "#%d", i)
						}
					}
				}
				require.Len(t, l.Bridges, len(plan.Rounds)-plan.Repeat)
				for _, s := range l.Bridges {
					assert.False(t, s.RestLater)
					assert.GreaterOrEqual(t, s.Exchange, 0)
				}
			})
		}
	}
}

// waveOn returns the plan of the wave equation for a machine.
func waveOn(t *testing.T, ranks, devices int) *distribute.Plan {
	p, err := programs.Parse("wave:512")
	require.NoError(t, err)
	tr := tracer.New(null.New(), "wave", tracer.Deferred)
	p.Record(tr)
	trace, err := tr.Finish()
	require.NoError(t, err)
	m, err := machine.Uniform(ranks, devices, "h200")
	require.NoError(t, err)
	plan, err := distribute.New(trace.Graph, distribute.LayoutOf(m), distribute.Options{Overlap: distribute.OverlapAll})
	require.NoError(t, err)
	return plan
}

// nodes returns the operations of the repeated rounds that are in graphs of a stream.
func nodes(p *distribute.Plan, l *launches.Launches, stream int) map[distribute.Wait]bool {
	in := map[distribute.Wait]bool{}
	for _, segments := range l.Rounds[p.Repeat:] {
		for i := range segments {
			for _, n := range segments[i].Graphs[stream].Nodes {
				in[n.At] = true
			}
		}
	}
	return in
}
