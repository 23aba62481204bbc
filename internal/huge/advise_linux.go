package huge

import (
	"os"
	"syscall"
	"unsafe"
)

// advise has the whole pages of b, which nobody has written to, made huge. It is advice: an error changes nothing.
func advise(b []byte) {
	page := os.Getpagesize()
	skip := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (page - 1)
	_ = syscall.Madvise(b[skip:skip+(len(b)-skip)&^(page-1)], syscall.MADV_HUGEPAGE)
}
