package compare

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/sim"
)

func vec(t *testing.T) *bench.Workload {
	w, err := bench.LookupWorkload("vec")
	require.NoError(t, err)
	return w
}

// config compares vec at one size with fake programs. how selects their behaviour.
func config(t *testing.T, how string) Config {
	return Config{
		Open:       func() (device.Device, error) { return sim.New(sim.Options{}) },
		Workloads:  []*bench.Workload{vec(t)},
		Sizes:      []int{1000},
		Threads:    []int{0},
		Memory:     []bench.Memory{bench.Pinned},
		Strategies: []string{"serial", "nimble"},
		Backends:   graphexec.Backends(),
		Iterations: 4,
		Rounds:     1,
		Seed:       1,
		Programs:   fakes(t, how),
	}
}

func TestRowsAreRelatedToEachOther(t *testing.T) {
	c := config(t, "well")
	c.Rounds = 2
	all, err := Run(context.Background(), c)
	require.NoError(t, err)
	require.Len(t, all, 1)
	one := all[0]
	var names []string
	for _, r := range one.Rows {
		names = append(names, r.Name)
		assert.True(t, r.OK && r.Checked)
		assert.Equal(t, one.Rows[0].InputHash, r.InputHash)
		assert.Positive(t, r.ReplayUS)
		assert.Positive(t, r.DriverCalls)
		assert.InDelta(t, r.ReplayUS/125, r.RatioToGraph, 1e-12)
		assert.InDelta(t, r.ReplayUS/100, r.RatioToBest, 1e-12)
		assert.InDelta(t, 400/r.ReplayUS, r.SpeedupOverSync, 1e-12)
		assert.InDelta(t, one.Row("serial/graph").ReplayUS/r.ReplayUS, r.SpeedupOverSerial, 1e-12)
		assert.InDelta(t, one.BoundUS/r.ReplayUS, r.OfBound, 1e-12)
		assert.Equal(t, r.Language == "go", r.Overlap != nil)
	}
	assert.Equal(t, strings.Fields("serial/graph nimble/graph serial/streams nimble/streams"), names[:4])
	assert.Equal(t, "c++ sync,c++ async,c++ graph,c++ capture,c++ graph1", strings.Join(names[4:], ","))
	assert.Equal(t, "nimble/graph", one.Best)
	assert.Equal(t, "c++ capture", one.BestCPP)
	assert.InDelta(t, one.Row("nimble/graph").ReplayUS/100, one.Ratio, 1e-12)
	assert.Nil(t, one.Wrong())

	serial, parallel := one.Row("serial/graph"), one.Row("nimble/graph")
	assert.Zero(t, *serial.Overlap, "one operation after the other")
	assert.Positive(t, parallel.Overlap.TC, "a copy beside a kernel")
	assert.Positive(t, one.BoundUS)
	for _, r := range one.Rows[:4] {
		assert.Less(t, r.OfBound, 1.0, r.Name)
	}
}

func TestWhatWasNotTheSameWorkIsNotCompared(t *testing.T) {
	for how, want := range map[string]string{
		"hash":      "not the same work: the C++ version graph has input_hash 0000000000000001 instead of",
		"blocks":    "not the same work: the C++ version graph has blocks 1057 instead of 1056",
		"stale":     "the C++ program contains other kernels than this program: build both from the same files with `make build baseline`",
		"device":    "not the same work: the C++ version graph has device_name another instead of",
		"unchecked": "not the same work: the C++ version graph has checked false instead of true",
		"fewer":     "not the same work: the C++ version graph has iterations 3 instead of 4",
		"shorter":   "not the same work: the C++ version graph has burst 7 instead of 8",
		"short":     "the C++ program did not run its version graph, capture, graph1",
		"twice":     "the C++ program ran its version sync twice",
		"driver":    "vec: exit status 1: some warning; cuGraphLaunch answers CUDA_ERROR_LAUNCH_FAILED (719)",
		"crash":     "vec: signal: killed",
		"babble":    "vec: record 3: invalid character 'r'",
		"schema":    `vec: record 3: json: unknown field "replay_ms"`,
		"silent":    "vec printed no record",
	} {
		t.Run(how, func(t *testing.T) {
			c := config(t, how)
			if how == "shorter" {
				c.Burst = 8
			}
			all, err := Run(context.Background(), c)
			assert.Empty(t, all)
			require.ErrorContains(t, err, "vec at 1000, pinned: ")
			assert.ErrorContains(t, err, want)
		})
	}
}

func TestAWrongResultInCPPIsARow(t *testing.T) {
	all, err := Run(context.Background(), config(t, "wrong"))
	require.NoError(t, err)
	require.Len(t, all, 1)
	wrong := all[0].Wrong()
	require.NotNil(t, wrong)
	assert.Equal(t, "c++ graph", wrong.Name)
	assert.Equal(t, "res = 1, want 2", wrong.Error)
	var text strings.Builder
	require.NoError(t, WriteTables(&text, all))
	assert.Contains(t, text.String(), "WRONG")
}

// TestAnInterruptKeepsWhatIsDone interrupts a program that never ends. The program must end, and the comparisons
// before it are kept.
func TestAnInterruptKeepsWhatIsDone(t *testing.T) {
	c := config(t, "well")
	c.Sizes = []int{1000, 2000}
	ctx, cancel := context.WithCancel(context.Background())
	c.Progress = func(what string, _, _ int) {
		if what == "vec 1000 c++ graph1, pinned, 32 threads" { // the last of the first comparison
			c.Programs.Env[0] = behaviour + "=hang"
		}
		if what == "vec 2000 c++ async, pinned, 32 threads" { // the last before it hangs
			cancel()
		}
	}
	start := time.Now()
	all, err := Run(ctx, c)
	assert.ErrorIs(t, err, context.Canceled)
	assert.Less(t, time.Since(start), 30*time.Second)
	require.Len(t, all, 1)
	assert.Equal(t, 1000, all[0].Size)
}

func TestProgressCountsUpToTheTotal(t *testing.T) {
	c := config(t, "well")
	c.Sizes, c.Rounds = []int{100, 200}, 2
	last, total := 0, 0
	c.Progress = func(_ string, done, of int) {
		assert.Greater(t, done, last)
		last, total = done, of
	}
	_, err := Run(context.Background(), c)
	require.NoError(t, err)
	assert.Equal(t, 2*2*(4+5)*4, total)
	assert.Equal(t, total, last)
}

func TestWhatIsMissingIsNamedWithItsTarget(t *testing.T) {
	c := config(t, "well")
	c.Programs = Programs{Dir: "nowhere", Library: "nowhere/sim.so"}
	_, err := Run(context.Background(), c)
	assert.EqualError(t, err, "there is no nowhere/sim.so: `make libcudasim` builds it")
	c.Programs.Library = ""
	_, err = Run(context.Background(), c)
	assert.EqualError(t, err, "there is no nowhere/vec: `make baseline` builds it")
}

// TestANanosecondDoesNotNameTheBest compares versions with the same schedule, whose times may differ by a nanosecond.
func TestANanosecondDoesNotNameTheBest(t *testing.T) {
	for capture, want := range map[float64]string{174.594: "c++ graph", 174.593: "c++ capture"} {
		c := Comparison{}
		for name, us := range map[string]float64{"nimble/graph": 174.594, "c++ graph": 174.595, "c++ capture": capture} {
			r := Row{Name: name}
			r.Language, r.ReplayUS, r.OK = "go", us, true
			if strings.HasPrefix(name, "c++") {
				r.Language = "c++"
			}
			c.Rows = append(c.Rows, r)
		}
		slices.SortFunc(c.Rows, func(a, b Row) int { return -strings.Compare(a.Name, b.Name) })
		c.relate()
		assert.Equal(t, "nimble/graph", c.Best)
		assert.Equal(t, want, c.BestCPP)
		assert.InDelta(t, 174.594/capture, c.Ratio, 1e-12, "of the least time")
	}
}

func TestMergeTakesMedians(t *testing.T) {
	round := func(us float64, ok bool, complaint string) []bench.Record {
		return []bench.Record{{Language: "go", ReplayUS: us, MinUS: us - 1, MaxUS: us + 1, EventUS: us / 2, OK: ok, Error: complaint, Checked: true}}
	}
	got, err := merge([][]bench.Record{round(30, true, ""), round(10, false, "first"), round(20, false, "second")})
	require.NoError(t, err)
	assert.Equal(t, []bench.Record{{Language: "go", ReplayUS: 20, MinUS: 9, MaxUS: 31, EventUS: 10, OK: false, Error: "first", Checked: true}}, got)
	_, err = merge([][]bench.Record{round(1, true, ""), {{Language: "c++"}}})
	assert.EqualError(t, err, "round 2 measured other versions than the first")
}

func TestMeans(t *testing.T) {
	one := func(workload string, fast, slow float64) Comparison {
		c := Comparison{Workload: workload, Memory: "pinned", BoundUS: fast / 2}
		for name, us := range map[string]float64{"serial/graph": slow, "nimble/graph": fast} {
			r := Row{Name: name}
			r.Language, r.ReplayUS, r.OK = "go", us, true
			c.Rows = append(c.Rows, r)
		}
		slices.SortFunc(c.Rows, func(a, b Row) int { return -strings.Compare(a.Name, b.Name) })
		c.relate()
		return c
	}
	// Speedups 2 and 8 of one workload, 9 of the other: sqrt(sqrt(2 * 8) * 9) = 6.
	means := Means([]Comparison{one("vec", 1, 2), one("vec", 1, 8), one("img", 2, 18)})
	require.Len(t, means, 3)
	assert.Equal(t, "serial/graph", means[0].Name)
	assert.InDelta(t, 1, means[0].SpeedupOverSerial, 1e-12)
	assert.Equal(t, "nimble/graph", means[1].Name)
	assert.InDelta(t, 6, means[1].SpeedupOverSerial, 1e-12)
	assert.InDelta(t, 0.5, means[1].OfBound, 1e-12)
	assert.Zero(t, means[1].RatioToGraph, "there is no C++ side")
	assert.Equal(t, Mean{Memory: "pinned", Name: BestGo, Workloads: 2, SpeedupOverSerial: means[1].SpeedupOverSerial, OfBound: means[1].OfBound}, means[2])
	assert.Zero(t, GeometricMean(nil))
	assert.False(t, math.IsNaN(GeometricMean([]float64{0, 4})))
}
