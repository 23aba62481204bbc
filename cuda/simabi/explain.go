//go:build cuda && cgo

package simabi

// #include <reprise.h>
// #include <string.h>
import "C"

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
)

// explain writes to standard error what a code cannot express: the thread of the
// kernel and the address. It does so only if $REPRISE_SIM_VERBOSE is set, since a
// driver is silent.
func explain(err error) {
	if verbose() {
		fmt.Fprintln(os.Stderr, "libcudasim:", err)
	}
}

// verbose reports whether $REPRISE_SIM_VERBOSE is set.
func verbose() bool { return getenv("REPRISE_SIM_VERBOSE") != "" }

// sim_repriseLastError stores the details of the last call of the process that failed with more than a code; see
// reprise.h.
//
//export sim_repriseLastError
func sim_repriseLastError(to *C.repriseError) C.CUresult {
	driver.mu.Lock()
	defer driver.mu.Unlock()
	if to == nil {
		return result(invalidValue)
	}
	*to = C.repriseError{}
	var e *device.Error
	switch {
	case driver.failure == nil:
	case errors.As(driver.failure, &e):
		to.code = C.CUresult(e.Code)
		put(to.detail[:], detail(e))
		if e.Fault != nil {
			putFault(to, e.Fault)
		}
	default:
		to.code = C.CUDA_ERROR_UNKNOWN
		put(to.detail[:], driver.failure.Error())
	}
	return C.CUDA_SUCCESS
}

// detail returns the text of an error without its code and its fault.
func detail(e *device.Error) string {
	switch {
	case e.Err == nil:
		return e.Detail
	case e.Detail == "":
		return e.Err.Error()
	}
	return e.Detail + ": " + e.Err.Error()
}

// putFault stores the position of a fault in a kernel.
func putFault(to *C.repriseError, f *device.Fault) {
	put(to.kernel[:], f.Kernel)
	put(to.label[:], f.Label)
	put(to.file[:], f.File)
	put(to.source[:], f.Source)
	put(to.reason[:], f.Reason)
	for i := range 3 {
		to.block[i], to.thread[i] = C.uint(f.Block[i]), C.uint(f.Thread[i])
	}
	to.line, to.address = C.int(f.Line), C.uint64_t(f.Address)
	if f.Refused {
		to.refused = 1
	}
}

// put stores a text, truncated to fit before the final zero byte.
func put(to []C.char, text string) {
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&to[0])), len(to))
	bytes[copy(bytes[:len(bytes)-1], text)] = 0
}

// labels interns the names that programs set, so that a repeated name does not
// allocate.
var labels = map[string]string{}

const maxLabels = 1 << 14

// sim_repriseLabel sets the label of the calling thread. The next call that creates an object or enqueues work takes
// it.
//
//export sim_repriseLabel
func sim_repriseLabel(name *C.char) C.CUresult {
	return attend(func(t *thread) error {
		if name == nil {
			t.label = ""
			return nil
		}
		const most = 255
		text := unsafe.Slice((*byte)(unsafe.Pointer(name)), C.strnlen(name, most))
		known, ok := labels[string(text)]
		if !ok {
			if len(labels) == maxLabels {
				clear(labels)
			}
			known = string(text)
			labels[known] = known
		}
		t.label = known
		return nil
	})
}

// label returns, once, the name that the caller has set for the object that its
// call creates.
func label() (name string) {
	if t := driver.caller; t != nil {
		name, t.label = t.label, ""
	}
	return name
}
