package device

import (
	"fmt"

	"github.com/reprise-gpu/reprise/internal/absent"
)

// KindOf returns the kind of a work: "launch", "cooperative launch", "copy", "memset", "host call", "prefetch" or
// "nothing". It returns "" for nil and for any other type. An update must keep the kind: a driver cannot make the
// launch of a node cooperative.
func KindOf(w Work) string {
	switch w := w.(type) {
	case *Launch:
		if w != nil && w.Cooperative {
			return "cooperative launch"
		}
		return ifSet(w != nil, "launch")
	case *Copy:
		return ifSet(w != nil, "copy")
	case *Memset:
		return ifSet(w != nil, "memset")
	case *HostCall:
		return ifSet(w != nil, "host call")
	case *Prefetch:
		return ifSet(w != nil, "prefetch")
	case Nothing:
		return "nothing"
	}
	return ""
}

func ifSet(set bool, name string) string {
	if set {
		return name
	}
	return ""
}

// Upper bounds of the extents of grids and blocks on all CUDA devices (CUDA C++ Programming Guide, technical
// specifications per compute capability).
var (
	maxGrid  = Dim3{1<<31 - 1, 65535, 65535}
	maxBlock = Dim3{1024, 1024, 64}
)

// CheckWork checks the properties of a work that need no lookup of handles or addresses: extents, widths, counts and
// missing functions. Every implementation of Device calls it first, so that all return the same code and the same
// text. The Call of the returned *Error is empty.
func CheckWork(w Work, info *Info) *Error {
	switch w := w.(type) {
	case *Launch:
		if w != nil {
			return checkLaunch(w, info)
		}
	case *Copy:
		if w != nil {
			return checkCopy(w)
		}
	case *Memset:
		if w != nil {
			return checkMemset(w)
		}
	case *HostCall:
		if w != nil {
			return checkHostCall(w)
		}
	case *Prefetch:
		if w != nil {
			return checkPrefetch(w, info)
		}
	case Nothing:
		return nil
	}
	if w != nil && absent.Is(w) {
		return refuse(InvalidValue, "the work is a nil %T", w)
	}
	return refuse(InvalidValue, "no work given; want *Launch, *Copy, *Memset, *HostCall, *Prefetch or Nothing, got %T", w)
}

// UnknownCommand returns the error for a command of an unknown kind.
func UnknownCommand(k CommandKind) *Error {
	return refuse(InvalidValue, "kind %d is none of Run, Record, Await and RunGraph", k)
}

// CheckRange checks the arguments of SubmitCommands: n commands, beginning with command from, of a list that has the
// given number of commands and is repeated cyclically.
func CheckRange(from, n, commands int) *Error {
	switch {
	case n < 0 || from < 0 || from >= max(1, commands):
		return refuse(InvalidValue, "%d commands from command %d on; the list has %d", n, from, commands)
	case n > 0 && commands == 0:
		return refuse(InvalidValue, "%d commands of a list that has none", n)
	}
	return nil
}

func checkLaunch(l *Launch, info *Info) *Error {
	switch {
	case !within(l.Grid, maxGrid):
		return refuse(InvalidValue, "grid %v of %s; every extent must be at least 1 and at most %v", l.Grid, l.name(), maxGrid)
	case !within(l.Block, maxBlock):
		return refuse(InvalidValue, "block %v of %s; every extent must be at least 1 and at most %v", l.Block, l.name(), maxBlock)
	case l.Block.Count() > uint64(info.MaxThreads):
		return refuse(InvalidValue, "block %v of %s has %d threads; the device allows %d", l.Block, l.name(), l.Block.Count(), info.MaxThreads)
	case int64(l.Shared) > int64(info.MaxShared):
		return refuse(InvalidValue, "%d bytes of dynamic shared memory for %s; the device allows %d", l.Shared, l.name(), info.MaxShared)
	}
	return nil
}

func within(d, most Dim3) bool {
	return 0 < d.X && d.X <= most.X && 0 < d.Y && d.Y <= most.Y && 0 < d.Z && d.Z <= most.Z
}

func (d Dim3) String() string { return fmt.Sprintf("(%d,%d,%d)", d.X, d.Y, d.Z) }

func (l *Launch) name() string {
	if l.Label != "" {
		return "launch " + l.Label
	}
	return "a launch"
}

func checkCopy(c *Copy) *Error {
	if c.Bytes < 0 {
		return refuse(InvalidValue, "copy of %d bytes; want 0 or more", c.Bytes)
	}
	return nil
}

func checkMemset(m *Memset) *Error {
	switch {
	case m.Width != 1 && m.Width != 2 && m.Width != 4:
		return refuse(InvalidValue, "memset of %d-byte elements; want 1, 2 or 4", m.Width)
	case m.Count < 0 || m.Count > 1<<48:
		return refuse(InvalidValue, "memset of %d elements; want 0 or more, less than 2^48", m.Count)
	case uint64(m.Dst)%uint64(m.Width) != 0:
		return refuse(InvalidValue, "memset of %d-byte elements at %#x, which is not a multiple of %d", m.Width, uint64(m.Dst), m.Width)
	}
	return nil
}

func checkHostCall(h *HostCall) *Error {
	if h.Func == nil {
		return refuse(InvalidValue, "host call %q has no function", h.Label)
	}
	return nil
}

// Submitted returns how often command i occurs among n commands, beginning with command from, of a list that has the
// given number of commands and is repeated cyclically.
func Submitted(i, from, n, commands int) int {
	if commands <= 0 {
		return 0
	}
	times := n / commands
	if (i-from+commands)%commands < n%commands {
		times++
	}
	return times
}

func refuse(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Detail: fmt.Sprintf(format, args...)}
}
