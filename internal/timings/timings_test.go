package timings

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/costmodel"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/internal/signature"
	"github.com/reprise-gpu/reprise/internal/unit"
	"github.com/reprise-gpu/reprise/ir"
	_ "github.com/reprise-gpu/reprise/optimizer" // sets the cost models
)

const twoLaunches = `
graph two {
  module m "m.ptx"
  buffer @x f32[67108864] device(0) inout
  %0 = memset @x u32=0
  %1 = launch m.first grid(4096) block(256) args(@x, i32=7) uses(readwrite @x)
  %2 = launch m.first grid(4096) block(256) args(@x, i32=8) uses(readwrite @x)
}
`

var (
	h200 = Device{ID: "sim:h200", Name: "NVIDIA H200", Driver: "simulated", Simulated: true}
	date = time.Date(2026, 11, 23, 17, 0, 0, 0, time.UTC)
)

func two(t testing.TB) (*ir.Graph, signature.Hash) {
	file, err := ir.Load("two.rir", twoLaunches)
	require.NoError(t, err)
	return file.Graph, signature.Of(file.Graph)
}

func h200Model(t testing.TB) *Model {
	p, err := profiles.Lookup("h200")
	require.NoError(t, err)
	return &Model{p, costmodel.Measured(p, nil)}
}

// An operation has its own times, or else those of its kernel in any program, or else those of the model.
func TestFindFallsBackFromNodeToKernelToModel(t *testing.T) {
	g, s := two(t)
	m := h200Model(t)
	ts := New(h200, date)
	find := func(v ir.OpID) (time.Duration, From) {
		r, from := ts.Find(s, g, v, m)
		return r.Time.Quantile(0.5), from
	}
	took, from := find(1)
	assert.Equal(t, FromModel, from)
	assert.InEpsilon(t, 537e6/(4800*0.78), float64(took), 0.1, "537 MB at the share of 4800 GB/s that kernels reach, a ramp and a gap")

	other := ts.Add(signature.Code("another program"), "other")
	other.Nodes[5] = &Record{Kind: "launch", Kernel: KernelOf(g, 1), Time: NewSketch(100, 100), Resident: 8, Bound: Memory}
	ts.Add(s, "two")
	took, from = find(1)
	assert.Equal(t, []any{time.Duration(100), FromKernel}, []any{took, from})
	r, _ := ts.Find(s, g, 2, m)
	assert.Equal(t, []any{8, Memory}, []any{r.Resident, r.Bound})
	_, from = find(0)
	assert.Equal(t, FromModel, from, "a fill has no kernel")

	ts.Add(s, "two").Nodes[1] = &Record{Kind: "launch", Kernel: KernelOf(g, 1), Time: NewSketch(200, 200, 200)}
	took, from = find(1)
	assert.Equal(t, []any{time.Duration(200), FromNode}, []any{took, from})
	took, from = find(2)
	assert.Equal(t, []any{time.Duration(200), FromKernel}, []any{took, from}, "the median of five times")
	assert.EqualValues(t, 5, ts.Kernel(KernelOf(g, 2)).Time.Count())
	assert.EqualValues(t, 2, other.Nodes[5].Time.Count(), "pooling leaves the nodes alone")
	assert.Equal(t, []string{"node", "kernel", "model"}, []string{FromNode.String(), FromKernel.String(), FromModel.String()})

	ts.Add(s, "two").Nodes[2] = &Record{Kind: "launch", Kernel: KernelOf(g, 2), Time: NewSketch()}
	_, from = find(2)
	assert.Equal(t, FromKernel, from, "a node without times is cold")
}

func TestTheModelStatesTheBound(t *testing.T) {
	g, _ := two(t)
	m := h200Model(t)
	r := m.Record(g, 1)
	assert.Equal(t, []any{"launch", uint64(4096), 8, Memory}, []any{r.Kind, r.Blocks, r.Resident, r.Bound})
	assert.Equal(t, KernelOf(g, 1), r.Kernel)
	fill := m.Record(g, 0)
	assert.Equal(t, []any{"memset", uint64(0), 0, Unknown}, []any{fill.Kind, fill.Blocks, fill.Resident, fill.Bound})
	g.Ops[1].Uses = nil
	assert.Equal(t, Unknown, m.Record(g, 1).Bound, "latency alone")
}

// The bound is the resource that takes most of the time, as computed by the event core.
func TestBounds(t *testing.T) {
	p, err := profiles.Lookup("h200")
	require.NoError(t, err)
	var work unit.Work
	work[unit.FP64] = 1e9
	kernel := model.Demand{Kind: model.Kernel, Blocks: 1000, PerSM: 8, BlockCycles: 100}
	compute, memory, atomics := kernel, kernel, kernel
	compute.Work, compute.Bytes = work, 1e6
	memory.Bytes, memory.L2Bytes = 1e9, 1e9
	atomics.Updates, atomics.Lines = 1e6, 1
	for want, demands := range map[Bound][]model.Demand{
		Compute: {compute}, Memory: {memory, atomics}, Unknown: {kernel, {Kind: model.CopyIn, Bytes: 1e9}, {Kind: model.Marker}, {Kind: model.Fixed, Duration: 5}},
	} {
		for _, d := range demands {
			_, got := alone(p, d)
			assert.Equal(t, want, got, "%+v", d)
		}
	}
	took, _ := alone(p, model.Demand{Kind: model.Fixed, Duration: 7 * model.Microsecond})
	assert.InDelta(t, float64(7*model.Microsecond+p.StreamGap)/1000, float64(took), 1)
}

// example has every kind of entry.
func example(t testing.TB) *Timings {
	g, s := two(t)
	ts := New(h200, date)
	p := ts.Add(s, "two")
	p.Nodes[0] = &Record{Kind: "memset", Time: NewSketch(2345, 2346, 9000)}
	p.Nodes[1] = &Record{Kind: "launch", Kernel: KernelOf(g, 1), Time: NewSketch(3100, 3100), Blocks: 4096, Resident: 8, Bound: Memory}
	p.Gap(0).Record(time.Millisecond)
	p.Gap(3).Record(7)
	p.Replays.Record(12345)
	p.Arrivals.Record(time.Second)
	ts.Add(signature.Code("empty"), "empty <program>")
	return ts
}

func TestFileGolden(t *testing.T) {
	got, err := example(t).Text()
	require.NoError(t, err)
	want, err := os.ReadFile("testdata/two.json")
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got))
	read, err := ReadFile("testdata/two.json")
	require.NoError(t, err)
	again, err := read.Text()
	require.NoError(t, err)
	assert.Equal(t, string(want), string(again))
	_, s := two(t)
	assert.Equal(t, example(t).Node(Node{s, 1}).Kernel, read.Node(Node{s, 1}).Kernel)
	assert.EqualValues(t, 1, read.Gap(Gap{s, 3}).Count())
	assert.Nil(t, read.Gap(Gap{s, 4}))
	assert.Nil(t, read.Gap(Gap{signature.Code("none"), 0}))
	_, err = ReadFile(filepath.Join(t.TempDir(), "missing.json"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

// Merging files, in any order, gives the file of all times.
func TestMergedFilesEqualOneOfAllTimes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 6 {
		all := New(h200, date)
		parts := []*Timings{New(h200, date.AddDate(0, 0, -1)), New(h200, date), New(h200, date.AddDate(-1, 0, 0))}
		for range 60 {
			part := parts[r.IntN(len(parts))]
			name := []string{"a", "b"}[r.IntN(2)]
			op, kind, d := ir.OpID(r.IntN(3)), r.IntN(4), time.Duration(r.IntN(1e6))
			for _, to := range []*Timings{all, part} {
				p := to.Add(signature.Code(name), name)
				switch kind {
				case 0:
					p.Gap(int(op)).Record(d)
				case 1:
					p.Replays.Record(d)
					p.Arrivals.Record(2 * d)
				default:
					if p.Nodes[op] == nil {
						p.Nodes[op] = &Record{Kind: "launch", Time: NewSketch(), Blocks: 4, Resident: 2, Bound: Compute}
					}
					p.Nodes[op].Time.Record(d)
				}
			}
		}
		r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		merged := New(h200, time.Time{})
		for _, p := range parts {
			text, err := p.Text()
			require.NoError(t, err)
			read, err := Parse("part", text)
			require.NoError(t, err)
			require.NoError(t, merged.Merge(read))
		}
		want, err := all.Text()
		require.NoError(t, err)
		got, err := merged.Text()
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
	}
}

func TestTimesOfOtherDevicesAreNotMerged(t *testing.T) {
	a := example(t)
	before, err := a.Text()
	require.NoError(t, err)
	for _, change := range []func(*Device){
		func(d *Device) { d.ID = "gpu0" }, func(d *Device) { d.Driver = "13.0" }, func(d *Device) { d.Name = "NVIDIA H100" }, func(d *Device) { d.Simulated = false },
	} {
		b := example(t)
		change(&b.Device)
		err := a.Merge(b)
		var other *DeviceError
		require.True(t, errors.As(err, &other))
		assert.Equal(t, b.Device, other.Other)
		assert.Contains(t, err.Error(), "write those to another file")
	}
	after, err := a.Text()
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after))
}

func TestWrongFilesAreRefused(t *testing.T) {
	text, err := example(t).Text()
	require.NoError(t, err)
	for _, c := range []struct{ from, to, says string }{
		{"reprise-timings", "reprise-profile", `the format is "reprise-profile", and that of timings is "reprise-timings"`},
		{`"version": 1`, `"version": 2`, "version 2 of timings: this release reads version 1, so measure again with reprise measure"},
		{`"date": "2026-11-23"`, `"date": "yesterday"`, `the date is "yesterday": write it as 2026-01-31`},
		{`"sync": 0`, `"sync": 3`, "sync point 3 occurs twice"},
		{`"sync": 0`, `"sync": -3`, "sync point -3"},
		{`"node": 0`, `"node": 1`, "node 1: it occurs twice"},
		{`"node": 0`, `"node": -1`, "node -1: it occurs twice, or is negative"},
		{`"resident": 8`, `"resident": -8`, "-8 resident blocks"},
		{"4096x1x1", "4096x1", `the extent "4096x1": write it as 4x1x1`},
		{"4096x1x1", "4096x1x1x", "write it as 4x1x1"},
		{"4096x1x1", "5000000000x1x1", "write it as 4x1x1"},
		{`"bound": "memory"`, `"bound": "bandwidth"`, `the bound of a kernel is "bandwidth": use compute, memory or unknown`},
		{"2336*2", "2336", `times "2336": write TIME*COUNT in ns`},
		{"2336*2", "9999*2", "ascending"},
		{"2336*2", "-5*2", "times"},
		{"2336*2", "5*0", "times"},
		{"2336*2", "5*1125899906842625", "with at most 1125899906842624 times in all"},
		{"2336*2", "99999999999*2", "ascending to 68719476735"},
		{`"kind": "memset"`, `"sort": "memset"`, `unknown field "sort"`},
		{`"kind": "memset"`, `"kind": "` + strings.Repeat("x", maxName+1) + `"`, "a name has 4097 bytes"},
		{signature.Code("empty").String(), strings.Repeat("0", 60), "is not a hash"},
		{"\n}\n", "\n}\n{}", "not a file of timings"},
		{"\n}\n", "\n", "not a file of timings"},
	} {
		require.Contains(t, string(text), c.from)
		_, err := Parse("my.json", []byte(strings.Replace(string(text), c.from, c.to, 1)))
		if assert.ErrorContains(t, err, c.says, "%q", c.to) {
			assert.Contains(t, err.Error(), "my.json: ")
			assert.NotContains(t, err.Error(), "\n")
		}
	}
	_, s := two(t)
	_, err = Parse("", []byte(strings.Replace(string(text), signature.Code("empty").String(), s.String(), 1)))
	assert.ErrorContains(t, err, "two programs have its signature")
}

func TestFilesAreBounded(t *testing.T) {
	ts := New(h200, date)
	p := ts.Add(signature.Code("large"), "large")
	s := NewSketch(1)
	for v := range ir.OpID(maxSketches) {
		p.Nodes[v] = &Record{Kind: "empty", Time: s}
	}
	_, err := ts.Text()
	assert.ErrorContains(t, err, "measure fewer programs into one file")
	node := `{"node":0,"kind":"","bound":"unknown","ns":""},`
	many := strings.Repeat(node, maxSketches)
	_, err = Parse("", []byte(`{"format":"reprise-timings","version":1,"date":"2026-11-23","programs":[{"nodes":[`+many[:len(many)-1]+`]}]}`))
	assert.ErrorContains(t, err, "the limit is 16384")
}

func FuzzParse(f *testing.F) {
	text, err := example(f).Text()
	require.NoError(f, err)
	f.Add(text)
	f.Add([]byte("null"))
	f.Add([]byte(`{"format":"reprise-timings","version":1,"date":"2026-11-23","programs":[{"replays_ns":"1*1 300*9000000000000000000"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		ts, err := Parse("f", data)
		if err != nil {
			require.Nil(t, ts)
			return
		}
		text, err := ts.Text()
		require.NoError(t, err)
		read, err := Parse("again", text)
		require.NoError(t, err)
		again, err := read.Text()
		require.NoError(t, err)
		require.Equal(t, string(text), string(again))
		require.NoError(t, New(ts.Device, ts.Date).Merge(ts))
	})
}
