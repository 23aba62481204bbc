package wrap_test

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/absent/absenttest"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/wrap"
)

// TestMissingArguments leaves arguments out of all that the package exports, and of the methods of wrapped devices.
func TestMissingArguments(t *testing.T) {
	absenttest.Run(t, absenttest.Calls{
		Funcs: map[string]any{
			"FailCall": wrap.FailCall, "FailFrom": wrap.FailFrom, "FailNth": wrap.FailNth, "FailWork": wrap.FailWork,
			"Counting": wrap.Counting, "Faults": wrap.Faults, "Intercept": wrap.Intercept, "Logging": wrap.Logging, "Paced": wrap.Paced,
		},
		Receivers: []func(*testing.T) any{
			func(*testing.T) any { return wrap.Counting(null.New(), new(atomic.Int64)) },
			func(*testing.T) any { return wrap.Faults(null.New(), wrap.FailCall(1000, device.Unknown)) },
			func(*testing.T) any { return wrap.Logging(null.New(), &bytes.Buffer{}) },
			func(*testing.T) any { return wrap.Paced(null.New(), func(device.Work) time.Duration { return 0 }) },
		},
		Pool: func(*testing.T) []any {
			return []any{null.New(), context.Background(), new(atomic.Int64), &bytes.Buffer{}, &device.Info{}, &device.HostCall{},
				wrap.Interceptor(func(_ *wrap.Call, next func() error) error { return next() }),
				func(device.Work) time.Duration { return 0 },
				&device.Launch{}, &device.Copy{}, &device.Memset{}, &device.Prefetch{}}
		},
		Typed: func(err error) bool { var e *device.Error; return errors.As(err, &e) },
	})
}

// nothing is a device of which there is only a nil pointer: its methods panic.
type nothing struct{ device.Device }

func TestANilPointerIsNoDevice(t *testing.T) {
	var none *nothing
	assert.Nil(t, wrap.Counting(none, new(atomic.Int64)))
	next := func(_ *wrap.Call, next func() error) error { return next() }
	assert.Nil(t, wrap.Intercept(none, next))
	assert.Nil(t, wrap.Logging(none, &bytes.Buffer{}))
	assert.Nil(t, wrap.Paced(none, func(device.Work) time.Duration { return 0 }))
	assert.Nil(t, wrap.Faults(none, wrap.FailCall(1, device.Unknown)))
}
