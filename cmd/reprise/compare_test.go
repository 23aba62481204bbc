package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/bench/compare"
)

// compared is a comparison with one row on each side.
func compared(ours, theirs float64, ok bool) compare.Comparison {
	row := func(language, name string, us float64) compare.Row {
		return compare.Row{Name: name, Record: bench.Record{
			Workload: "vec", Size: 10, Memory: "pinned", Language: language, ReplayUS: us, OK: ok, Error: "res = 1, want 2",
		}}
	}
	return compare.Comparison{
		Workload: "vec", Size: 10, Memory: "pinned", Device: "sim:h200", Simulated: true, BoundUS: 1,
		Best: "nimble/graph", BestCPP: "c++ graph", Ratio: ours / theirs,
		Rows: []compare.Row{row("go", "nimble/graph", ours), row("c++", "c++ graph", theirs)},
	}
}

func TestCompareFailsByWhatItFinds(t *testing.T) {
	for _, c := range []struct {
		found    compare.Comparison
		maxRatio float64
		want     string
	}{
		{compared(10, 10, true), 0, ""},
		{compared(10, 10, true), 1, ""},
		{compared(174.596, 174.595, true), 1, ""}, // equal within the resolution of a nanosecond
		{compared(174.597, 174.595, true), 1, "vec at 10, pinned: nimble/graph takes 1.00001 times as long as c++ graph, and 1 is allowed"},
		{compared(11, 10, true), 0, ""},
		{compared(11, 10, true), 1.1, ""},
		{compared(11, 10, true), 1, "vec at 10, pinned: nimble/graph takes 1.1 times as long as c++ graph, and 1 is allowed"},
		{compared(11, 10, false), 0, "vec at 10, pinned, with nimble/graph is wrong: res = 1, want 2"},
	} {
		f := compareFlags{maxRatio: c.maxRatio}
		err := f.verdict([]compare.Comparison{compared(1, 10, true), c.found})
		if c.want == "" {
			assert.NoError(t, err)
			continue
		}
		assert.EqualError(t, err, c.want)
	}
}

// burstOf is a comparison whose best row in Go has a throughput relative to the best C++ version.
func burstOf(workload string, gain float64) compare.Comparison {
	c := compared(10, 10, true)
	c.Workload = workload
	for i := range c.Rows {
		c.Rows[i].Gain = []float64{gain, 1}[i]
	}
	c.Throughput = &compare.Throughput{Burst: 16, Best: "nimble/graph", BestCPP: "c++ graph", Gain: gain}
	return c
}

func TestCompareFailsByItsThroughput(t *testing.T) {
	all := []compare.Comparison{burstOf("vec", 1), burstOf("ml", 4)} // 2 in the geometric mean
	for least, want := range map[float64]string{
		0: "", 1.3: "", 2: "",
		2.1: "the best rows in Go have 2.000 times the throughput of the best C++ versions, the geometric mean of 2 workloads, and 2.1 is required",
	} {
		f := compareFlags{minGain: least}
		err := f.verdict(all)
		if want == "" {
			assert.NoError(t, err)
			continue
		}
		assert.EqualError(t, err, want)
	}
	f := compareFlags{minGain: 1.3}
	assert.EqualError(t, f.verdict([]compare.Comparison{compared(1, 1, true)}),
		"--min-throughput 1.3: no throughput was measured: use --memory pinned and a --burst")
}

func TestBurstFlags(t *testing.T) {
	for _, c := range []struct {
		flags compareFlags
		want  [][]string
		err   string
	}{
		{compareFlags{burst: 8, also: []string{"merge", "unroll(4),rename(2)"}}, [][]string{{"merge"}, {"unroll(4)", "rename(2)"}}, ""},
		{compareFlags{burst: 0, also: []string{"unroll(4)"}}, nil, ""},
		{compareFlags{burst: -1}, nil, "--burst -1: 1 or more, or 0 for none"},
		{compareFlags{burst: 6, also: []string{"unroll(4)"}}, nil, "--burst 6: no multiple of the 4 replays that --also 'unroll(4)' submits at once"},
		{compareFlags{burst: 4, also: []string{"unrol(4)"}}, nil, "unrol"},
		{compareFlags{burst: 4, also: []string{"rename(2)"}}, nil, "unroll"},
		{compareFlags{burst: 4, minGain: math.NaN()}, nil, "--min-throughput NaN: above 0, or 0 for none"},
	} {
		var config compare.Config
		err := c.flags.burstOf(&config)
		if c.err != "" {
			assert.ErrorContains(t, err, c.err)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, c.flags.burst, config.Burst)
		assert.Equal(t, c.want, config.Options)
	}
}

func TestAnInterruptedCompareKeepsWhatItMeasured(t *testing.T) {
	path, figures := filepath.Join(t.TempDir(), "compare.json"), filepath.Join(t.TempDir(), "figures")
	require.NoError(t, os.WriteFile(path, []byte("a whole run"), 0o600))
	f := compareFlags{json: path, plot: figures, maxRatio: 1}
	c := newCompare()
	var out bytes.Buffer
	c.SetOut(&out)
	err := f.report(c, []compare.Comparison{compared(11, 10, true)}, 3, fmt.Errorf("vec at 20: %w", context.Canceled))
	assert.EqualError(t, err, "interrupted after 1 of 3 comparisons; the results so far were written to "+path+".partial and "+figures+".partial")
	assert.NoDirExists(t, figures)
	assert.DirExists(t, figures+".partial")
	assert.Contains(t, out.String(), "virtual time")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "a whole run", string(whole))
	data, err := os.ReadFile(path + ".partial")
	require.NoError(t, err)
	var got comparisons
	require.NoError(t, json.Unmarshal(data, &got))
	assert.Equal(t, []compare.Comparison{compared(11, 10, true)}, got.Comparisons)
	assert.NotEmpty(t, got.Means)
}

// TestAnInterruptedCompareKeepsThePage expects the page of --published after an interrupt, if it covers a comparison.
func TestAnInterruptedCompareKeepsThePage(t *testing.T) {
	for size, kept := range map[int]bool{20000000: true, 10: false} {
		page := filepath.Join(t.TempDir(), "published.md")
		f := compareFlags{published: page}
		c := newCompare()
		c.SetOut(&bytes.Buffer{})
		one := compared(11, 10, true)
		one.Size, one.Device = size, "sim:p100"
		err := f.report(c, []compare.Comparison{one}, 3, context.Canceled)
		if !kept {
			assert.EqualError(t, err, "interrupted after 1 of 3 comparisons")
			assert.NoFileExists(t, page+".partial")
			continue
		}
		assert.EqualError(t, err, "interrupted after 1 of 3 comparisons; the results so far were written to "+page+".partial")
		assert.FileExists(t, page+".partial")
		assert.NoFileExists(t, page)
	}
}

// TestCompareHasTheModesOfTheDevice expects a mode that the device lacks to be refused by name and left out of "all".
func TestCompareHasTheModesOfTheDevice(t *testing.T) {
	for _, c := range []struct {
		device string
		words  []string
		want   []bench.Memory
		err    string
	}{
		{"sim:h200", []string{"all"}, []bench.Memory{bench.Pinned, bench.Prefetch, bench.Managed}, ""},
		{"sim:gtx960", []string{"all"}, []bench.Memory{bench.Pinned, bench.Managed}, ""},
		{"sim:gtx960", []string{"pinned", "prefetch"}, nil, "--memory prefetch: sim:gtx960 has compute capability 5.2, " +
			"but prefetching requires 6.0: use the memory mode managed or pinned"},
		{"sim:h200", []string{"none"}, nil, `unknown memory mode "none": use pinned, prefetch or managed, or all`},
	} {
		f := compareFlags{device: c.device, memory: c.words, strategies: []string{"all"}, backends: []string{"all"}, iterations: 1}
		config, err := f.config(nil, nil)
		if c.err != "" {
			assert.EqualError(t, err, c.err)
			continue
		}
		require.NoError(t, err)
		assert.Equal(t, c.want, config.Memory, c.device)
	}
}

// TestTheProgramsRunOnTheSameDevice checks the driver that the C++ programs find for each device.
func TestTheProgramsRunOnTheSameDevice(t *testing.T) {
	for _, c := range []struct {
		device, wish string
		want         compare.Programs
	}{
		{"sim", "", compare.Programs{Library: "/lib/sim.so", Env: []string{"REPRISE_SIM=h200"}}},
		{"sim:a100", "", compare.Programs{Library: "/lib/sim.so", Env: []string{"REPRISE_SIM=a100"}}},
		{"sim:mine.json", "sim", compare.Programs{Library: "/lib/sim.so", Env: []string{"REPRISE_SIM=mine.json"}}},
		{"gpu1", "", compare.Programs{Ordinal: 1}},
		{"gpu1", "/opt/libcuda.so", compare.Programs{Ordinal: 1}},
		{"gpu1", "sim", compare.Programs{Library: "/lib/sim.so", Ordinal: 1}},
	} {
		c.want.Dir = "/there"
		t.Setenv("REPRISE_LIBCUDA", c.wish)
		f := compareFlags{device: c.device, baseline: "/there", library: "/lib/sim.so"}
		assert.Equal(t, c.want, f.programs(), c.device)
	}
}
