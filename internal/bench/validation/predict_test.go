package validation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// The kernels of these tests: move reads and writes 4 bytes per thread; idle does nothing.
const kernelsPTX = `.version 7.8
.target sm_52
.address_size 64
.visible .entry move(.param .u64 from, .param .u64 to)
{
	.reg .b32 %r<6>;
	.reg .b64 %rd<6>;
	ld.param.u64 %rd1, [from];
	ld.param.u64 %rd2, [to];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.u32 %r4, %r1, %r2, %r3;
	mul.wide.u32 %rd3, %r4, 4;
	add.u64 %rd4, %rd1, %rd3;
	add.u64 %rd5, %rd2, %rd3;
	ld.global.u32 %r5, [%rd4];
	st.global.u32 [%rd5], %r5;
	ret;
}
.visible .entry idle()
{
	ret;
}
`

// setOf writes a folder with the kernels, a broken profile and rows, and opens it. Each row is what differs from a
// plain one: "entry=move;args=f32*8 f32*8".
func setOf(t *testing.T, rows ...string) *Set {
	t.Helper()
	dir := t.TempDir()
	head := strings.Split("id,kernel,class,gpu,profile,ptx,entry,grid,block,shared,args,mode,sample,measured_us", ",")
	text := strings.Join(head, ",") + "\n"
	for i, row := range rows {
		values := map[string]string{
			"id": fmt.Sprint("row", i), "kernel": "k", "class": "cache", "gpu": "g", "profile": "v100", "ptx": "k.ptx", "entry": "idle",
			"grid": "1", "block": "32", "mode": "stream:4", "measured_us": "50",
		}
		for pair := range strings.SplitSeq(row, ";") {
			name, value, _ := strings.Cut(pair, "=")
			values[name] = value
		}
		var fields []string
		for _, name := range head {
			fields = append(fields, values[name])
		}
		text += strings.Join(fields, ",") + "\n"
	}
	for name, content := range map[string]string{"mine/rows.csv": text, "ptx/k.ptx": kernelsPTX, "ptx/bad.ptx": "nothing", "profiles/bad.json": "{}"} {
		at := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
		require.NoError(t, os.WriteFile(at, []byte(content), 0o644))
	}
	s, err := Open(filepath.Join(dir, "mine", "rows.csv"))
	require.NoError(t, err)
	return s
}

func predictAll(t *testing.T, s *Set) []Result {
	t.Helper()
	results, err := Predict(context.Background(), []*Set{s}, "", nil)
	require.NoError(t, err)
	require.Len(t, results, len(s.Rows))
	return results
}

// slow returns the profile of a device on which one figure is so bad that it alone determines the time.
func slow(change func(*model.Profile)) []byte {
	p := *profiles.All()[0]
	change(&p)
	return profiles.NewFile(&p, "invented").Text()
}

// A time that one figure determines is known without the model: bytes over bandwidth, or a gap per launch.
func TestTimesThatOneFigureDetermines(t *testing.T) {
	const words = 1 << 27
	const move = "entry=move;grid=524288;block=256;args=f32*134217728 f32*134217728;sample=8"
	s := setOf(t,
		fmt.Sprintf("profile=dram.json;%s;mode=stream:4;measured_us=%g", move, 8.0*words/(100*0.5*1e3)),
		fmt.Sprintf("profile=dram.json;%s;mode=cold;measured_us=%g", move, 8.0*words/(100*0.5*1e3)),
		"profile=gap.json;mode=stream:64;measured_us=50",
		"profile=gap.json;mode=pingpong:64;measured_us=50",
		"profile=gap.json;mode=graph:64;measured_us=30",
		"profile=call.json;mode=stream:64;measured_us=70",
		"profile=call.json;mode=host:64;measured_us=70",
	)
	const us = model.Microsecond
	for name, change := range map[string]func(*model.Profile){
		"dram": func(p *model.Profile) { p.MemoryGBps, p.MemoryShare = 100, 0.5 },
		"gap":  func(p *model.Profile) { p.StreamGap, p.GraphEdgeGap = 50*us, 30*us },
		"call": func(p *model.Profile) { p.Host.Launch = 70 * us },
	} {
		require.NoError(t, os.WriteFile(filepath.Join(s.where, "profiles", name+".json"), slow(change), 0o644))
	}
	results := predictAll(t, s)
	for i := range results {
		r := &results[i]
		require.NoError(t, r.Err, r.Row.ID)
		assert.InDelta(t, 1, r.Ratio(), 0.05, "%s on %s", r.Row.Mode, r.Row.Profile)
	}
	assert.Equal(t, "DRAM bandwidth", results[0].Limit)
}

// The modes of one kernel differ by what they include.
func TestModesIncludeWhatTheySay(t *testing.T) {
	const copyRow = "entry=move;grid=4096;block=256;args=f32*1048576 f32*1048576;profile=a100"
	var rows []string
	modes := strings.Fields("stream:16 graph:16 host:16 host:1 span coldspan cold pingpong:16")
	for _, mode := range modes {
		rows = append(rows, copyRow+";mode="+mode)
	}
	results := predictAll(t, setOf(t, rows...))
	us := map[string]float64{}
	for i := range results {
		require.NoError(t, results[i].Err)
		us[modes[i]] = results[i].PredictedUS
	}
	assert.Less(t, us["span"], us["graph:16"], "the gap of a graph's edge")
	assert.Less(t, us["graph:16"], us["stream:16"], "a stream has a longer one")
	assert.Less(t, us["stream:16"], us["host:16"], "the host waits besides")
	assert.Less(t, us["host:16"], us["host:1"], "for every launch")
	assert.Less(t, us["span"], us["coldspan"], "the buffers fit into L2")
	assert.Less(t, us["coldspan"], us["cold"], "the gaps of the events")
	assert.InEpsilon(t, us["stream:16"], us["pingpong:16"], 0.1, "a copy is the same in both directions")
}

func TestEveryRowThatFailsSaysWhy(t *testing.T) {
	results := predictAll(t, setOf(t,
		"entry=idle", "entry=none", "ptx=none.ptx", "ptx=bad.ptx", "profile=none.json", "profile=bad.json", "profile=none",
		"block=2048", "shared=999999", "entry=move;args=f32*99999999999 f32*8", "entry=move;args=f32*8", "entry=move;grid=8;args=f32*8 f32*8",
	))
	wants := []string{
		"", "none", "none.ptx: no such file", "bad.ptx:1", "none.json: no such file", "profiles/bad.json:1", `"none"`,
		"2048", "999999", "argument f32*99999999999: ", "8 bytes", "ILLEGAL_ADDRESS",
	}
	require.NoError(t, results[0].Err)
	for i, want := range wants[1:] {
		r := &results[i+1]
		assert.ErrorContains(t, r.Err, want, "row %d", i+1)
		assert.NotContains(t, fmt.Sprint(r.Err), "panic", "row %d", i+1)
	}
	s := Summarize(results)
	assert.Equal(t, 1, s.All.Rows)
	var table strings.Builder
	require.NoError(t, WriteTable(&table, results, s))
	assert.Equal(t, 11, strings.Count(table.String(), "FAILED row"))
	assert.Contains(t, table.String(), "\n11 of 12 rows failed\n")
	report := NewReport(results, s)
	assert.Equal(t, 11, report.Failed)
	assert.Len(t, report.Rows, 12)
	assert.Equal(t, 2, strings.Count(string(Table(results)), "\n"), "a heading and a row")
}

// The order and the number of processors have no effect.
func TestPredictionsAreTheSameInEveryOrder(t *testing.T) {
	s := Data()
	only := "teach/rtx3060/hist"
	first, err := Predict(context.Background(), []*Set{s}, only, nil)
	require.NoError(t, err)
	require.Greater(t, len(first), 3)
	for i := len(first) - 1; i >= 0; i-- {
		alone := s.predict(first[i].Row, nil)
		assert.Equal(t, first[i], alone)
	}
}

func TestAnInterruptLeavesOutWhatHasNotBegun(t *testing.T) {
	rows := make([]string, 50)
	for i := range rows {
		rows[i] = "entry=idle"
	}
	ctx, cancel := context.WithCancel(context.Background())
	results, err := Predict(ctx, []*Set{setOf(t, rows...)}, "", func(_ string, done, total int) {
		assert.Equal(t, 50, total)
		if done == 3 {
			cancel()
		}
	})
	require.ErrorIs(t, err, context.Canceled)
	assert.GreaterOrEqual(t, len(results), 3)
	assert.Less(t, len(results), 50)
	for _, r := range results {
		assert.NoError(t, r.Err)
		assert.Positive(t, r.PredictedUS)
	}
}

// What is recorded on a simulated device is what is predicted for it.
func TestRecordedRowsArePredictedExactly(t *testing.T) {
	s := setOf(t, "entry=idle", "entry=idle;gpu=other", "entry=move;grid=4096;block=256;args=f32*1048576 f32*1048576;mode=span;sample=16",
		"entry=move;grid=4096;block=256;args=rand*1048576 f32*1048576;mode=coldspan", "entry=move;grid=64;block=64;args=chain*1000 f32*4096;mode=graph:8", "entry=none")
	o := Recording{
		Open: func(sample int64) (device.Device, error) {
			return sim.New(sim.Options{Profile: "a100", Sample: sample})
		},
		Repeats: 3, GPU: "mine", Profile: "a100", Commit: "c", Note: "n",
	}
	rows, left, err := Record(context.Background(), s, "", o)
	require.NoError(t, err)
	require.Len(t, rows, 4, "the second differs from the first in the GPU alone")
	require.Len(t, left, 1)
	assert.Equal(t, "row5", left[0].ID)
	assert.Error(t, left[0].Reason)

	dir := t.TempDir()
	require.NoError(t, NewFolder(dir))
	path, err := WriteFolder(dir, s, rows, nil)
	require.NoError(t, err)
	assert.Error(t, NewFolder(dir), "measured rows are not overwritten")
	mine, err := Open(path)
	require.NoError(t, err)
	for _, r := range predictAll(t, mine) {
		require.NoError(t, r.Err)
		assert.InDelta(t, 1, r.Ratio(), 1e-5, r.Row.ID)
		assert.Equal(t, "mine", r.Row.GPU)
		if r.Row.MeasuredUS < 10 {
			assert.Equal(t, LaunchClass, r.Row.Class)
		}
	}
	assert.Equal(t, []string{"stream:4", "stream:8", "cold", "graph:8"}, []string{rows[0].Mode.String(), rows[1].Mode.String(), rows[2].Mode.String(), rows[3].Mode.String()})
	assert.Equal(t, "mine/row0", rows[0].ID)
}

func TestRecordKeepsWhatItMeasured(t *testing.T) {
	s := setOf(t, "entry=idle", "entry=idle;block=64", "entry=idle;block=96")
	ctx, cancel := context.WithCancel(context.Background())
	o := Recording{
		Open:     func(int64) (device.Device, error) { return sim.New(sim.Options{}) },
		Progress: func(string, int, int) { cancel() },
	}
	rows, left, err := Record(ctx, s, "", o)
	require.ErrorIs(t, err, context.Canceled)
	assert.Len(t, rows, 1)
	assert.Empty(t, left)

	broken := errors.New("no device")
	o.Open, o.Progress = func(int64) (device.Device, error) { return nil, broken }, nil
	rows, left, err = Record(context.Background(), s, "row1", o)
	require.NoError(t, err)
	assert.Empty(t, rows)
	require.Len(t, left, 1)
	assert.ErrorIs(t, left[0].Reason, broken)
}

func TestAverage(t *testing.T) {
	mean, spread := average([]float64{9, 10, 11})
	assert.InDelta(t, 10, mean, 1e-12)
	assert.InDelta(t, 0.1, spread, 1e-12)
	mean, spread = average([]float64{12.3456789})
	assert.InDelta(t, 12.3457, mean, 1e-12)
	assert.Zero(t, spread)
}
