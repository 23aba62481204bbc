package reprise_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"runtime/trace"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise"
	"github.com/reprise-gpu/reprise/internal/null"
)

// A logger receives a record of each decision.
func ExampleSetLogger() {
	untimed := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "took" {
			return slog.Attr{}
		}
		return a
	}
	reprise.SetLogger(slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: untimed})))
	defer reprise.SetLogger(nil)

	dev, err := reprise.Open("sim")
	check(err)
	defer dev.Close()
	t := reprise.Record(dev, "interest")
	interest(t, float32(0.01))
	trace, err := t.Finish()
	check(err)
	defer trace.Close()
	exec, err := reprise.Compile(dev, trace, reprise.Options{})
	check(err)
	check(exec.Close())
	// Output:
	// level=INFO msg=planned program=interest operations=1 costs="estimated from bytes and shapes" strategy=nimble streams=false lanes=1 waits=0 predicted=6.308µs
	// level=INFO msg=instantiated program=interest backend=graph operations=1 host_decides=false
}

// TestFallBacksAreLogged compiles a loop for a device without conditional nodes: the host decides, in both forms, and one
// record has the reason.
func TestFallBacksAreLogged(t *testing.T) {
	for _, streams := range []bool{false, true} {
		dev := null.New()
		r := reprise.Record(dev, "interest")
		kernel := r.Module("axpy.ptx", axpy).Kernel("axpy")
		y := r.Alloc("y", reprise.F32, 1, reprise.InOut)
		r.Loop(y, reprise.AtLeast, 2, reprise.Limits{Iterations: 10}, func() {
			r.Launch(kernel, reprise.Linear(1, 32), y, y, float32(0.25), 1)
		})
		trace, err := r.Finish()
		require.NoError(t, err)
		var out bytes.Buffer
		reprise.SetLogger(slog.New(slog.NewTextHandler(&out, nil)))
		exec, err := reprise.Compile(dev, trace, reprise.Options{Streams: streams})
		reprise.SetLogger(nil)
		require.NoError(t, err)
		assert.Equal(t, 1, strings.Count(out.String(), "host_decides=true"), out.String())
		assert.Equal(t, 1, strings.Count(out.String(), "the device has no conditional nodes"), out.String())
		require.NoError(t, exec.Close())
		require.NoError(t, trace.Close())
		require.NoError(t, dev.Close())
	}
}

// An execution trace shows the life of a program.
func TestExecutionTraces(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, trace.Start(&out))
	p := compiled(t)
	require.NoError(t, p.exec.Replay(context.Background()))
	trace.Stop()
	for _, name := range []string{"reprise: record", "reprise: plan", "reprise: pass syncs", "reprise: instantiate", "reprise: replay"} {
		assert.Contains(t, out.String(), name)
	}
	require.NoError(t, p.dev.Close())
}

// Replays do not allocate, with a logger and without.
func TestReplaysDoNotAllocate(t *testing.T) {
	exec := nullExec(t)
	for range 2 {
		assert.Zero(t, testing.AllocsPerRun(100, func() { _ = exec.Replay(context.Background()) }))
		reprise.SetLogger(slog.New(slog.DiscardHandler))
	}
	reprise.SetLogger(nil)
}

// BenchmarkReplay measures the host's time of a replay on a device that runs nothing.
func BenchmarkReplay(b *testing.B) {
	exec := nullExec(b)
	b.ReportAllocs()
	for b.Loop() {
		if err := exec.Replay(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

// nullExec returns x += y on a device that runs nothing.
func nullExec(t testing.TB) *reprise.Exec {
	dev := null.New()
	r := reprise.Record(dev, "add")
	interest(r, float32(1))
	trace, err := r.Finish()
	require.NoError(t, err)
	exec, err := reprise.Compile(dev, trace, reprise.Options{})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, exec.Close())
		require.NoError(t, dev.Close())
	})
	return exec
}
