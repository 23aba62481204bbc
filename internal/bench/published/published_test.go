package published

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/bench/compare"
)

// TestTheHeadlineFollowsFromTheFigures compares the mean over all devices in the paper's text, 44 % faster than serial
// execution, with the figures for each device.
func TestTheHeadlineFollowsFromTheFigures(t *testing.T) {
	product := 1.0
	for i, want := range []float64{1.25, 1.48, 1.65} {
		assert.InDelta(t, want, devices[i].speedup(), .005, devices[i].name)
		product *= devices[i].speedup()
	}
	assert.InDelta(t, 1.44, math.Cbrt(product), .02) // read off figures, to a percent
}

// TestTimesGiveTheSpeedups compares times and speedups, which come from different figures of the paper. B&S and ML on
// the P100 are left out: they disagree in the paper, whose figures combine two series of measurements.
func TestTimesGiveTheSpeedups(t *testing.T) {
	for _, d := range devices {
		for _, b := range d.benchmarks {
			require.Len(t, b.parallel, len(b.serial), "%s on %s", b.workload, d.name)
			if d.name == "p100" && b.workload == "ml" {
				continue
			}
			var all []float64
			for i := range b.serial {
				all = append(all, b.serial[i]/b.parallel[i])
			}
			assert.InEpsilon(t, b.speedup, compare.GeometricMean(all), .08, "%s on %s", b.workload, d.name)
		}
	}
}

// comparison returns a comparison of vec with the rows that the tables use.
func comparison(size, threads int, mode string, sync, ours float64) compare.Comparison {
	return compare.Comparison{
		Workload: "vec", Size: size, Threads: threads, Memory: mode, Device: "sim:gtx1660s", Simulated: true, Sample: 4,
		Best: "nimble/graph", BestCPP: "c++ graph", Ratio: 1.001,
		Rows: []compare.Row{
			{Name: "nimble/graph", OfBound: .5, SpeedupOverSync: sync / ours, Record: bench.Record{ReplayUS: ours}},
			{Name: "c++ sync", Record: bench.Record{ReplayUS: sync}},
		},
	}
}

// TestTablesGoByTheDefinitions has two block sizes, 2 and 8 times as fast as without prefetches: the geometric mean
// is 4.
func TestTablesGoByTheDefinitions(t *testing.T) {
	var text strings.Builder
	require.NoError(t, Write(&text, []compare.Comparison{
		comparison(20_000_000, 32, "managed", 40_000, 40_000),
		comparison(20_000_000, 32, "prefetch", 30_000, 20_000),
		comparison(20_000_000, 128, "managed", 80_000, 40_000),
		comparison(20_000_000, 128, "prefetch", 15_000, 10_000),
	}))
	assert.Contains(t, text.String(), "| VEC | 2.36 | 4.00 | **+69 %** | 1.50 | 1.41 | 1.0010 |")
	assert.Contains(t, text.String(), "| VEC | 20000000 | 33 | 60 | **+82 %** | 14 | 15 | +7 % |")
	assert.Contains(t, text.String(), "| VEC | 51 | - | - | 0.55 | 0.50 | 34.0 | - |")
	assert.Contains(t, text.String(), "4 blocks of each launch run")
	assert.NotContains(t, text.String(), "geometric mean |", "five are lacking")
}

// TestTablesGoBySize expects each size beside the published figure of the same size, regardless of other sizes. A
// size that was not published is left out.
func TestTablesGoBySize(t *testing.T) {
	var text strings.Builder
	require.NoError(t, Write(&text, []compare.Comparison{
		comparison(4096, 32, "managed", 40, 20),
		comparison(120_000_000, 32, "managed", 442_000, 180_000),
		comparison(60_000_000, 32, "managed", 1, 1),
	}))
	assert.Contains(t, text.String(), "| VEC | 120000000 | 221 | 442 | **+100 %** | 90 | 180 | **+100 %** |")
	assert.NotContains(t, text.String(), "| VEC | 4096")
	assert.NotContains(t, text.String(), "| VEC | 60000000", "its time is in no figure")
	assert.EqualError(t, Write(&text, []compare.Comparison{comparison(4096, 32, "managed", 40, 20)}),
		"nothing is published of vec at 4096: there are figures at 20000000, 60000000, 80000000, 100000000, 120000000, 200000000, 500000000, 600000000, 700000000")
}

// TestFiguresHaveSizes expects figures of a device for the first, third, fifth, ... of the sizes that fit in its
// memory.
func TestFiguresHaveSizes(t *testing.T) {
	for _, d := range devices {
		for _, b := range d.benchmarks {
			assert.IsIncreasing(t, sizes[b.workload])
			assert.LessOrEqual(t, 2*len(b.serial)-1, len(sizes[b.workload]), "%s on %s", b.workload, d.name)
		}
	}
}

// TestTablesOfLess expects a dash, not a zero, for figures that were not compared.
func TestTablesOfLess(t *testing.T) {
	var text strings.Builder
	require.NoError(t, Write(&text, []compare.Comparison{comparison(20_000_000, 32, "prefetch", 30_000, 20_000)}))
	assert.Contains(t, text.String(), "| VEC | 2.36 | - | - | 1.50 | - | 1.0010 |")
	assert.Contains(t, text.String(), "| VEC | 20000000 | 33 | - | - | 14 | 20 | **+43 %** |")
}

func TestOnlyPublishedDevices(t *testing.T) {
	assert.NoError(t, Covers("sim:p100"))
	assert.EqualError(t, Covers("sim:p10"), "nothing is published of sim:p10: there are figures of sim:gtx960, sim:gtx1660s, sim:p100")
	assert.Error(t, Write(&strings.Builder{}, []compare.Comparison{{Device: "gpu0"}}))
	assert.NoError(t, Write(&strings.Builder{}, nil))
}
