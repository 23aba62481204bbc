package reprise_test

import (
	"context"
	_ "embed"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise"
)

//go:embed examples/first/axpy.ptx
var axpyPTX string

// circle records the first program of the README on n points, and writes its inputs.
func circle(t *testing.T, dev reprise.Device, n int64) *reprise.Trace {
	r := reprise.Record(dev, "circle")
	kernel := r.Module("axpy.ptx", axpyPTX).Kernel("axpy")
	x := r.Alloc("x", reprise.F32, n, reprise.InOut)
	y := r.Alloc("y", reprise.F32, n, reprise.InOut)
	step := r.Param("step", reprise.F32, 0.01)
	blocks := uint32((n + 255) / 256)
	r.Launch(kernel, reprise.Linear(blocks, 256), x, y, step, int(n))
	r.Launch(kernel, reprise.Linear(blocks, 256), y, x, float32(-0.01), int(n))
	trace, err := r.Finish()
	require.NoError(t, err)
	data := make([]float32, n)
	require.NoError(t, reprise.Write(y, data))
	for i := range data {
		data[i] = 1 + float32(i)/float32(n)
	}
	require.NoError(t, reprise.Write(x, data))
	return trace
}

// replayed compiles a trace, sets its step, replays it and returns x.
func replayed(t *testing.T, dev reprise.Device, trace *reprise.Trace, times int) []float32 {
	ctx := context.Background()
	exec, err := reprise.Compile(dev, trace, reprise.Options{})
	require.NoError(t, err)
	defer exec.Close()
	require.NoError(t, exec.Set("step", 0.02))
	require.NoError(t, exec.ReplayN(ctx, times))
	require.NoError(t, exec.Wait(ctx))
	x, err := trace.Buffer("x")
	require.NoError(t, err)
	data := make([]float32, x.Len())
	require.NoError(t, reprise.Read(data, x))
	return data
}

// TestSavedProgramsReplay saves a program with contents and compares replays of the file with those of the program.
func TestSavedProgramsReplay(t *testing.T) {
	for _, n := range []int64{7, 1000} { // inline and packed contents
		dev, err := reprise.Open("sim")
		require.NoError(t, err)
		defer dev.Close()
		path := filepath.Join(t.TempDir(), "circle.rir")
		trace := circle(t, dev, n)
		require.NoError(t, trace.Save(path, reprise.SaveOptions{Contents: true}))
		want := replayed(t, dev, trace, 5)
		require.NoError(t, trace.Close())

		loaded, err := reprise.Load(dev, path)
		require.NoError(t, err)
		assert.Equal(t, want, replayed(t, dev, loaded, 5))
		assert.NotEqual(t, want, replayed(t, dev, loaded, 1))
		again := filepath.Join(t.TempDir(), "again.rir")
		require.NoError(t, loaded.Save(again))
		require.NoError(t, loaded.Close())
		text, err := os.ReadFile(again)
		require.NoError(t, err)
		first, err := os.ReadFile(path)
		require.NoError(t, err)
		head, _, _ := strings.Cut(string(first), "\ncontents {")
		assert.True(t, strings.HasPrefix(string(text), head), "the graph is the same")
		assert.NotContains(t, string(text), "contents {")
	}
}

// TestFilesOfEarlierReleasesLoad replays a file of format 1, which has no header and no contents.
func TestFilesOfEarlierReleasesLoad(t *testing.T) {
	dev, err := reprise.Open("sim")
	require.NoError(t, err)
	defer dev.Close()
	trace, err := reprise.Load(dev, "testdata/format1.rir")
	require.NoError(t, err)
	x, err := trace.Buffer("x")
	require.NoError(t, err)
	y, err := trace.Buffer("y")
	require.NoError(t, err)
	ones := make([]float32, x.Len())
	for i := range ones {
		ones[i] = 1
	}
	require.NoError(t, reprise.Write(x, ones))
	require.NoError(t, reprise.Write(y, ones))
	assert.InDelta(t, 1.02, replayed(t, dev, trace, 1)[0], 1e-6)
	require.NoError(t, trace.Close())
}

// TestErrorsOfLoading lists what a user may do wrong with files.
func TestErrorsOfLoading(t *testing.T) {
	dev, err := reprise.Open("sim")
	require.NoError(t, err)
	defer dev.Close()
	old, err := os.ReadFile("testdata/format1.rir")
	require.NoError(t, err)
	edited := func(was, is string) string {
		require.Contains(t, string(old), was)
		return strings.Replace(string(old), was, is, 1)
	}
	graph, _, _ := strings.Cut(string(old), "-- axpy.ptx --")
	for _, c := range []struct{ text, want string }{
		{"rir 9 \"reprise 4.0\"\n" + string(old), "x.rir:1:5: the file has format 9, written by reprise 4.0, and this program reads formats up to 2: use that program, or a newer release of this one"},
		{graph, "load circle: the file has no PTX of module axpy, which only a plan does without: add the section \"axpy.ptx\", or save the program with Trace.Save"},
		{edited("axpy.axpy grid", "axpy.apxy grid"), "load circle: %0 apxy: module axpy.ptx has no kernel \"apxy\": it has axpy"},
		{edited("@x, @y, $step, i32=4096", "@x, @y, $step"), "load circle: %0 axpy: the arguments do not fit: the kernel takes a pointer, a pointer, f32, u32"},
		{edited("@x f32[4096] device(0)", "@x f32[4096] pageable"), "load circle: buffer @x of 16384 bytes: pageable memory cannot take part in a replay: make it pinned"},
		{edited("@x f32[4096] device(0)", "@x f32[4096] device(2)"), "load circle: buffer @x of 16384 bytes: it is on device 2, and a trace is of one device: write device(0)"},
		{edited("@x f32[4096]", "@x f32[4096000000000]"), "load circle: buffer @x of 16384000000000 bytes: Alloc: CUDA_ERROR_OUT_OF_MEMORY (2): "},
	} {
		path := filepath.Join(t.TempDir(), "x.rir")
		require.NoError(t, os.WriteFile(path, []byte(c.text), 0o644))
		_, err := reprise.Load(dev, path)
		require.Error(t, err)
		assert.True(t, strings.HasPrefix(strings.TrimPrefix(err.Error(), filepath.Dir(path)+"/"), c.want), "%v\nwant %s", err, c.want)
	}
	_, err = reprise.Load(dev, "missing.rir")
	assert.ErrorIs(t, err, os.ErrNotExist)
	trace := circle(t, dev, 7)
	defer trace.Close()
	_, err = trace.Buffer("X")
	assert.EqualError(t, err, "trace circle has no buffer @X; it has @x, @y")
	assert.ErrorContains(t, trace.BindHost("check", func() error { return nil }), "trace circle has no host calls: bind none")
}
