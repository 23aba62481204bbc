package tracer_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/absent/absenttest"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// TestMissingArguments calls exported functions that return errors with nil or zero arguments. Calls that
// record return none: see TestMissingArgumentsEndATrace.
func TestMissingArguments(t *testing.T) {
	start := func(*testing.T) *tracer.Tracer { return tracer.New(null.New(), "missing", tracer.Deferred) }
	trace := func(t *testing.T) *tracer.Trace {
		tr := start(t)
		x := tr.Alloc("x", ir.F32, 1024, ir.InOut)
		tr.Memset(x, 0)
		tr.Launch(load(t, tr, "square"), tracer.Linear(1, 32), x, x, 1024)
		done, err := tr.Finish()
		require.NoError(t, err)
		return done
	}
	absenttest.Run(t, absenttest.Calls{
		Funcs: map[string]any{
			"Draft": tracer.Draft[float32], "Read": tracer.Read[float32], "Write": tracer.Write[float32], "Linear": tracer.Linear,
			"New": tracer.New,
		},
		Receivers: []func(*testing.T) any{
			func(t *testing.T) any { return start(t) },
			func(*testing.T) any { return tracer.New(nil, "missing", tracer.Deferred) },
			func(*testing.T) any { return tracer.New(nil, "missing", tracer.Eager) },
			func(*testing.T) any { return tracer.New(null.New(), "missing", tracer.Mode(99)) },
			func(*testing.T) any { return newWatched(nil, "missing", nil) },
			func(*testing.T) any { return newWatched(null.New(), "missing", nil) },
			func(*testing.T) any { return &tracer.Tracer{} },
			func(t *testing.T) any { return start(t).Module("missing.ptx", "") },
			func(*testing.T) any { return &tracer.Module{} },
			func(t *testing.T) any { return trace(t) },
			func(*testing.T) any { return &tracer.Trace{} },
			func(*testing.T) any { return (*tracer.Trace)(nil) },
			func(t *testing.T) any { return traced.Of(trace(t)) },
			func(*testing.T) any { return traced.Of(&tracer.Trace{}) },
			func(*testing.T) any { return traced.Of((*tracer.Trace)(nil)) },
			func(*testing.T) any { return (*tracer.Tracer)(nil) },
			func(*testing.T) any { return (*tracer.Module)(nil) },
			func(*testing.T) any { return &tracer.BindingError{} },
			func(*testing.T) any {
				return newWatched(null.New(), "missing", func(traced.Runner) traced.Sink { return nil })
			},
			func(t *testing.T) any { return start(t).Alloc("x", ir.F32, 4, ir.InOut).At(1) },
			func(t *testing.T) any { return start(t).Alloc("x", ir.F32, 4, ir.InOut) },
			func(*testing.T) any { return tracer.New(nil, "missing", tracer.Eager).Alloc("x", ir.F32, 4, ir.InOut) },
			func(*testing.T) any { return tracer.Buffer{} },
			func(*testing.T) any { return tracer.Shape{} },
			func(*testing.T) any { return &tracer.SliceError{} },
		},
		Pool: func(t *testing.T) []any {
			tr := start(t)
			return []any{null.New(), trace(t).Graph, tr.Alloc("x", ir.F32, 4, ir.InOut), func() error { return nil },
				func(run func() error) error { return run() }, load(t, tr, "square"), newQueue}
		},
		Typed: func(err error) bool { return errors.Is(err, ir.ErrMissing) },
	})
}

// TestMissingArgumentsEndATrace makes recorded calls with nil or zero arguments.
func TestMissingArgumentsEndATrace(t *testing.T) {
	for name, call := range map[string]func(tr *tracer.Tracer, x tracer.Buffer){
		"launch":      func(tr *tracer.Tracer, _ tracer.Buffer) { tr.Launch(nil, tracer.Linear(1, 1)) },
		"zero kernel": func(tr *tracer.Tracer, _ tracer.Buffer) { tr.Launch(&tracer.Kernel{}, tracer.Linear(1, 1)) },
		"argument": func(tr *tracer.Tracer, x tracer.Buffer) {
			tr.Launch(load(t, tr, "square"), tracer.Linear(1, 1), x, nil, 4)
		},
		"zero argument": func(tr *tracer.Tracer, x tracer.Buffer) {
			tr.Launch(load(t, tr, "square"), tracer.Linear(1, 1), x, tracer.Buffer{}, 4)
		},
		"zero parameter": func(tr *tracer.Tracer, x tracer.Buffer) {
			tr.Launch(load(t, tr, "square"), tracer.Linear(1, 1), x, x, tracer.Param{})
		},
		"copy from":     func(tr *tracer.Tracer, x tracer.Buffer) { tr.Copy(x, tracer.Buffer{}) },
		"copy to":       func(tr *tracer.Tracer, x tracer.Buffer) { tr.Copy(tracer.Buffer{}, x) },
		"memset":        func(tr *tracer.Tracer, _ tracer.Buffer) { tr.Memset(tracer.Buffer{}, 0) },
		"memset of nil": func(tr *tracer.Tracer, x tracer.Buffer) { tr.Memset(x, nil) },
		"prefetch":      func(tr *tracer.Tracer, _ tracer.Buffer) { tr.Prefetch(tracer.Buffer{}, true) },
		"free":          func(tr *tracer.Tracer, _ tracer.Buffer) { tr.Free(tracer.Buffer{}) },
		"host call":     func(tr *tracer.Tracer, _ tracer.Buffer) { tr.HostCall("nothing", nil) },
		"host use": func(tr *tracer.Tracer, _ tracer.Buffer) {
			tr.HostCall("use", func() error { return nil }, tracer.Use{})
		},
		"parameter": func(tr *tracer.Tracer, _ tracer.Buffer) { tr.Param("n", ir.I32, nil) },
		"module":    func(tr *tracer.Tracer, _ tracer.Buffer) { tr.Module("", "").Kernel("") },
	} {
		for _, tr := range []*tracer.Tracer{{}, tracer.New(nil, "missing", tracer.Eager), newWatched(null.New(), "missing", nil)} {
			call(tr, tr.Alloc("x", ir.F32, 4, ir.InOut))
			require.ErrorIs(t, tr.Err(), ir.ErrMissing, name)
		}
		for _, mode := range []tracer.Mode{tracer.Eager, tracer.Deferred, tracer.Direct} {
			tr := tracer.New(null.New(), "missing", mode)
			call(tr, tr.Alloc("x", ir.F32, 4, ir.InOut))
			require.Error(t, tr.Err(), name)
			_, err := tr.Finish()
			require.Error(t, err, name)
			if name == "module" {
				continue // that is another mistake: of PTX
			}
			require.ErrorIs(t, err, ir.ErrMissing, name)
		}
	}
}

// The errors name what is missing.
func TestMissingArgumentsAreNamed(t *testing.T) {
	for want, call := range map[string]func(tr *tracer.Tracer, x tracer.Buffer){
		"the kernel is nil":                     func(tr *tracer.Tracer, _ tracer.Buffer) { tr.Launch(nil, tracer.Linear(1, 1)) },
		"a zero Kernel was passed":              func(tr *tracer.Tracer, _ tracer.Buffer) { tr.Launch(&tracer.Kernel{}, tracer.Linear(1, 1)) },
		"memset of @x: the value, a Go number,": func(tr *tracer.Tracer, x tracer.Buffer) { tr.Memset(x, nil) },
		"parameter $n: the value, a Go number,": func(tr *tracer.Tracer, _ tracer.Buffer) { tr.Param("n", ir.I32, nil) },
		"argument 1 (square_param_1): it is nil": func(tr *tracer.Tracer, x tracer.Buffer) {
			tr.Launch(load(t, tr, "square"), tracer.Linear(1, 1), x, nil, 4)
		},
		"argument 2 (square_param_2): it is nil": func(tr *tracer.Tracer, x tracer.Buffer) {
			tr.Launch(load(t, tr, "square"), tracer.Linear(1, 1), x, x, nil)
		},
	} {
		tr := tracer.New(null.New(), "missing", tracer.Deferred)
		call(tr, tr.Alloc("x", ir.F32, 4, ir.InOut))
		require.ErrorContains(t, tr.Err(), want)
		require.ErrorIs(t, tr.Err(), ir.ErrMissing)
	}
}

// A nil Tracer records nothing and returns an error.
func TestANilTracer(t *testing.T) {
	var tr *tracer.Tracer
	x := tr.Alloc("x", ir.F32, 4, ir.InOut)
	tr.Launch(tr.Module("m.ptx", "").Kernel("k"), tracer.Linear(1, 1), x)
	require.ErrorIs(t, tr.Err(), ir.ErrMissing)
	_, err := tr.Finish()
	require.ErrorContains(t, err, "the tracer is nil")
	require.ErrorIs(t, traced.Of((*tracer.Trace)(nil)).Allocate(0), ir.ErrMissing)
}

// The declared access of a host call to a buffer is checked in all modes.
func TestAHostCallWithAnUnknownModeIsRefused(t *testing.T) {
	for name, tr := range map[string]*tracer.Tracer{
		"deferred": tracer.New(null.New(), "modes", tracer.Deferred), "eager": tracer.New(null.New(), "modes", tracer.Eager),
		"direct": tracer.New(null.New(), "modes", tracer.Direct), "watched": newWatched(null.New(), "modes", newQueue),
	} {
		h := tr.AllocHost("h", ir.F32, 4, ir.InOut)
		tr.HostCall("look", func() error { return nil }, tracer.Use{Buffer: h, Mode: 77})
		require.ErrorContains(t, tr.Err(), "host call look: unknown mode 77 of a use", name)
	}
}
