package interp

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// physicalFile is the file that contains all physical memory of a space. Freed memory
// becomes a hole in it. Offsets are not reused, and the host has pages only for memory that
// was touched.
type physicalFile struct {
	file *os.File
	size uint64
}

// extend appends n zeroed bytes, and creates the file at the first call.
func (c *physicalFile) extend(n uint64) (offset uint64, err error) {
	if c.file == nil {
		fd, err := unix.MemfdCreate("reprise-gpu", unix.MFD_CLOEXEC)
		if err != nil {
			return 0, err
		}
		c.file = os.NewFile(uintptr(fd), "reprise-gpu")
	}
	if err := c.file.Truncate(int64(c.size + n)); err != nil {
		return 0, err
	}
	c.size += n
	return c.size - n, nil
}

// discard frees pages. If the system does not support holes, they remain until the
// space is garbage collected.
func (c *physicalFile) discard(offset, n uint64) {
	_ = unix.Fallocate(int(c.file.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, int64(offset), int64(n))
}

// mapInto maps a part of the file into a host range.
func (c *physicalFile) mapInto(at unsafe.Pointer, offset, n uint64) error {
	_, err := unix.MmapPtr(int(c.file.Fd()), int64(offset), at, uintptr(n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_FIXED|unix.MAP_NORESERVE)
	return err
}

// hostRange is a range of host addresses. It has no memory except for the parts that
// mapInto maps.
type hostRange struct {
	start   unsafe.Pointer
	size    uint64
	cleanup runtime.Cleanup
}

// reserveFlags reserve addresses without memory.
const reserveFlags = unix.MAP_PRIVATE | unix.MAP_ANON | unix.MAP_NORESERVE

// reserveHost reserves n host addresses. An access to them is a fault of the process.
func reserveHost(n uint64) (hostRange, error) {
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(n), unix.PROT_NONE, reserveFlags)
	return hostRange{start: p, size: n}, err
}

// unmapPart removes the mapping of a part of the range.
func (h *hostRange) unmapPart(off, n uint64) error {
	_, err := unix.MmapPtr(-1, 0, h.at(off), uintptr(n), unix.PROT_NONE, reserveFlags|unix.MAP_FIXED)
	return err
}

// freeWith frees the range when its reservation is garbage collected, in a space that
// was never closed.
func (h *hostRange) freeWith(r *reservation) {
	start, size := h.start, h.size
	h.cleanup = runtime.AddCleanup(r, func(uintptr) { unmapRange(start, size) }, 0)
}

// free frees the range.
func (h *hostRange) free() {
	h.cleanup.Stop()
	unmapRange(h.start, h.size)
}

// unmapRange unmaps addresses that reserveHost returned.
func unmapRange(start unsafe.Pointer, n uint64) {
	if err := unix.MunmapPtr(start, uintptr(n)); err != nil {
		panic(fmt.Sprintf("BUG: reserved addresses cannot be unmapped: %v", err))
	}
}
