//go:build cuda && cgo

package simabi

// #define _GNU_SOURCE // memfd_create
// #include <fcntl.h>
// #include <stdlib.h>
// #include <sys/mman.h>
// #include <unistd.h>
//
// static void *map_shared(int fd, size_t n) {
// 	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
// 	return p == MAP_FAILED ? NULL : p;
// }
//
// static int open_memfd(const char *path) { return open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); }
import "C"

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"unsafe"
)

// memfd is memory with a file descriptor, which can be mapped several times, also
// by another process while this one keeps the descriptor open. It is separate from
// the file in which package interp keeps all physical memory: another process opens
// a descriptor as a whole and finds it by its name, so each exported allocation
// needs its own file and name.
type memfd struct {
	fd    C.int
	nonce [16]byte // part of the name
}

// memfdName returns the unique name of the memory with a nonce.
func memfdName(nonce [16]byte) string { return "reprise-" + hex.EncodeToString(nonce[:]) }

// newMemfd returns n zeroed bytes, which use no host memory until they are written.
func newMemfd(n int64) (*memfd, error) {
	f := &memfd{}
	_, _ = rand.Read(f.nonce[:])
	name := C.CString(memfdName(f.nonce))
	defer C.free(unsafe.Pointer(name))
	fd, err := C.memfd_create(name, C.MFD_CLOEXEC)
	if fd < 0 {
		return nil, fmt.Errorf("memory that other processes can map: %w", err)
	}
	f.fd = fd
	if bad, err := C.ftruncate(fd, C.off_t(n)); bad != 0 {
		f.close()
		return nil, fmt.Errorf("%d bytes of memory that other processes can map: %w", n, err)
	}
	return f, nil
}

// findMemfd opens the memory with a nonce that is descriptor fd of another process.
func findMemfd(pid, fd int64, nonce [16]byte) (*memfd, error) {
	path := fmt.Sprintf("/proc/%d/fd/%d", pid, fd)
	if err := checkMemfd(path, nonce); err != nil { // opening another file could have side effects
		return nil, err
	}
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	own, err := C.open_memfd(name)
	if own < 0 {
		return nil, fmt.Errorf("memory of process %d: %w", pid, err)
	}
	f := &memfd{own, nonce}
	if err := checkMemfd(fmt.Sprintf("/proc/self/fd/%d", own), nonce); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// checkMemfd reports why a descriptor is not the memory with a nonce.
func checkMemfd(path string, nonce [16]byte) error {
	have, err := os.Readlink(path)
	switch {
	case err != nil:
		return err
	case have != "/memfd:"+memfdName(nonce)+" (deleted)":
		return fmt.Errorf("%s is another file", path)
	}
	return nil
}

// size returns the size in bytes.
func (f *memfd) size() int64 { return int64(C.lseek(f.fd, 0, C.SEEK_END)) }

// pages maps the first n bytes, until unmapHost.
func (f *memfd) pages(n int64) ([]byte, error) {
	p, err := C.map_shared(f.fd, C.size_t(n))
	if p == nil {
		return nil, fmt.Errorf("%d bytes of memory that other processes can map: %w", n, err)
	}
	return unsafe.Slice((*byte)(p), n), nil
}

// close closes the descriptor. Mappings remain.
func (f *memfd) close() { C.close(f.fd) }
