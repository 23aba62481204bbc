package sim

import (
	"context"
	"errors"
	"testing"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/absent/absenttest"
)

// TestMissingArguments leaves arguments out of all that the package exports.
func TestMissingArguments(t *testing.T) {
	absenttest.Run(t, absenttest.Calls{
		Funcs: map[string]any{"New": New, "OpenRank": OpenRank},
		Receivers: []func(*testing.T) any{
			func(t *testing.T) any { return open(t, Options{}) },
			func(t *testing.T) any { return open(t, Options{Race: RaceOn}) },
			func(*testing.T) any { return NewSystem() },
			func(*testing.T) any { return NewSystem().GPU(1 << 30) },
			func(*testing.T) any { return Finding{} },
			func(*testing.T) any { return FindingKind(99) },
			func(*testing.T) any { return Access{} },
			func(*testing.T) any { return &RaceError{} },
		},
		Pool: func(t *testing.T) []any {
			d := open(t, Options{})
			s, _ := d.CreateStream(0)
			g, _ := d.CreateGraph()
			x, _ := d.Instantiate(g)
			return []any{d, context.Background(), s, g, x, &device.HostCall{}, func() error { return nil }, func() {}}
		},
		Except: []string{"NewRank"}, // its callers have the rank of a machine
		Typed:  func(err error) bool { var e *device.Error; return errors.As(err, &e) },
	})
}
