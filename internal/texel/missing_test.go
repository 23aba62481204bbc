package texel_test

import (
	"errors"
	"testing"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/absent/absenttest"
	"github.com/reprise-gpu/reprise/internal/texel"
)

// TestMissingArguments leaves arguments out of the methods of descriptions.
func TestMissingArguments(t *testing.T) {
	absenttest.Run(t, absenttest.Calls{
		Receivers: []func(*testing.T) any{
			func(*testing.T) any { return &texel.Layout{} },
			func(*testing.T) any { return &texel.Desc{} },
			func(*testing.T) any { return texel.Format(99) },
		},
		Pool:  func(*testing.T) []any { return []any{&texel.Layout{}} },
		Typed: func(err error) bool { var e *device.Error; return errors.As(err, &e) },
	})
}
