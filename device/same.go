package device

import (
	"errors"
	"reflect"
	"sync/atomic"

	"github.com/reprise-gpu/reprise/internal/absent"
)

var instances atomic.Uint64

// NextInstance returns a value for Info.Instance that is unique in this process. A device calls it once, when opened.
func NextInstance() uint64 { return instances.Add(1) }

// ErrOtherDevice is in the error chain if memory, modules or other handles of one device were passed to another.
var ErrOtherDevice = errors.New("recorded or allocated on another device")

// Same reports whether a and b share handles and addresses: whether both are the same opened device, with or without
// wrappers. A device whose Info.Instance is 0 is the same only as itself.
func Same(a, b Device) bool {
	if absent.Is(a) || absent.Is(b) {
		return false
	}
	if i, j := a.Info().Instance, b.Info().Instance; i != 0 || j != 0 {
		return i == j
	}
	return reflect.TypeOf(a).Comparable() && reflect.TypeOf(b).Comparable() && a == b
}
