//go:build cuda

package cuda

/*
#cgo CFLAGS: -I${SRCDIR}/include
#include "driver.h"
#include "reprise.h"
#include <stdlib.h>
#include <string.h>

#cgo noescape driver_submit
#cgo noescape driver_synchronize
#cgo noescape driver_launch_graph
*/
import "C"

import (
	"runtime/cgo"
	"time"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/reprise-gpu/reprise/device"
)

// This is the one file of the package that speaks C; the others use these names.
// Handles of gorgonia.org/cu are structs of one C handle, of its own copy of the C
// types: handleOf is the same handle in ours.
type (
	command   struct{ raw C.struct_command }
	graphNode = C.CUgraphNode
	graphExec = C.CUgraphExec
)

func handleOf[To, From any](from From) To { return *(*To)(unsafe.Pointer(&from)) }

// set makes c the command of a work whose handles and addresses were looked up, on a GPU. What
// it held before is freed or used again.
func (c *command) set(w device.Work, gpu cu.Device, f cu.Function, hosts copyHosts, call cgo.Handle, priority int) {
	switch w := w.(type) {
	case *device.Launch:
		c.raw.kind = C.command_launch
		c.setLabel(w.Label)
		c.setLaunch(w, f, priority)
	case *device.Copy:
		c.raw.kind = C.command_copy
		c.setLabel(w.Label)
		c.raw.copy = C.struct_copy{
			dst: C.CUdeviceptr(w.Dst), src: C.CUdeviceptr(w.Src), bytes: C.size_t(w.Bytes),
			dst_is_host: flag(hosts.dst), src_is_host: flag(hosts.src),
		}
	case *device.Memset:
		c.raw.kind = C.command_fill
		c.setLabel(w.Label)
		c.raw.fill = C.struct_fill{dst: C.CUdeviceptr(w.Dst), value: C.uint(w.Value), width: C.uint(w.Width), count: C.size_t(w.Count)}
	case *device.Prefetch:
		c.raw.kind = C.command_prefetch
		c.setLabel(w.Label)
		to := C.CUdevice(C.CU_DEVICE_CPU)
		if w.ToDevice {
			to = C.CUdevice(gpu)
		}
		c.raw.prefetch = C.struct_prefetch{at: C.CUdeviceptr(w.At), bytes: C.size_t(w.Bytes), to: to}
	case *device.HostCall:
		c.raw.kind = C.command_call
		c.setLabel(w.Label)
		c.raw.call = C.uintptr_t(call)
	default:
		c.raw.kind = C.command_nothing
	}
}

func flag(on bool) C.int {
	if on {
		return 1
	}
	return 0
}

func (c *command) setLaunch(w *device.Launch, f cu.Function, priority int) {
	l := &c.raw.launch
	l.function = handleOf[C.CUfunction](f)
	l.grid = [3]C.uint{C.uint(w.Grid.X), C.uint(w.Grid.Y), C.uint(w.Grid.Z)}
	l.block = [3]C.uint{C.uint(w.Block.X), C.uint(w.Block.Y), C.uint(w.Block.Z)}
	l.shared, l.cooperative, l.priority = C.uint(w.Shared), flag(w.Cooperative), C.int(priority)
	l.bytes = C.size_t(len(w.Params))
	if l.room < l.bytes {
		l.params, l.room = C.realloc(l.params, l.bytes), l.bytes
	}
	copy(unsafe.Slice((*byte)(l.params), len(w.Params)), w.Params)
}

// setLabel keeps the label for whoever can show it, which a GPU's driver cannot.
func (c *command) setLabel(label string) {
	if !simulated() {
		return
	}
	c.raw.labelled = 1
	text := unsafe.Slice((*byte)(unsafe.Pointer(&c.raw.label[0])), len(c.raw.label))
	text[copy(text[:len(text)-1], label)] = 0
}

// newCommands is room for n commands in C memory, where the driver may read them
// whatever Go's collector does.
func newCommands(n int) []command {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*command)(C.calloc(C.size_t(n), C.sizeof_struct_command)), n)
}

func freeCommands(cs []command) {
	for i := range cs {
		C.free(cs[i].raw.launch.params)
	}
	C.free(unsafe.Pointer(unsafe.SliceData(cs)))
}

// on sends the command to a stream; mark and await make it one of an event.
func (c *command) on(s cu.Stream) { c.raw.stream = handleOf[C.CUstream](s) }

func (c *command) mark(e cu.Event, s cu.Stream) {
	c.raw.kind, c.raw.event = C.command_record, handleOf[C.CUevent](e)
	c.on(s)
}

func (c *command) await(e cu.Event, s cu.Stream) {
	c.raw.kind, c.raw.event = C.command_await, handleOf[C.CUevent](e)
	c.on(s)
}

// records reports whether the command is the record of an event.
func (c *command) records() bool { return c.raw.kind == C.command_record }

// calls is the function of the driver that the command calls.
func (c *command) calls() string {
	switch c.raw.kind {
	case C.command_launch:
		return "cuLaunchKernel"
	case C.command_copy:
		return "cuMemcpyAsync"
	case C.command_fill:
		return "cuMemsetAsync"
	case C.command_call:
		return "cuLaunchHostFunc"
	case C.command_prefetch:
		return "cuMemPrefetchAsync"
	case C.command_record:
		return "cuEventRecord"
	}
	return "cuStreamWaitEvent"
}

// driver is a context seen from any thread. Every method is one crossing into C.
type driver struct{ context C.CUcontext }

func driverOf(c cu.CUContext) driver { return driver{handleOf[C.CUcontext](c)} }

// submit enqueues commands; of a failure it says at which.
func (d driver) submit(cs []command) (int, device.Code) {
	if len(cs) == 0 {
		return 0, 0
	}
	o := C.driver_submit(d.context, &unsafe.SliceData(cs).raw, C.size_t(len(cs)))
	return int(o.at), device.Code(o.code)
}

func (d driver) synchronize(s cu.Stream) device.Code {
	return device.Code(C.driver_synchronize(d.context, handleOf[C.CUstream](s)))
}

func (d driver) synchronizeAll() device.Code {
	return device.Code(C.driver_synchronize_all(d.context))
}

func (d driver) addNode(g cu.Graph, after []graphNode, c *command) (n graphNode, code device.Code) {
	code = device.Code(C.driver_add_node(d.context, handleOf[C.CUgraph](g), unsafe.SliceData(after), C.size_t(len(after)), &c.raw, &n))
	return n, code
}

func (d driver) createCondition(g cu.Graph, initial uint32) (device.Condition, device.Code) {
	var c C.CUgraphConditionalHandle
	code := C.driver_create_condition(d.context, handleOf[C.CUgraph](g), C.uint(initial), &c)
	return device.Condition(c), device.Code(code)
}

var conditionalTypes = [...]C.int{
	device.If: C.CU_GRAPH_COND_TYPE_IF, device.While: C.CU_GRAPH_COND_TYPE_WHILE, device.Switch: C.CU_GRAPH_COND_TYPE_SWITCH,
}

// addConditional fills bodies, which has the length that c asks for.
func (d driver) addConditional(g cu.Graph, after []graphNode, c *device.Conditional, bodies []cu.Graph) (n graphNode, code device.Code) {
	graphs := make([]C.CUgraph, len(bodies))
	code = device.Code(C.driver_add_conditional(d.context, handleOf[C.CUgraph](g), unsafe.SliceData(after), C.size_t(len(after)),
		C.CUgraphConditionalHandle(c.Condition), conditionalTypes[c.Kind], C.uint(len(graphs)), &n, unsafe.SliceData(graphs)))
	for i := range graphs {
		bodies[i] = handleOf[cu.Graph](graphs[i])
	}
	return n, code
}

func (d driver) instantiate(g cu.Graph, priorities bool) (x graphExec, code device.Code) {
	code = device.Code(C.driver_instantiate(d.context, handleOf[C.CUgraph](g), flag(priorities), &x))
	return x, code
}

func (d driver) updateNode(x graphExec, n graphNode, c *command) device.Code {
	return device.Code(C.driver_update_node(d.context, x, n, &c.raw))
}

func (d driver) enableNode(x graphExec, n graphNode, on bool) device.Code {
	return device.Code(C.driver_enable_node(d.context, x, n, flag(on)))
}

func (d driver) launchGraph(x graphExec, s cu.Stream) device.Code {
	return device.Code(C.driver_launch_graph(d.context, x, handleOf[C.CUstream](s)))
}

// allocHost is pinned memory; the address is the same for copies and for Go.
func (d driver) allocHost(bytes int64) (unsafe.Pointer, device.Code) {
	var p unsafe.Pointer
	code := device.Code(C.driver_alloc_host(d.context, C.size_t(bytes), &p))
	return p, code
}

// paramBytes is the size of a function's parameter block. Drivers before CUDA 12.4 do not
// tell.
func (d driver) paramBytes(f cu.Function) (int, bool) {
	var n C.size_t
	code := C.driver_param_bytes(d.context, handleOf[C.CUfunction](f), &n)
	return int(n), code == C.CUDA_SUCCESS
}

// allowShared lets launches of a function ask for so much dynamic shared memory.
func (d driver) allowShared(f cu.Function, bytes int) device.Code {
	return device.Code(C.driver_allow_shared(d.context, handleOf[C.CUfunction](f), C.uint(bytes)))
}

func inHostCall() bool { return C.driver_in_host_call() != 0 }

// nameOf and textOf are what the driver calls a code.
func nameOf(c device.Code) string {
	var s *C.char
	C.cuGetErrorName(C.CUresult(c), &s)
	return C.GoString(s)
}

func textOf(c device.Code) string {
	var s *C.char
	C.cuGetErrorString(C.CUresult(c), &s)
	return C.GoString(s)
}

// label names what the calling thread's next call makes, for the simulator's errors.
func label(name string) {
	if !simulated() {
		return
	}
	s := C.CString(name)
	C.repriseLabel(s)
	C.free(unsafe.Pointer(s))
}

// lastError is what the simulator says about the last failure, if that is what the
// code stands for. A GPU's driver says nothing.
func lastError(code device.Code) (detail string, fault *device.Fault) {
	var e C.repriseError
	if C.repriseLastError(&e) != C.CUDA_SUCCESS || device.Code(e.code) != code {
		return "", nil
	}
	if e.kernel[0] != 0 {
		fault = &device.Fault{
			Kernel: C.GoString(&e.kernel[0]), Label: C.GoString(&e.label[0]),
			File: C.GoString(&e.file[0]), Line: int(e.line), Source: C.GoString(&e.source[0]),
			Address: uint64(e.address), Reason: C.GoString(&e.reason[0]), Refused: e.refused != 0,
		}
		for i := range 3 {
			fault.Block[i], fault.Thread[i] = uint32(e.block[i]), uint32(e.thread[i])
		}
	}
	return C.GoString(&e.detail[0]), fault
}

// clock is the time that calls of the driver take time on.
func clock() time.Duration { return time.Duration(C.repriseNow()) }

// cBytes is memory that no collector moves or frees; the caller frees it.
func cBytes(n int) []byte { return unsafe.Slice((*byte)(C.calloc(1, C.size_t(n))), n) }

func freeBytes(b []byte) { C.free(unsafe.Pointer(unsafe.SliceData(b))) }

//export runHostCall
func runHostCall(handle C.uintptr_t) { cgo.Handle(handle).Value().(*hostCall).run() }
