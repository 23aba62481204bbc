//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"bytes"
	"errors"
	"regexp"
	"strconv"
	"unsafe"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/fatbin"
)

// An image is what a program passes as code. Its first bytes determine its kind:
//
//	first bytes          kind         length                  PTX
//	50 ed 55 ba          fatbin       in its header           the newest entry that is not newer than the GPU;
//	                                                          entries may be compressed (LZ4): package fatbin
//	7f 'E' 'L' 'F'       cubin        only these 4 are read   none: CUDA_ERROR_NO_BINARY_FOR_GPU
//	"!<arch>\n"          archive      given by the caller     that of each member, only as an input of a link
//	other                PTX text     up to the NUL           the text itself
//
// Machine code cannot be executed, so a fatbin must contain PTX. Text that does not begin like PTX is
// CUDA_ERROR_INVALID_IMAGE, and a PTX version after 8.4 CUDA_ERROR_UNSUPPORTED_PTX_VERSION, the results of a driver of
// CUDA 12.4.

const elfMagic = "\x7fELF" // a cubin

// newestPTX is the PTX ISA of the driver version, times 10 (PTX ISA, release notes).
const newestPTX = 84

// imageAt returns the image at a program's pointer. Text ends with its NUL, the
// length of a fatbin is in its header, and only the magic number of a cubin is
// read.
func imageAt(p unsafe.Pointer) []byte {
	const header = 16
	text := C.GoString((*C.char)(p))
	if len(text) < len(fatbin.Magic) || text[:len(fatbin.Magic)] != fatbin.Magic {
		return []byte(text)
	}
	size, err := fatbin.Size(unsafe.Slice((*byte)(p), header))
	if err != nil {
		return []byte(text)
	}
	return bytes.Clone(unsafe.Slice((*byte)(p), size))
}

// ptxOf returns the PTX text in a module image, for a GPU of the given
// architecture.
func ptxOf(image []byte, arch int) (string, error) {
	switch {
	case bytes.HasPrefix(image, []byte(elfMagic)):
		return "", status(C.CUDA_ERROR_NO_BINARY_FOR_GPU)
	case bytes.HasPrefix(image, []byte(fatbin.Magic)):
		text, err := fatbin.PTX(image, arch)
		if errors.Is(err, fatbin.ErrNoPTX) {
			return "", status(C.CUDA_ERROR_NO_BINARY_FOR_GPU)
		} else if err != nil {
			return "", status(C.CUDA_ERROR_INVALID_IMAGE)
		}
		image = text
	}
	text, _, _ := bytes.Cut(image, []byte{0})
	if versionOf(text) > newestPTX {
		return "", status(C.CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
	}
	return string(text), nil
}

// arch returns the number of the GPU's architecture, 90 for compute capability 9.0.
func (g *gpu) arch() int { return 10*g.profile.ComputeMajor + g.profile.ComputeMinor }

// startOfPTX matches text that a driver recognizes as PTX when it must detect an image's kind:
// it begins with .version or with a comment.
var startOfPTX = regexp.MustCompile(`^\s*(\.version|//|/\*)`)

// detectPTX returns the PTX text in an image of unknown kind, and CUDA_ERROR_INVALID_IMAGE for
// text that does not begin as PTX. An input that a link declares to be PTX is not detected.
func detectPTX(image []byte, arch int) (string, error) {
	text, err := ptxOf(image, arch)
	if err == nil && !startOfPTX.MatchString(text) {
		return "", status(C.CUDA_ERROR_INVALID_IMAGE)
	}
	return text, err
}

var versionLine = regexp.MustCompile(`(?m)^\s*\.version\s+(\d{1,3})\.(\d)\b`)

// versionOf returns the PTX ISA version of a text, times 10, or 0 without one.
func versionOf(text []byte) int {
	m := versionLine.FindSubmatch(text)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(m[1]) + string(m[2]))
	return n
}
