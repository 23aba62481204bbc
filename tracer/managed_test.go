package tracer_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/wrap"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

func TestATraceOfManagedMemory(t *testing.T) {
	tr := tracer.New(null.New(), "managed", tracer.Deferred)
	square := load(t, tr, "square")
	x := tr.AllocManaged("x", ir.F32, 64, ir.Constant)
	y := tr.AllocManaged("y", ir.F32, 64, ir.Output)
	tr.Prefetch(x, true)
	tr.Launch(square, tracer.Linear(1, 64), x, y, 64)
	tr.Prefetch(y.Slice(8, 16), false)
	tr.Prefetch(y.Slice(8, 8), false)
	trace, err := tr.Finish()
	require.NoError(t, err)
	assert.Equal(t, `graph managed {
  module square "square.ptx"
  buffer @x f32[64] managed constant
  buffer @y f32[64] managed output
  %0 = prefetch @x -> device
  %1 = launch square.square grid(1) block(64) args(@x, @y, i32=64) uses(read @x, write @y)
  %2 = prefetch @y[32:64] -> host
  %3 = prefetch @y[32:32] -> host
}
`, body(trace.Graph))
	require.NoError(t, trace.Close())
}

// Writing and reading move memory to the host, and later work reads what was written.
func TestEagerManagedMemory(t *testing.T) {
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	var log strings.Builder
	tr := tracer.New(wrap.Logging(dev, &log), "eager", tracer.Eager)
	square := load(t, tr, "square")
	x := tr.AllocManaged("x", ir.F32, 4, ir.Input)
	y := tr.AllocManaged("y", ir.F32, 4, ir.Output)
	log.Reset()
	for round := range 3 {
		in := []float32{1, 2, 3, float32(round)}
		require.NoError(t, tracer.Write(x, in))
		tr.Prefetch(x, true)
		tr.Prefetch(x.Slice(1, 1), true)
		tr.Launch(square, tracer.Linear(1, 32), x, y, 4)
		got := make([]float32, 4)
		require.NoError(t, tracer.Read(got, y))
		assert.Equal(t, []float32{1, 4, 9, float32(round * round)}, got)
	}
	assert.Equal(t, `ToHost(managed1, 16)
Submit(stream1, prefetch managed1 to the device, 16 bytes)
Submit(stream1, launch square at tracer/managed_test.go function1 grid (1,1,1) block (32,1,1) shared 0 params 20 bytes)
ToHost(managed2, 16)
`, lines(log.String(), 4))
	trace, err := tr.Finish()
	require.NoError(t, err)
	require.NoError(t, trace.Close())
	assert.Zero(t, dev.Live())
	require.NoError(t, dev.Close())
}

// lines returns the first n lines of a text, without the line numbers in it.
func lines(text string, n int) string {
	all := strings.SplitAfterN(text, "\n", n+1)
	for i := range all {
		if at := strings.Index(all[i], ".go:"); at >= 0 {
			rest := strings.TrimLeft(all[i][at+4:], "0123456789")
			all[i] = all[i][:at+3] + rest
		}
	}
	return strings.Join(all[:n], "")
}

func TestMisuseOfManagedMemory(t *testing.T) {
	for _, c := range []struct {
		want  string
		calls func(tr *tracer.Tracer)
	}{
		{"prefetch of @x, which is not managed memory and does not move: allocate it with AllocManaged, or copy",
			func(tr *tracer.Tracer) { tr.Prefetch(tr.Alloc("x", ir.F32, 4, ir.Input), true) }},
		{"prefetch of @x, which is not managed memory",
			func(tr *tracer.Tracer) { tr.Prefetch(tr.AllocHost("x", ir.F32, 4, ir.Input), true) }},
		{"prefetch: @x is used after it was freed", func(tr *tracer.Tracer) {
			x := tr.AllocManaged("x", ir.F32, 4, ir.Input)
			tr.Free(x)
			tr.Prefetch(x, true)
		}},
		{"host call look: @x is managed memory, which a host call cannot bring home: copy it to pinned memory first", func(tr *tracer.Tracer) {
			tr.HostCall("look", func() error { return nil }, tracer.Use{Buffer: tr.AllocManaged("x", ir.F32, 4, ir.Input), Mode: ir.Read})
		}},
	} {
		tr := tracer.New(null.New(), "misuse", tracer.Deferred)
		c.calls(tr)
		assert.ErrorContains(t, tr.Err(), c.want)
		_, err := tr.Finish()
		assert.Error(t, err)
	}
}

// plain is a device without managed memory.
type plain struct{ device.Device }

func TestADeviceWithoutManagedMemory(t *testing.T) {
	tr := tracer.New(plain{null.New()}, "plain", tracer.Deferred)
	x := tr.AllocManaged("x", ir.F32, 4, ir.Input)
	assert.ErrorContains(t, tr.Err(), "buffer @x of 16 bytes: device null has no managed memory")
	assert.NoError(t, x.ToHost(), "there is nothing to bring")
	tr = tracer.New(wrap.Logging(plain{null.New()}, &strings.Builder{}), "plain", tracer.Deferred)
	tr.AllocManaged("x", ir.F32, 4, ir.Input)
	assert.ErrorContains(t, tr.Err(), "device null has no managed memory")
}

// TestAPrefetchIsRefusedBeforePascal expects an error at the call of Prefetch on a device that is older than
// prefetches.
func TestAPrefetchIsRefusedBeforePascal(t *testing.T) {
	dev, err := sim.New(sim.Options{Profile: "gtx960"})
	require.NoError(t, err)
	tr := tracer.New(dev, "old", tracer.Eager)
	x := tr.AllocManaged("x", ir.F32, 4, ir.Input)
	tr.Prefetch(x, true)
	assert.ErrorContains(t, tr.Err(), "CUDA_ERROR_INVALID_DEVICE")
	assert.ErrorContains(t, tr.Err(), "tracer/managed_test.go:")
	_, err = tr.Finish()
	assert.Error(t, err)
	assert.Zero(t, dev.Live())
	require.NoError(t, dev.Close())
}
