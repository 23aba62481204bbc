//go:build cuda

package simabi

// #include <cuda.h>
import "C"

import (
	"bytes"
	"regexp"
	"strconv"
	"unsafe"
)

// What a module image may begin with, if it is not PTX text.
var (
	elfMagic    = []byte("\x7fELF")          // a cubin
	fatbinMagic = []byte("\x50\xed\x55\xba") // 0xBA55ED50: images for several architectures
)

// newestPTX is the PTX ISA of the driver version, times 10 (PTX ISA, release notes).
const newestPTX = 84

// imageAt is the image that a program points to. Text ends with its NUL; of a binary
// image only the magic number is looked at.
func imageAt(p unsafe.Pointer) []byte {
	return []byte(C.GoString((*C.char)(p)))
}

// ptxOf is the PTX text of a module image.
func ptxOf(image []byte) (string, error) {
	if bytes.HasPrefix(image, elfMagic) || bytes.HasPrefix(image, fatbinMagic) {
		return "", status(C.CUDA_ERROR_NO_BINARY_FOR_GPU)
	}
	text, _, _ := bytes.Cut(image, []byte{0})
	if versionOf(text) > newestPTX {
		return "", status(C.CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
	}
	return string(text), nil
}

var versionLine = regexp.MustCompile(`(?m)^\s*\.version\s+(\d{1,3})\.(\d)\b`)

// versionOf is the PTX ISA that a text asks for, times 10, 0 when it does not say.
func versionOf(text []byte) int {
	m := versionLine.FindSubmatch(text)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(m[1]) + string(m[2]))
	return n
}
