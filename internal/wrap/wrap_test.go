package wrap_test

import (
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/wrap"
)

// transcripts are programs whose logs testdata/logging holds.
var transcripts = map[string]func(d device.Device) error{
	"streams": func(d device.Device) error {
		m, _ := d.LoadModule("saxpy.ptx", "// PTX\n")
		f, _ := d.Function(m, "saxpy")
		p, _ := d.Alloc(4096)
		h, _, _ := d.AllocHost(512)
		s, _ := d.CreateStream(-1)
		t, _ := d.CreateStream(0)
		e, _ := d.CreateEvent()
		return errors.Join(
			d.Write(p, make([]byte, 16)),
			d.Submit(s, &device.Copy{Dst: p + 256, Src: h, Bytes: 512}),
			d.Submit(s, &device.Launch{Function: f, Grid: device.Dim3{X: 4, Y: 1, Z: 1}, Block: device.Dim3{X: 256, Y: 1, Z: 1},
				Shared: 64, Params: make([]byte, 24), Label: "step"}),
			d.Record(e, s), d.Wait(t, e),
			d.Submit(t, &device.HostCall{Func: func() error { return nil }, Label: "report"}),
			d.Synchronize(t), d.SynchronizeAll(),
			d.Read(make([]byte, 16), p), d.Free(p),
		)
	},
	"graphs": func(d device.Device) error {
		p, _ := d.Alloc(64)
		s, _ := d.CreateStream(0)
		g, _ := d.CreateGraph()
		a, _ := d.AddNode(g, nil, &device.Memset{Dst: p, Width: 4, Count: 16})
		b, _ := d.AddNode(g, []device.Node{a}, device.Nothing{})
		_, _ = d.AddNode(g, []device.Node{a, b}, &device.Memset{Dst: p + 32, Value: 7, Width: 1, Count: 32})
		x, _ := d.Instantiate(g)
		return errors.Join(d.UpdateNode(x, a, &device.Memset{Dst: p, Value: 1, Width: 4, Count: 16}),
			d.LaunchGraph(x, s), d.DestroyGraphExec(x), d.DestroyGraph(g))
	},
	"commands": func(d device.Device) error {
		s, _ := d.CreateStream(0)
		e, _ := d.CreateEvent()
		l, _ := d.CompileCommands([]device.Command{
			{Kind: device.Run, Stream: s, Work: device.Nothing{}},
			{Kind: device.Record, Stream: s, Event: e},
			{Kind: device.Await, Stream: s, Event: e},
		})
		return errors.Join(d.UpdateCommand(l, 0, device.Nothing{}), d.SubmitCommands(l, 0, 3), d.DestroyCommandList(l), d.Close())
	},
	"errors": func(d device.Device) error {
		p, _ := d.Alloc(64)
		_ = d.Free(p + 1)
		_ = d.Free(p)
		_ = d.Free(p)
		_ = d.Synchronize(99)
		return nil
	},
}

func TestLogging(t *testing.T) {
	datadriven.RunTest(t, "testdata/logging", func(t *testing.T, td *datadriven.TestData) string {
		program, ok := transcripts[td.Cmd]
		require.True(t, ok, "no program is called %q", td.Cmd)
		var log strings.Builder
		require.NoError(t, program(wrap.Logging(null.New(), &log)))
		return log.String()
	})
}

// Every program, with every call in turn failing: the call that fails is the
// one asked for, its error is the one injected, and the device below did not
// see it.
func TestEveryCallCanFail(t *testing.T) {
	for name, program := range transcripts {
		calls := 0
		count := wrap.Faults(null.New(), func(int, string) device.Code { calls++; return 0 })
		require.NoError(t, program(count), name)
		for n := range calls {
			var below []string
			spy := wrap.Intercept(null.New(), func(c *wrap.Call, next func() error) error {
				below = append(below, c.Method)
				return next()
			})
			var failed []string
			faulty := wrap.Intercept(wrap.Faults(spy, wrap.FailCall(n, device.OutOfMemory)),
				func(c *wrap.Call, next func() error) error {
					err := next()
					if device.CodeOf(err) == device.OutOfMemory {
						failed = append(failed, c.Method)
					}
					return err
				})
			_ = program(faulty)
			require.Len(t, failed, 1, "%s: call %d", name, n)
			require.Len(t, below, calls-1, "%s: call %d", name, n)
		}
	}
}

// An interceptor may refuse after the fact; the caller must not get a handle.
func TestInterceptorsErrorWins(t *testing.T) {
	d := wrap.Intercept(null.New(), func(_ *wrap.Call, next func() error) error {
		_ = next()
		return errors.New("refused")
	})
	p, err := d.Alloc(10)
	assert.Zero(t, p)
	assert.EqualError(t, err, "refused")
}

// A wrapper is a Looper whatever it wraps, so one has to say what is missing.
func TestWrappedDevicesWithoutConditionalNodes(t *testing.T) {
	d := wrap.Logging(null.New(), io.Discard).(device.Looper)
	_, err := d.CreateCondition(1, 0)
	assert.EqualError(t, err, "CreateCondition: CUDA_ERROR_NOT_SUPPORTED (801): device null has no conditional nodes")
	_, bodies, err := d.AddConditional(1, nil, device.Conditional{})
	assert.Equal(t, device.NotSupported, device.CodeOf(err))
	assert.Nil(t, bodies)
	assert.Equal(t, device.NotSupported, device.CodeOf(d.UpdateBodyNode(1, 1, 1, device.Nothing{})))
}

// TestCountingAgreesWithTheLog counts the lines of the log, and of the line that
// compiled a command list, the commands.
func TestCountingAgreesWithTheLog(t *testing.T) {
	for name, program := range transcripts {
		var calls atomic.Int64
		var log strings.Builder
		require.NoError(t, program(wrap.Counting(wrap.Logging(null.New(), &log), &calls)))
		lines := strings.Count(log.String(), "\n")
		if name == "commands" {
			const compiled = "CompileCommands([stream1 nothing; stream1 records event1; stream1 awaits event1])"
			require.Contains(t, log.String(), compiled)
			lines += 2 - 1 // two of these three are calls, and submitting them is none of its own
		}
		assert.EqualValues(t, lines, calls.Load(), "%s:\n%s", name, log.String())
	}
}
