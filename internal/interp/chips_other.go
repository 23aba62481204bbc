//go:build !linux

package interp

import (
	"errors"
	"unsafe"
)

var errNoChips = errors.New("physical memory and reservations of addresses need Linux")

type chips struct{}

func (c *chips) extend(uint64) (uint64, error)             { return 0, errNoChips }
func (c *chips) discard(uint64, uint64)                    {}
func (c *chips) show(unsafe.Pointer, uint64, uint64) error { return errNoChips }

type hostRange struct{ start unsafe.Pointer }

func reserveHost(uint64) (hostRange, error)    { return hostRange{}, errNoChips }
func (h *hostRange) hide(uint64, uint64) error { return errNoChips }
func (h *hostRange) freeWith(*reservation)     {}
func (h *hostRange) free()                     {}
