package device

import (
	"errors"
	"sync/atomic"
)

var instances atomic.Uint64

// NextInstance returns a value for Info.Instance that is unique in this process. A device calls it once, when opened.
func NextInstance() uint64 { return instances.Add(1) }

// ErrOtherDevice is in the error chain if memory, modules or other handles of one device were passed to another.
var ErrOtherDevice = errors.New("recorded or allocated on another device")
