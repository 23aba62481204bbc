//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"fmt"
	"os"
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
)

// Memory is shared with another process as follows. The handle is plain bytes, which the processes exchange themselves:
//
//	exporting process                              importing process
//	cuMemAlloc ─► bytes in the simulator
//	cuIpcGetMemHandle:
//	  export: move the bytes to a memfd
//	  handle {nonce, pid, fd, size} ─────────────► cuIpcOpenMemHandle:
//	                                                 open /proc/PID/fd/FD, compare the nonce in its name
//	                                                 map it, and import it as memory of the context
//
// Both processes then access the same pages. Their virtual times are independent, so the program must synchronize the
// processes itself, and events cannot be shared.

// ipcHandle is the content of a CUipcMemHandle: the process and descriptor of the
// memory, and a nonce that distinguishes it from later memory with the same
// descriptor.
type ipcHandle struct {
	nonce         [16]byte
	pid, fd, size int64
}

var _ [C.CU_IPC_HANDLE_SIZE - unsafe.Sizeof(ipcHandle{})]byte // it fits

// exportable reports whether other processes can open the block: it must be memory
// of cuMemAlloc in this process.
func (b *block) exportable() bool {
	return b != nil && b.kind == deviceBlock && b.pool == nil && b.opens == 0
}

// export moves a block to memory that other processes can map, unless it is there
// already.
func (b *block) export() error {
	if b.shared != nil {
		return nil
	}
	f, err := newMemfd(b.size)
	if err != nil {
		return fmt.Errorf("%w: %w", status(C.CUDA_ERROR_OUT_OF_MEMORY), err)
	}
	pages, err := f.pages(b.size)
	if err != nil {
		f.close()
		return fmt.Errorf("%w: %w", status(C.CUDA_ERROR_MAP_FAILED), err)
	}
	if err := b.context.sim.ShareMemory(b.at, pages); err != nil {
		unmapHost(pages)
		f.close()
		return err
	}
	b.shared, b.pages = f, pages
	return nil
}

// sim_cuIpcGetMemHandle exports the whole allocation that contains an address.
//
//export sim_cuIpcGetMemHandle
func sim_cuIpcGetMemHandle(out *C.CUipcMemHandle, p C.CUdeviceptr) C.CUresult {
	return inContextUnsafe(func(*context) error {
		b := blocks.at(p)
		if out == nil || !b.exportable() {
			return invalidValue
		}
		if err := b.export(); err != nil {
			return err
		}
		*out = C.CUipcMemHandle{}
		*(*ipcHandle)(unsafe.Pointer(out)) = ipcHandle{b.shared.nonce, int64(os.Getpid()), int64(b.shared.fd), b.size}
		return nil
	})
}

// opened returns the block of a handle that the context has opened, or nil.
func (c *context) opened(h *ipcHandle) *block {
	for _, b := range blocks {
		if b.context == c && b.opens > 0 && b.shared.nonce == h.nonce {
			return b
		}
	}
	return nil
}

// importBlock maps the memory of a handle.
func (c *context) importBlock(h *ipcHandle) (*block, error) {
	f, err := findMemfd(h.pid, h.fd, h.nonce)
	if err != nil {
		return nil, fmt.Errorf("%w: no process has the memory of the handle: it was freed, or the process has ended: %w", invalidValue, err)
	}
	if f.size() != h.size {
		f.close()
		return nil, invalidValue
	}
	pages, err := f.pages(h.size)
	if err != nil {
		f.close()
		return nil, fmt.Errorf("%w: %w", status(C.CUDA_ERROR_MAP_FAILED), err)
	}
	at, err := c.sim.ImportMemory(pages)
	if err != nil {
		unmapHost(pages)
		f.close()
		return nil, err
	}
	return blocks.add(&block{at: at, size: h.size, context: c, shared: f, pages: pages}), nil
}

// sim_cuIpcOpenMemHandle_v2 maps memory of another process. A handle that the context has open is counted.
//
//simabi:also cuIpcOpenMemHandle
//export sim_cuIpcOpenMemHandle_v2
func sim_cuIpcOpenMemHandle_v2(out *C.CUdeviceptr, handle C.CUipcMemHandle, flags C.uint) C.CUresult {
	return inContextUnsafe(func(c *context) error {
		h := (*ipcHandle)(unsafe.Pointer(&handle))
		switch {
		case out == nil || flags != C.CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS || h.size <= 0:
			return invalidValue
		case h.pid == int64(os.Getpid()):
			return fmt.Errorf("%w: this process exported the memory: use the address that was exported", invalidContext)
		}
		b := c.opened(h)
		if b == nil {
			var err error
			if b, err = c.importBlock(h); err != nil {
				return err
			}
		}
		b.opens++
		*out = C.CUdeviceptr(b.at)
		return nil
	})
}

// sim_cuIpcCloseMemHandle closes a handle once. The last close unmaps the memory of the other process.
//
//export sim_cuIpcCloseMemHandle
func sim_cuIpcCloseMemHandle(p C.CUdeviceptr) C.CUresult {
	return onNamedUnsafe(func() error {
		b := blocks.starting(device.Ptr(p))
		if b == nil || b.opens == 0 {
			return invalidValue
		}
		if b.opens > 1 {
			b.opens--
			return nil
		}
		return b.free()
	})
}
