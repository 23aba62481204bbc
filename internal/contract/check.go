// Package contract holds what implementations of device.Device share, so that all return the same results, codes and
// texts: checks of arguments, tables of handles and of allocations, and the run of a host call.
package contract

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/absent"
)

// KindOf returns the kind of a work: "launch", "cooperative launch", "copy", "memset", "host call", "prefetch" or
// "nothing". It returns "" for nil and for any other type. An update must keep the kind: a driver cannot make the
// launch of a node cooperative.
func KindOf(w device.Work) string {
	switch w := w.(type) {
	case *device.Launch:
		if w != nil && w.Cooperative {
			return "cooperative launch"
		}
		return ifSet(w != nil, "launch")
	case *device.Copy:
		return ifSet(w != nil, "copy")
	case *device.Memset:
		return ifSet(w != nil, "memset")
	case *device.HostCall:
		return ifSet(w != nil, "host call")
	case *device.Prefetch:
		return ifSet(w != nil, "prefetch")
	case device.Nothing:
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
	maxGrid  = device.Dim3{X: 1<<31 - 1, Y: 65535, Z: 65535}
	maxBlock = device.Dim3{X: 1024, Y: 1024, Z: 64}
)

// CheckWork checks the properties of a work that need no lookup of handles or addresses: extents, widths, counts and
// missing functions. Every implementation of Device calls it first, so that all return the same code and the same
// text. The Call of the returned *Error is empty.
func CheckWork(w device.Work, info *device.Info) *device.Error {
	switch w := w.(type) {
	case *device.Launch:
		if w != nil {
			return checkLaunch(w, info)
		}
	case *device.Copy:
		if w != nil {
			return checkCopy(w)
		}
	case *device.Memset:
		if w != nil {
			return checkMemset(w)
		}
	case *device.HostCall:
		if w != nil {
			return checkHostCall(w)
		}
	case *device.Prefetch:
		if w != nil {
			return checkPrefetch(w, info)
		}
	case device.Nothing:
		return nil
	}
	if w != nil && absent.Is(w) {
		return refuse(device.InvalidValue, "the work is a nil %T", w)
	}
	return refuse(device.InvalidValue, "no work given; want *Launch, *Copy, *Memset, *HostCall, *Prefetch or Nothing, got %T", w)
}

// UnknownCommand returns the error for a command of an unknown kind.
func UnknownCommand(k device.CommandKind) *device.Error {
	return refuse(device.InvalidValue, "kind %d is none of Run, Record, Await, RunGraph and AwaitPeer", k)
}

// CheckRange checks the arguments of SubmitCommands: n commands, beginning with command from, of a list that has the
// given number of commands and is repeated cyclically.
func CheckRange(from, n, commands int) *device.Error {
	switch {
	case n < 0 || from < 0 || from >= max(1, commands):
		return refuse(device.InvalidValue, "%d commands from command %d on; the list has %d", n, from, commands)
	case n > 0 && commands == 0:
		return refuse(device.InvalidValue, "%d commands of a list that has none", n)
	}
	return nil
}

func checkLaunch(l *device.Launch, info *device.Info) *device.Error {
	switch {
	case !within(l.Grid, maxGrid):
		return refuse(device.InvalidValue, "grid %v of %s; every extent must be at least 1 and at most %v", l.Grid, name(l), maxGrid)
	case !within(l.Block, maxBlock):
		return refuse(device.InvalidValue, "block %v of %s; every extent must be at least 1 and at most %v", l.Block, name(l), maxBlock)
	case l.Block.Count() > uint64(info.MaxThreads):
		return refuse(device.InvalidValue, "block %v of %s has %d threads; the device allows %d", l.Block, name(l), l.Block.Count(), info.MaxThreads)
	case int64(l.Shared) > int64(info.MaxShared):
		return refuse(device.InvalidValue, "%d bytes of dynamic shared memory for %s; the device allows %d", l.Shared, name(l), info.MaxShared)
	}
	return nil
}

func within(d, most device.Dim3) bool {
	return 0 < d.X && d.X <= most.X && 0 < d.Y && d.Y <= most.Y && 0 < d.Z && d.Z <= most.Z
}

// name returns the name of a launch in errors.
func name(l *device.Launch) string {
	if l.Label != "" {
		return "launch " + l.Label
	}
	return "a launch"
}

func checkCopy(c *device.Copy) *device.Error {
	if c.Bytes < 0 {
		return refuse(device.InvalidValue, "copy of %d bytes; want 0 or more", c.Bytes)
	}
	return nil
}

func checkMemset(m *device.Memset) *device.Error {
	switch {
	case m.Width != 1 && m.Width != 2 && m.Width != 4:
		return refuse(device.InvalidValue, "memset of %d-byte elements; want 1, 2 or 4", m.Width)
	case m.Count < 0 || m.Count > 1<<48:
		return refuse(device.InvalidValue, "memset of %d elements; want 0 or more, less than 2^48", m.Count)
	case uint64(m.Dst)%uint64(m.Width) != 0:
		return refuse(device.InvalidValue, "memset of %d-byte elements at %#x, which is not a multiple of %d", m.Width, uint64(m.Dst), m.Width)
	}
	return nil
}

func checkPrefetch(p *device.Prefetch, info *device.Info) *device.Error {
	switch {
	case p.Bytes <= 0:
		return refuse(device.InvalidValue, "prefetch of %d bytes; want 1 or more", p.Bytes)
	case info.ComputeMajor < 6:
		return refuse(device.InvalidDevice, "a prefetch on a device of compute capability %d.%d, which moves all managed memory when a kernel starts; leave it out",
			info.ComputeMajor, info.ComputeMinor)
	}
	return nil
}

func checkHostCall(h *device.HostCall) *device.Error {
	if h.Func == nil {
		return refuse(device.InvalidValue, "host call %q has no function", h.Label)
	}
	return nil
}

// CheckNodeWork returns an error if a graph node cannot hold the work.
func CheckNodeWork(w device.Work) *device.Error {
	if p, ok := w.(*device.Prefetch); ok && p != nil {
		return refuse(device.NotSupported, "a prefetch cannot be a node of a graph; enqueue it in the stream of the graph's launch")
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

func refuse(code device.Code, format string, args ...any) *device.Error {
	return &device.Error{Code: code, Detail: fmt.Sprintf(format, args...)}
}
