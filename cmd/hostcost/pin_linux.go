//go:build cuda && cgo

package main

import (
	"fmt"
	"math/bits"
	"syscall"
	"unsafe"
)

// pin binds the calling thread, and the processes that it starts, to one of the processors it may use. Processors may
// differ in speed, and a move to another one loses the contents of the caches.
func pin() error {
	var mask [16]uint64
	affinity := func(call uintptr) error {
		if _, _, e := syscall.RawSyscall(call, 0, unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask))); e != 0 {
			return fmt.Errorf("keep to one processor: %w", e)
		}
		return nil
	}
	if err := affinity(syscall.SYS_SCHED_GETAFFINITY); err != nil {
		return err
	}
	for i, word := range mask {
		if word != 0 {
			clear(mask[:])
			mask[i] = 1 << (bits.Len64(word) - 1)
			return affinity(syscall.SYS_SCHED_SETAFFINITY)
		}
	}
	panic("BUG: a thread without a processor")
}
