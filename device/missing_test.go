package device_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/absent/absenttest"
	"github.com/reprise-gpu/reprise/internal/null"
)

// TestMissingArguments leaves arguments out of all that the package exports, and of the methods of wrapped devices.
func TestMissingArguments(t *testing.T) {
	absenttest.Run(t, absenttest.Calls{
		Funcs: map[string]any{
			"Join": device.Join, "Same": device.Same, "CodeOf": device.CodeOf,
			"Intercept": device.Intercept, "WithLogging": device.WithLogging,
		},
		Receivers: []func(*testing.T) any{
			func(*testing.T) any { return null.New() },
			func(*testing.T) any { return device.WithLogging(null.New(), &bytes.Buffer{}) },
			func(*testing.T) any { return &device.HostCall{} },
			func(*testing.T) any { return &device.HostError{} },
			func(*testing.T) any { return &device.Conditional{} },
			func(*testing.T) any { return &device.Error{} },
			func(*testing.T) any { return &device.Fault{} },
			func(*testing.T) any { return device.ConditionalKind(99) },
			func(*testing.T) any { return device.MemoryKind(99) },
		},
		Pool: func(*testing.T) []any {
			return []any{null.New(), context.Background(), &bytes.Buffer{}, &device.Info{},
				device.Interceptor(func(_ *device.Call, next func() error) error { return next() }), &device.HostCall{},
				&device.Launch{}, &device.Copy{}, &device.Memset{}, &device.Prefetch{}}
		},
		Typed: func(err error) bool { var e *device.Error; return errors.As(err, &e) },
	})
}

// nothing is a device of which there is only a nil pointer: its methods panic.
type nothing struct{ device.Device }

func TestANilPointerIsNoDevice(t *testing.T) {
	var none *nothing
	assert.False(t, device.Same(none, null.New()))
	assert.False(t, device.Same(null.New(), none))
	assert.False(t, device.Same(none, none))
	next := func(_ *device.Call, next func() error) error { return next() }
	assert.Nil(t, device.Intercept(none, next))
	assert.Nil(t, device.WithLogging(none, &bytes.Buffer{}))
	d := null.New()
	stream, err := d.CreateStream(0)
	require.NoError(t, err)
	assert.ErrorContains(t, d.Submit(stream, (*device.Launch)(nil)), "the work is a nil *device.Launch")
	assert.ErrorContains(t, d.Submit(stream, (*device.Memset)(nil)), "the work is a nil *device.Memset")
	assert.ErrorContains(t, d.Submit(stream, nil), "no work given")
}
