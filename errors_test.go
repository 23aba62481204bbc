package reprise_test

import (
	"context"
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise"
	"github.com/reprise-gpu/reprise/cluster"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/share"
	"github.com/reprise-gpu/reprise/tenant"
)

// program is what the mistakes of TestKindsOfErrors are made with: x += y, compiled.
type program struct {
	dev   reprise.Device
	trace *reprise.Trace
	x, y  reprise.Buffer
	exec  *reprise.Exec
}

func compiled(t *testing.T) *program {
	dev, trace, x, y := recorded(t, 32)
	exec, err := reprise.Compile(dev, trace, reprise.Options{})
	require.NoError(t, err)
	return &program{dev, trace, x, y, exec}
}

// closed returns the program after the Exec, the trace and the device were closed.
func closed(t *testing.T) *program {
	p := compiled(t)
	require.NoError(t, p.exec.Close())
	require.NoError(t, p.trace.Close())
	require.NoError(t, p.dev.Close())
	return p
}

// recording begins another trace on the device of p.
func (p *program) recording() *reprise.Tracer { return reprise.Record(p.dev, "other") }

// launching records a launch of axpy in a new trace with these buffers.
func (p *program) launching(x, y reprise.Buffer) error {
	r := p.recording()
	r.Launch(r.Module("axpy.ptx", axpy).Kernel("axpy"), reprise.Linear(1, 32), x, y, float32(1), 32)
	return r.Err()
}

// during is a context that calls a function in the middle of a replay, as another goroutine may.
type during struct {
	context.Context
	call func()
}

func (d during) Err() error {
	d.call()
	return d.Context.Err()
}

// mistakes are mistakes of users, by the name of the kind of their error.
var mistakes = map[string]map[string]func(t *testing.T, p *program) error{
	"ErrBusy": {
		"replay an Exec that is being replayed": func(t *testing.T, p *program) (inner error) {
			ctx := during{context.Background(), func() { inner = p.exec.Replay(context.Background()) }}
			require.NoError(t, p.exec.Replay(ctx))
			return inner
		},
	},
	"ErrClosed": {
		"replay a closed Exec":   func(t *testing.T, _ *program) error { return closed(t).exec.Replay(context.Background()) },
		"wait for a closed Exec": func(t *testing.T, _ *program) error { return closed(t).exec.Wait(context.Background()) },
		"compile a closed trace": func(t *testing.T, p *program) error {
			require.NoError(t, p.exec.Close())
			require.NoError(t, p.trace.Close())
			_, err := reprise.Compile(p.dev, p.trace, reprise.Options{})
			return err
		},
		"read a buffer of a closed trace": func(t *testing.T, p *program) error {
			require.NoError(t, p.exec.Close())
			require.NoError(t, p.trace.Close())
			return reprise.Read(make([]float32, 32), p.x)
		},
		"allocate on a closed device": func(t *testing.T, _ *program) error {
			_, err := closed(t).dev.Alloc(64)
			return err
		},
		"finish a trace twice": func(_ *testing.T, p *program) error {
			r := p.recording()
			_, err := r.Finish()
			if err == nil {
				_, err = r.Finish()
			}
			return err
		},
		"run a closed loop": func(t *testing.T, p *program) error {
			loop, err := reprise.CompileLoop(p.dev, p.trace, reprise.Until{Buffer: p.x.ID(), Is: reprise.AtLeast, Value: 7}, 10, reprise.LoopOptions{})
			require.NoError(t, err)
			require.NoError(t, loop.Close())
			_, err = loop.Run(context.Background())
			return err
		},
		"start a program of a closed scheduler": func(t *testing.T, p *program) error {
			s, err := share.New(p.dev, share.Exclusive())
			require.NoError(t, err)
			require.NoError(t, s.Close())
			return s.Use(func(device.Device) error { return nil })
		},
		"add a tenant to a closed pool": func(t *testing.T, p *program) error {
			pool, err := tenant.NewPool(p.dev, tenant.Options{})
			require.NoError(t, err)
			require.NoError(t, pool.Close())
			_, err = pool.Add(p.trace)
			return err
		},
	},
	"ErrElement": {
		"write integers to floats": func(_ *testing.T, p *program) error { return reprise.Write(p.x, make([]int32, 32)) },
	},
	"ErrFreed": {
		"launch with a freed buffer": func(_ *testing.T, p *program) error {
			r := p.recording()
			x := r.Alloc("x", reprise.F32, 32, reprise.InOut)
			r.Free(x)
			r.Memset(x, float32(0))
			return r.Err()
		},
		"free twice": func(_ *testing.T, p *program) error {
			r := p.recording()
			x := r.Alloc("x", reprise.F32, 32, reprise.InOut)
			r.Free(x)
			r.Free(x)
			return r.Err()
		},
		"replay over memory of one's own that was freed": func(t *testing.T, p *program) error {
			at, err := p.dev.Alloc(128)
			require.NoError(t, err)
			require.NoError(t, p.exec.Apply(graphexec.Rebind("y", at)))
			require.NoError(t, p.dev.Free(at))
			return p.exec.Replay(context.Background())
		},
	},
	"ErrMissing": {
		"compile no trace": func(_ *testing.T, p *program) error {
			_, err := reprise.Compile(p.dev, nil, reprise.Options{})
			return err
		},
		"record on no device": func(*testing.T, *program) error { return reprise.Record(nil, "x").Err() },
		"replay without a context": func(_ *testing.T, p *program) error {
			var none context.Context
			return p.exec.Replay(none)
		},
	},
	"ErrOtherDevice": {
		"compile for another device": func(t *testing.T, p *program) error {
			other := compiled(t)
			_, err := reprise.Compile(other.dev, p.trace, reprise.Options{})
			return err
		},
	},
	"ErrOtherTrace": {
		"launch with buffers of another trace": func(_ *testing.T, p *program) error { return p.launching(p.x, p.y) },
	},
	"ErrOutOfMemory": {
		"allocate more than the device has": func(_ *testing.T, p *program) error {
			_, err := p.dev.Alloc(1 << 50)
			return err
		},
		"trace a buffer that is larger than the device": func(_ *testing.T, p *program) error {
			r := p.recording()
			r.Alloc("x", reprise.F32, 1<<44, reprise.InOut)
			return r.Err()
		},
		"a plan for devices that are too small": func(*testing.T, *program) error { return &cluster.MemoryError{} },
	},
	"ErrUnavailable": {
		"a GPU that the machine lacks": func(t *testing.T, _ *program) error {
			dev, err := reprise.Open("gpu999")
			if err == nil {
				require.NoError(t, dev.Close())
			}
			return err
		},
	},
	"ErrUnknown": {
		"a device": func(*testing.T, *program) error {
			_, err := reprise.Open("h200")
			return err
		},
		"a profile": func(*testing.T, *program) error {
			_, err := reprise.Open("sim:nope")
			return err
		},
		"a kernel": func(_ *testing.T, p *program) error {
			r := p.recording()
			r.Module("axpy.ptx", axpy).Kernel("axpi")
			return r.Err()
		},
		"a strategy": func(_ *testing.T, p *program) error {
			_, err := reprise.Compile(p.dev, p.trace, reprise.Options{Strategy: "best"})
			return err
		},
		"a pass": func(_ *testing.T, p *program) error {
			_, err := reprise.Compile(p.dev, p.trace, reprise.Options{Also: []string{"shrink"}})
			return err
		},
		"a parameter": func(_ *testing.T, p *program) error { return p.exec.Set("alpha", float32(1)) },
		"a buffer": func(_ *testing.T, p *program) error {
			return p.exec.Apply(graphexec.Rebind("z", 64))
		},
		"a buffer of a trace": func(_ *testing.T, p *program) error {
			_, err := p.trace.Buffer("z")
			return err
		},
		"a host call": func(_ *testing.T, p *program) error {
			return p.trace.BindHost("log", func() error { return nil })
		},
		"an operation": func(_ *testing.T, p *program) error {
			return p.exec.Apply(graphexec.Enable("sum", false))
		},
	},
	"ErrUnsupported": {
		"detect races on a GPU": func(*testing.T, *program) error {
			_, err := reprise.OpenChecked("gpu0")
			return err
		},
	},
}

// kinds are the kinds of errors by their names.
var kinds = map[string]error{
	"ErrBusy": reprise.ErrBusy, "ErrClosed": reprise.ErrClosed, "ErrElement": reprise.ErrElement, "ErrFreed": reprise.ErrFreed,
	"ErrMissing": reprise.ErrMissing, "ErrOtherDevice": reprise.ErrOtherDevice, "ErrOtherTrace": reprise.ErrOtherTrace,
	"ErrOutOfMemory": reprise.ErrOutOfMemory, "ErrUnavailable": reprise.ErrUnavailable, "ErrUnknown": reprise.ErrUnknown,
	"ErrUnsupported": reprise.ErrUnsupported,
}

// Each mistake has the error of its kind, and of no other kind.
func TestKindsOfErrors(t *testing.T) {
	for kind := range kinds {
		require.NotEmpty(t, mistakes[kind], "no mistake yields %s", kind)
		for name, make := range mistakes[kind] {
			t.Run(kind+"/"+name, func(t *testing.T) {
				p := compiled(t)
				defer p.dev.Close()
				err := make(t, p)
				require.Error(t, err)
				for other, is := range kinds {
					if other == kind {
						assert.ErrorIs(t, err, is)
					} else {
						assert.NotErrorIs(t, err, is, other)
					}
				}
			})
		}
	}
}

// The page lists the exported kinds, in the order of errors.go.
func TestThePageListsTheKinds(t *testing.T) {
	declared := regexp.MustCompile(`(?m)^\t(Err\w+) `).FindAllStringSubmatch(read(t, "errors.go"), -1)
	page, err := os.ReadFile("docs/ERRORS.md")
	require.NoError(t, err)
	listed := regexp.MustCompile("(?m)^\\| `(Err\\w+)` ").FindAllStringSubmatch(string(page), -1)
	require.Len(t, listed, len(kinds))
	for i := range declared {
		assert.Equal(t, declared[i][1], listed[i][1])
		assert.Contains(t, kinds, declared[i][1])
	}
}
