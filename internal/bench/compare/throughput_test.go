package compare

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/bench"
)

func burstConfig(t *testing.T) Config {
	c := config(t, "well")
	c.Burst, c.Options = 8, [][]string{{"merge"}, {"unroll(4)", "rename(4)"}}
	return c
}

// TestBurstsAreRelatedToTheBestVersion expects both sides to submit the same number of replays, and throughputs
// relative to the C++ version that is best without memory for several replays. Latencies are of rows without options.
func TestBurstsAreRelatedToTheBestVersion(t *testing.T) {
	all, err := Run(context.Background(), burstConfig(t))
	require.NoError(t, err)
	c := &all[0]
	require.NotNil(t, c.Throughput)
	assert.Len(t, c.Rows, 4+5)
	var options []string
	for _, r := range c.Throughput.Options {
		options = append(options, r.Name)
	}
	unrolled := "nimble/graph unroll(4),rename(4)"
	assert.Equal(t, []string{"nimble/graph merge", unrolled, "c++ graph4"}, options)
	for _, r := range c.all() {
		assert.Equal(t, 8, r.Burst, r.Name)
		assert.Positive(t, r.BurstUS, r.Name)
		assert.InDelta(t, 90/r.BurstUS, r.Gain, 1e-12, r.Name)
		assert.Equal(t, r.Language == "go", r.BurstHash != "", r.Name)
	}
	assert.Equal(t, "c++ capture", c.Throughput.BestCPP)
	assert.Equal(t, "nimble/graph", c.Best)
	assert.Equal(t, "c++ capture", c.BestCPP)
	assert.Equal(t, 8, c.Throughput.Burst)
	best := c.find(c.Throughput.Best)
	assert.Equal(t, unrolled, best.Name)
	assert.InDelta(t, best.Gain, c.Throughput.Gain, 1e-12)
	assert.Equal(t, 4, best.Copies)
	assert.Greater(t, best.ReplayUS, c.find("nimble/graph").ReplayUS, "an iteration is four replays")
	assert.Positive(t, best.AddedBytes)

	var text strings.Builder
	require.NoError(t, WriteTables(&text, all))
	assert.Contains(t, text.String(), "8 replays of vec at 1000, submitted back to back:")
	assert.Contains(t, text.String(), unrolled+" has ")
	assert.Contains(t, text.String(), "c++ graph4 is 4 graphs with memory of their own, on streams of their own: it is not counted as the best C++ version")
	assert.Contains(t, text.String(), "geometric means of bursts")
}

// TestBurstsAreInPinnedMemory expects none in managed memory, which would stay on the device.
func TestBurstsAreInPinnedMemory(t *testing.T) {
	c := burstConfig(t)
	for memory, want := range map[bench.Memory]int{bench.Pinned: 8, bench.Prefetch: 0, bench.Managed: 0} {
		burst, options := c.burst(setting{workload: vec(t), memory: memory})
		assert.Equal(t, want, burst, memory)
		assert.Equal(t, want > 0, options != nil, memory)
		flags := strings.Join(c.Programs.flags(&c, setting{workload: vec(t), memory: memory}), " ")
		assert.Equal(t, want > 0, strings.Contains(flags, "--version all,graph4 --burst 8"), flags)
	}
	c.Burst = 0
	all, err := Run(context.Background(), c)
	require.NoError(t, err)
	assert.Nil(t, all[0].Throughput)
	assert.Nil(t, ThroughputMeans(all))
	for _, r := range all[0].Rows {
		assert.Zero(t, r.Burst)
	}
}

func TestProgressWithBurstsCountsUpToTheTotal(t *testing.T) {
	c := burstConfig(t)
	last, total := 0, 0
	c.Progress = func(_ string, done, of int) { last, total = done, of }
	_, err := Run(context.Background(), c)
	require.NoError(t, err)
	assert.Equal(t, (4+2+5)*4, total)
	assert.Equal(t, total, last)
}

func TestThroughputMeans(t *testing.T) {
	one := func(workload string, plain, unrolled, theirs float64) Comparison {
		c := Comparison{Workload: workload, Memory: "pinned", Throughput: &Throughput{}}
		row := func(language, name string, us float64, copies int) Row {
			r := Row{Name: name}
			r.Language, r.ReplayUS, r.BurstUS, r.Copies, r.Burst, r.OK = language, us*float64(max(1, copies)), us, copies, 8, true
			return r
		}
		c.Rows = []Row{row("go", "nimble/graph", plain, 0), row("c++", "c++ graph", theirs, 0)}
		c.Throughput.Options = []Row{row("go", "nimble/graph unroll(4)", unrolled, 4)}
		if workload != "hits" {
			c.Throughput.Options = append(c.Throughput.Options, row("c++", "c++ graph4", theirs/2, 4))
		}
		c.relate()
		c.relateBursts()
		return c
	}
	// The unrolled plan has 2 and 0.5 times the throughput, and the plain plan is the best where that is less.
	means := ThroughputMeans([]Comparison{one("vec", 10, 5, 10), one("hits", 8, 16, 8)})
	require.Len(t, means, 5)
	for i, want := range []ThroughputMean{
		{Name: "nimble/graph", Workloads: 2, Latency: 1, Gain: 1},
		{Name: "c++ graph", Workloads: 2, Latency: 1, Gain: 1},
		{Name: "nimble/graph unroll(4)", Workloads: 2, Latency: 4, Gain: 1},
		{Name: "c++ graph4", Workloads: 1, Latency: 2, Gain: 2},
		{Name: BestGo, Workloads: 2, Latency: 1.4142135623730951, Gain: 1.4142135623730951},
	} {
		assert.Equal(t, want.Name, means[i].Name)
		assert.Equal(t, want.Workloads, means[i].Workloads, want.Name)
		assert.InDelta(t, want.Latency, means[i].Latency, 1e-9, want.Name)
		assert.InDelta(t, want.Gain, means[i].Gain, 1e-9, want.Name)
	}
}
