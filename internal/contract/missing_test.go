package contract_test

import (
	"errors"
	"testing"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/absent/absenttest"
	"github.com/reprise-gpu/reprise/internal/contract"
)

// TestMissingArguments leaves arguments out of all that the package exports.
func TestMissingArguments(t *testing.T) {
	absenttest.Run(t, absenttest.Calls{
		Funcs: map[string]any{
			"KindOf": contract.KindOf, "Submitted": contract.Submitted, "BodyAlone": contract.BodyAlone,
			"CheckBodyWork": contract.CheckBodyWork, "CheckNodeWork": contract.CheckNodeWork, "CheckRange": contract.CheckRange,
			"CheckWork": contract.CheckWork, "ForeignBody": contract.ForeignBody, "ForeignCondition": contract.ForeignCondition,
			"PeerOf": contract.PeerOf[device.Device], "NoPeer": contract.NoPeer, "NotEnabled": contract.NotEnabled, "NotOwn": contract.NotOwn,
			"GonePeerEvent": contract.GonePeerEvent, "UnknownCommand": contract.UnknownCommand, "UnreadCondition": contract.UnreadCondition,
		},
		Receivers: []func(*testing.T) any{
			func(*testing.T) any { return &contract.Allocations{} },
			func(*testing.T) any { return &contract.Handles[device.Stream, int]{} },
		},
		Pool: func(*testing.T) []any {
			return []any{&device.Info{}, &device.HostCall{}, &device.Conditional{}, &device.Launch{}, &device.Copy{}, &device.Memset{}, &device.Prefetch{}}
		},
		Except: []string{"CheckConditional", "SelectBody", "RunHostCall"}, // their callers have checked what they pass
		Typed:  func(err error) bool { var e *device.Error; return errors.As(err, &e) },
	})
}
