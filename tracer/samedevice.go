package tracer

import (
	"reflect"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/absent"
)

// sameDevice reports whether a and b share handles and addresses: whether both are the same opened device, with or
// without wrappers. A device whose Info.Instance is 0 is the same only as itself.
func sameDevice(a, b device.Device) bool {
	if absent.Is(a) || absent.Is(b) {
		return false
	}
	if i, j := a.Info().Instance, b.Info().Instance; i != 0 || j != 0 {
		return i == j
	}
	return reflect.TypeOf(a).Comparable() && reflect.TypeOf(b).Comparable() && a == b
}
