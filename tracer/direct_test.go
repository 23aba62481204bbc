package tracer_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/wrap"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// everyCall makes each kind of call that a device without managed memory takes.
func everyCall(t *testing.T, tr *tracer.Tracer) {
	square := load(t, tr, "square")
	x := tr.Alloc("x", ir.F32, 64, ir.Input)
	y := tr.Alloc("y", ir.F32, 64, ir.Temporary)
	host := tr.AllocHost("host", ir.F32, 32, ir.Output)
	n := tr.Param("n", ir.I32, 32)
	for range 2 {
		tr.Memset(x, float32(1))
		tr.Memset(x.Slice(1, 1), 0)
		tr.Launch(square, tracer.Linear(1, 32), x.Slice(32, 64), y, n)
		tr.Launch(square, withShared(tracer.Linear(2, 32), 64), y, x, 64)
		tr.Copy(host, y.Slice(0, 32))
		tr.HostCall("look", func() error { return nil }, tracer.Use{Buffer: host, Mode: ir.Read})
	}
	require.NoError(t, tr.Err())
}

func TestDirectCallsAreEagerCallsThatNobodyRecords(t *testing.T) {
	transcript := func(mode tracer.Mode) (string, *ir.Graph) {
		var log strings.Builder
		tr := tracer.New(wrap.Logging(null.New(), &log), "calls", mode)
		everyCall(t, tr)
		trace, err := tr.Finish()
		require.NoError(t, err)
		require.NoError(t, trace.Close())
		return log.String(), trace.Graph
	}
	eager, recorded := transcript(tracer.Eager)
	direct, bare := transcript(tracer.Direct)
	assert.Equal(t, eager, direct)
	assert.Len(t, recorded.Ops, 12)
	assert.Empty(t, bare.Ops)
	assert.Equal(t, recorded.Buffers, bare.Buffers)
}

func TestADirectProgramTakesNoMemoryWithTime(t *testing.T) {
	tr := tracer.New(null.New(), "long", tracer.Direct)
	square := load(t, tr, "square")
	x := tr.Alloc("x", ir.F32, 1<<20, ir.InOut)
	run := func(calls int) uint64 {
		for i := range calls {
			tr.Launch(square, tracer.Linear(1, 32), x.Slice(int64(i), int64(i)+32), x.Slice(int64(i)+32, int64(i)+64), i%32)
			tr.Memset(x.Slice(int64(i), int64(i)+1), i)
		}
		require.NoError(t, tr.Err())
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := run(1000)
	assert.Less(t, run(50_000), before+100_000, "bytes, where a recording takes 136 for each call")
	_, err := tr.Finish()
	require.NoError(t, err)
}
