package device

import "fmt"

// HostCall is work that runs a Go function on the host when the stream reaches it. The function must not call the
// device. If it returns an error, panics or ends its goroutine, the next call that waits for the work returns Unknown
// with a HostError, once. The device then continues with later work and stays usable.
type HostCall struct {
	Func  func() error
	Label string
	// Uses lists the pinned memory that the function accesses. Devices that detect races check it against concurrent
	// work.
	Uses []HostUse
}

// HostUse is a range of pinned memory that a host call reads, writes or both.
type HostUse struct {
	Ptr         Ptr
	Bytes       int64
	Read, Write bool
}

// HostError reports that the function of a host call returned an error, panicked or ended its goroutine.
type HostError struct {
	Label string // label of the host call; in a replay, the operation and the source line that issued it
	Err   error  // the returned error, or the panic value if it is an error; nil for other panics
	Panic any    // the panic value, nil if the function did not panic
	Stack []byte // stack of the panic, as from runtime/debug.Stack
}

func (e *HostError) Error() string {
	if e.Panic != nil {
		return fmt.Sprintf("host call %q panicked: %v", e.Label, e.Panic)
	}
	return fmt.Sprintf("host call %q: %v", e.Label, e.Err)
}

func (e *HostError) Unwrap() error { return e.Err }
