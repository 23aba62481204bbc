package timeline_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/timeline"
)

// predicted holds what the simulated device predicts of one replay.
type predicted struct {
	us, uncertainty float64 // of the replay; the uncertainty is relative
	idle            float64 // part of the replay in which no operation was served
	launches        int
}

func predict(t testing.TB, name, strategy string) predicted {
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, dev.Close()) })
	line := on(t, dev, workload(t, name)).record(strategy, graphexec.Graph)
	p := predicted{us: float64(line.Total) / 1e6, uncertainty: line.Uncertainty, launches: len(line.Spans)}
	p.idle = 1 - float64(served(line.Spans))/float64(line.Total)
	return p
}

// served is the time in which at least one operation was served.
func served(spans []timeline.Span) (sum int64) {
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b timeline.Span) int { return cmp.Compare(a.Begin, b.Begin) })
	end := int64(0)
	for _, s := range spans {
		sum += max(s.End, end) - max(s.Begin, end)
		end = max(end, s.End)
	}
	return sum
}

// BenchmarkPredicted reports the predicted time of a replay, its uncertainty, its idle part and its operations as metrics, for
// benchstat. They need no GPU, and are the same in every run, so that any difference is one of the code.
func BenchmarkPredicted(b *testing.B) {
	for _, name := range []string{"vec", "bs", "img", "ml", "hits", "dl"} {
		for _, strategy := range []string{"serial", "nimble"} {
			b.Run(name+"/"+strategy, func(b *testing.B) {
				var p predicted
				for b.Loop() {
					p = predict(b, name, strategy)
				}
				b.ReportMetric(p.us, "virtual-us/replay")
				b.ReportMetric(100*p.uncertainty, "uncertainty-%")
				b.ReportMetric(100*p.idle, "idle-%")
				b.ReportMetric(float64(p.launches), "operations/replay")
			})
		}
	}
}

// TestPredictionsRepeat compares the metrics of two runs, and those of a plan that overlaps with those of a serial one.
func TestPredictionsRepeat(t *testing.T) {
	serial, nimble := predict(t, "img", "serial"), predict(t, "img", "nimble")
	assert.Equal(t, nimble, predict(t, "img", "nimble"))
	assert.Less(t, nimble.us, serial.us)
	for _, p := range []predicted{serial, nimble} {
		assert.Positive(t, p.uncertainty)
		assert.Greater(t, p.idle, 0.0)
		assert.Less(t, p.idle, 1.0)
		assert.Equal(t, 13, p.launches)
	}
}
