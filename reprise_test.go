package reprise_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// recorded is a trace of x += y on n elements of a new device.
func recorded(t *testing.T, n int) (reprise.Device, *reprise.Trace, reprise.Buffer, reprise.Buffer) {
	dev, err := reprise.OpenChecked("sim:a100")
	require.NoError(t, err)
	r := reprise.Record(dev, "add")
	x, y := r.Alloc("x", reprise.F32, int64(n), reprise.InOut), r.Alloc("y", reprise.F32, int64(n), reprise.Input)
	r.Launch(r.Module("axpy.ptx", axpy).Kernel("axpy"), reprise.Linear(1, uint32(n)), x, y, float32(1), n)
	trace, err := r.Finish()
	require.NoError(t, err)
	require.NoError(t, reprise.Write(x, make([]float32, n)))
	ones := make([]float32, n)
	for i := range ones {
		ones[i] = 1
	}
	require.NoError(t, reprise.Write(y, ones))
	return dev, trace, x, y
}

func TestCompileInBothForms(t *testing.T) {
	for _, streams := range []bool{false, true} {
		dev, trace, x, _ := recorded(t, 32)
		exec, err := reprise.Compile(dev, trace, reprise.Options{Strategy: "auto", Streams: streams})
		require.NoError(t, err)
		require.NoError(t, exec.ReplayN(context.Background(), 5))
		require.NoError(t, exec.Wait(context.Background()))
		got := make([]float32, 32)
		require.NoError(t, reprise.Read(got, x))
		assert.Equal(t, float32(5), got[31])
		require.NoError(t, exec.Close())
		require.NoError(t, trace.Close())
		require.NoError(t, dev.Close())
	}
}

// The doc comment of Options lists all strategies, since a program's author reads it with go doc.
func TestOptionsListStrategies(t *testing.T) {
	var names []string
	for _, s := range optimizer.Strategies() {
		names = append(names, s.Name)
	}
	last := len(names) - 1
	want := "The strategies are " + strings.Join(names[:last], ", ") + " and " + names[last] + "."
	assert.Contains(t, strings.ReplaceAll(read(t, "compile.go"), "\n// ", " "), want)
}

// A loop ends where its scalar says so, and where its iterations are used up.
func TestCompileLoop(t *testing.T) {
	dev, trace, x, _ := recorded(t, 32)
	defer dev.Close()
	loop, err := reprise.CompileLoop(dev, trace, reprise.Until{Buffer: x.ID(), Is: reprise.AtLeast, Value: 7}, 100, reprise.LoopOptions{CheckEvery: 2})
	require.NoError(t, err)
	res, err := loop.Run(context.Background())
	require.NoError(t, err)
	assert.Equal(t, 8, res.Iterations, "a check every two iterations")
	require.NoError(t, loop.Close())
}

// Each mistake is an error, and none a panic.
func TestMistakes(t *testing.T) {
	_, err := reprise.Open("h200")
	assert.ErrorContains(t, err, "unknown device")
	_, err = reprise.Open("sim:nope")
	assert.ErrorContains(t, err, "nope")
	_, err = reprise.OpenChecked("gpu0")
	assert.ErrorContains(t, err, "gpu0 is a GPU")
	dev, trace, x, _ := recorded(t, 32)
	defer dev.Close()
	_, err = reprise.Compile(nil, trace, reprise.Options{})
	assert.ErrorIs(t, err, ir.ErrMissing)
	_, err = reprise.Compile(dev, nil, reprise.Options{})
	assert.ErrorIs(t, err, ir.ErrMissing)
	_, err = reprise.Compile(dev, &reprise.Trace{}, reprise.Options{})
	assert.ErrorIs(t, err, ir.ErrMissing)
	_, err = reprise.Compile(dev, trace, reprise.Options{Strategy: "best"})
	assert.ErrorContains(t, err, "best")
	_, err = reprise.CompileLoop(dev, trace, reprise.Until{Buffer: x.ID()}, 0, reprise.LoopOptions{})
	assert.ErrorContains(t, err, "none of Below")
	assert.ErrorIs(t, reprise.Record(nil, "nothing").Err(), ir.ErrMissing)
	assert.ErrorIs(t, reprise.Auto(nil, "nothing").Err(), ir.ErrMissing)
}

// Auto replays what the program repeats.
func TestAuto(t *testing.T) {
	dev, err := reprise.Open("")
	require.NoError(t, err)
	defer dev.Close()
	r := reprise.Auto(dev, "sum")
	x, y := r.Alloc("x", reprise.F32, 32, reprise.InOut), r.Alloc("y", reprise.F32, 32, reprise.InOut)
	k := r.Module("axpy.ptx", axpy).Kernel("axpy")
	r.Memset(x, float32(0))
	r.Memset(y, float32(1))
	for range 200 {
		for range 6 {
			r.Launch(k, reprise.Linear(1, 32), x, y, float32(1), 32)
			r.Launch(k, reprise.Linear(1, 32), y, x, float32(0), 32)
		}
	}
	got := make([]float32, 32)
	require.NoError(t, reprise.Read(got, x))
	require.NoError(t, r.Err())
	assert.Equal(t, float32(1200), got[0])
	assert.Positive(t, reprise.AutoStats(r).Replays)
}
