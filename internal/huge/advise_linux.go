package huge

import (
	"os"
	"syscall"
	"unsafe"
)

// advise advises the kernel to use huge pages for the whole pages of b, which has not been written to. Errors are ignored,
// because the advice is optional.
func advise(b []byte) {
	page := os.Getpagesize()
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (page - 1)
	_ = syscall.Madvise(b[skip:skip+(len(b)-skip)&^(page-1)], syscall.MADV_HUGEPAGE)
}
