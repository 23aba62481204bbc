package device

import (
	"errors"
	"reflect"
	"sync/atomic"

	"github.com/reprise-gpu/reprise/internal/absent"
)

var instances atomic.Uint64

// NextInstance returns a number for Info.Instance that no other device of this process has. Each device takes one when it is opened.
func NextInstance() uint64 { return instances.Add(1) }

// ErrOtherDevice is in the chain of errors that say that memory, modules or other handles of one device were given to another.
var ErrOtherDevice = errors.New("recorded or allocated on another device")

// Same reports whether handles and addresses of a are those of b: whether both are one opened device, with or without wrappers.
// A device whose Info has no Instance is the same only as itself.
func Same(a, b Device) bool {
	if absent.Is(a) || absent.Is(b) {
		return false
	}
	if i, j := a.Info().Instance, b.Info().Instance; i != 0 || j != 0 {
		return i == j
	}
	return reflect.TypeOf(a).Comparable() && reflect.TypeOf(b).Comparable() && a == b
}
