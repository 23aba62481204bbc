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

// TestMissingArguments leaves arguments out of all that the package exports.
func TestMissingArguments(t *testing.T) {
	absenttest.Run(t, absenttest.Calls{
		Funcs: map[string]any{
			"Join": device.Join, "CodeOf": device.CodeOf,
		},
		Receivers: []func(*testing.T) any{
			func(*testing.T) any { return null.New() },
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
				&device.HostCall{}, &device.Launch{}, &device.Copy{}, &device.Memset{}, &device.Prefetch{}}
		},
		Typed: func(err error) bool { var e *device.Error; return errors.As(err, &e) },
	})
}

func TestMissingWorkIsAnError(t *testing.T) {
	d := null.New()
	stream, err := d.CreateStream(0)
	require.NoError(t, err)
	assert.ErrorContains(t, d.Submit(stream, (*device.Launch)(nil)), "the work is a nil *device.Launch")
	assert.ErrorContains(t, d.Submit(stream, (*device.Memset)(nil)), "the work is a nil *device.Memset")
	assert.ErrorContains(t, d.Submit(stream, nil), "no work given")
}
