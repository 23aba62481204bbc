//go:build cuda && cgo

package simabi

// #include <cuda.h>
import "C"

import (
	"errors"
	"fmt"
	"time"
	"unsafe"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// Options are pairs of a number and a value. The value is stored in the bytes of a pointer, or is a pointer to a
// result:
//
//	option                 value                     effect
//	WALL_TIME              float, result             time of the compilation in ms
//	INFO_LOG_BUFFER        char *                    receives the info log
//	INFO_LOG_..._BYTES     unsigned, size and result size of that buffer, then the bytes used
//	ERROR_LOG_BUFFER       char *                    receives the error, see compilerMessage
//	ERROR_LOG_..._BYTES    unsigned, size and result size of that buffer, then the bytes used
//	LOG_VERBOSE            int                       the info log describes each kernel
//	MAX_REGISTERS          unsigned                  limit of registers per thread
//	all others                                       none: they affect machine code, which is not generated

// jit contains a program's options for the compiler.
type jit struct {
	begun         time.Time
	wallTime      *C.float // ms
	info, failure jitLog
	verbose       bool // the info log describes each kernel
	maxRegisters  int  // per thread, 0 for any number
}

// limitRegisters applies CU_JIT_MAX_REGISTERS. A kernel's own .maxnreg takes precedence.
func (j *jit) limitRegisters(m *ptx.Module) {
	for _, f := range m.Funcs {
		if f.Entry && f.MaxRegs == 0 {
			f.MaxRegs = uint32(j.maxRegisters)
		}
	}
}

// jitLog is a buffer for messages. Its size is an input, and the number of bytes
// used an output.
type jitLog struct {
	buffer *byte
	size   *C.uint
	room   int // the size of the buffer
	text   string
}

// newJIT reads a list of options. A value is stored in place of a pointer.
func newJIT(n C.uint, options *C.CUjit_option, values *unsafe.Pointer) (*jit, error) {
	if n > 0 && (options == nil || values == nil) {
		return nil, invalidValue
	}
	j := &jit{begun: time.Now()}
	for i, o := range unsafe.Slice(options, n) {
		value := unsafe.Add(unsafe.Pointer(values), uintptr(i)*unsafe.Sizeof(*values))
		switch o {
		case C.CU_JIT_WALL_TIME:
			j.wallTime = (*C.float)(value)
		case C.CU_JIT_INFO_LOG_BUFFER:
			j.info.buffer = *(**byte)(value)
		case C.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
			j.info.size = (*C.uint)(value)
		case C.CU_JIT_ERROR_LOG_BUFFER:
			j.failure.buffer = *(**byte)(value)
		case C.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
			j.failure.size = (*C.uint)(value)
		case C.CU_JIT_LOG_VERBOSE:
			j.verbose = *(*C.int)(value) != 0
		case C.CU_JIT_MAX_REGISTERS:
			j.maxRegisters = int(*(*C.uint)(value))
		}
		if o >= C.CU_JIT_NUM_OPTIONS {
			return nil, invalidValue
		}
	}
	j.info.open()
	j.failure.open()
	return j, nil
}

// report stores the results of a compilation that ended with err.
func (j *jit) report(err error) {
	message := ""
	if err != nil {
		message = compilerMessage(err)
	}
	j.failure.put(message)
	j.info.put(j.info.text)
	if j.wallTime != nil {
		*j.wallTime = C.float(time.Since(j.begun).Seconds() * 1e3)
	}
}

// describe writes the resources of a kernel to the info log.
func (j *jit) describe(f *sim.FunctionInfo) {
	if j.verbose {
		j.info.text += fmt.Sprintf("%s: %d registers, %d bytes of parameters, %d of shared and %d of local memory\n",
			f.Name, f.Registers, f.ParamBytes, f.Shared, f.Local)
	}
}

// compilerMessage returns the compiler's part of an error, without the call and the
// code, which the program has.
func compilerMessage(err error) string {
	var d *device.Error
	if errors.As(err, &d) && d.Err != nil {
		return d.Err.Error()
	}
	return err.Error()
}

// open stores the size of the buffer after all options have been read.
func (l *jitLog) open() {
	if l.buffer != nil && l.size != nil {
		l.room = int(*l.size)
	}
}

// put stores a text with its NUL, truncated to the buffer.
func (l *jitLog) put(text string) {
	if l.room == 0 {
		return
	}
	room := unsafe.Slice(l.buffer, l.room)
	n := copy(room[:l.room-1], text)
	room[n] = 0
	*l.size = C.uint(n)
}

// rejected returns the error for an image that is not PTX.
func rejected(name string, err error) error {
	return &device.Error{Call: "compile", Code: device.InvalidPTX, Detail: "module " + name, Err: err}
}
