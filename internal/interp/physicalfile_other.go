//go:build !linux

package interp

import (
	"errors"
	"unsafe"
)

// errNotLinux is the error of all operations on systems other than Linux.
var errNotLinux = errors.New("physical memory and reservations of addresses need Linux")

// physicalFile cannot be created on this system.
type physicalFile struct{}

func (c *physicalFile) extend(uint64) (uint64, error)                { return 0, errNotLinux }
func (c *physicalFile) discard(uint64, uint64)                       {}
func (c *physicalFile) mapInto(unsafe.Pointer, uint64, uint64) error { return errNotLinux }

// hostRange cannot be created on this system.
type hostRange struct{ start unsafe.Pointer }

func reserveHost(uint64) (hostRange, error)         { return hostRange{}, errNotLinux }
func (h *hostRange) unmapPart(uint64, uint64) error { return errNotLinux }
func (h *hostRange) freeWith(*reservation)          {}
func (h *hostRange) free()                          {}
