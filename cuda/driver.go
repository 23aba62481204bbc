//go:build cuda && cgo

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
	"runtime"
	"runtime/cgo"
	"time"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/reprise-gpu/reprise/device"
)

// This is the only file of the package that uses cgo; the other files use these names. Handles of gorgonia.org/cu are
// structs of one C handle of its own copy of the C types. handleOf converts them to ours.
type (
	step      struct{ raw C.struct_step }
	graphNode = C.CUgraphNode
	graphExec = C.CUgraphExec
)

func handleOf[To, From any](from From) To { return *(*To)(unsafe.Pointer(&from)) }

// set makes c perform a work on a GPU. The handles and addresses of the work must have been resolved. The previous
// content of c is freed or reused.
func (c *step) set(w device.Work, gpu cu.Device, f cu.Function, hosts copyHosts, call cgo.Handle, priority int) {
	switch w := w.(type) {
	case *device.Launch:
		c.setLabel(w.Label)
		c.setLaunch(w, f, priority)
		if w.Off {
			c.raw.kind = C.step_nothing
		}
	case *device.Copy:
		c.raw.kind = C.step_copy
		c.setLabel(w.Label)
		*as[C.struct_copy](c) = C.struct_copy{
			dst: C.CUdeviceptr(w.Dst), src: C.CUdeviceptr(w.Src), bytes: C.size_t(w.Bytes),
			dst_is_host: flag(hosts.dst), src_is_host: flag(hosts.src),
		}
	case *device.Memset:
		c.raw.kind = C.step_fill
		c.setLabel(w.Label)
		*as[C.struct_fill](c) = C.struct_fill{dst: C.CUdeviceptr(w.Dst), value: C.uint(w.Value), width: C.uint(w.Width), count: C.size_t(w.Count)}
	case *device.Prefetch:
		c.raw.kind = C.step_prefetch
		c.setLabel(w.Label)
		to := C.CUdevice(C.CU_DEVICE_CPU)
		if w.ToDevice {
			to = C.CUdevice(gpu)
		}
		*as[C.struct_prefetch](c) = C.struct_prefetch{at: C.CUdeviceptr(w.At), bytes: C.size_t(w.Bytes), to: to}
	case *device.HostCall:
		c.raw.kind = C.step_call
		c.setLabel(w.Label)
		*as[C.uintptr_t](c) = C.uintptr_t(call)
	default:
		c.raw.kind = C.step_nothing
		c.setLabel("")
	}
}

// as returns the part of a step that depends on its kind, a union in C.
func as[T any](c *step) *T { return (*T)(unsafe.Pointer(&c.raw.as)) }

func flag(on bool) C.int {
	if on {
		return 1
	}
	return 0
}

func (c *step) setLaunch(w *device.Launch, f cu.Function, priority int) {
	c.raw.kind = C.step_launch
	if w.Cooperative || priority != 0 {
		c.raw.kind = C.step_launch_with
	}
	*as[C.struct_launch](c) = C.struct_launch{
		function: handleOf[C.CUfunction](f), shared: C.uint(w.Shared),
		grid:  [3]C.uint{C.uint(w.Grid.X), C.uint(w.Grid.Y), C.uint(w.Grid.Z)},
		block: [3]C.ushort{C.ushort(w.Block.X), C.ushort(w.Block.Y), C.ushort(w.Block.Z)},
	}
	if c.raw.kind == C.step_launch && len(w.Params) == 0 {
		c.dropParameters()
		return
	}
	p := c.parameters(len(w.Params))
	p.cooperative, p.priority = flag(w.Cooperative), C.int(priority)
	copy(unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(p), C.sizeof_struct_parameters)), len(w.Params)), w.Params)
}

// parameters returns memory for a parameter block of the given size. It reuses the memory of the command if that is
// large enough.
func (c *step) parameters(bytes int) *C.struct_parameters {
	p := c.raw.parameters
	if p == nil || p.room < C.size_t(bytes) {
		c.dropParameters()
		p = C.driver_new_parameters(C.size_t(bytes))
		c.raw.parameters = p
	}
	p.bytes = C.size_t(bytes)
	return p
}

func (c *step) dropParameters() {
	C.free(unsafe.Pointer(c.raw.parameters))
	c.raw.parameters = nil
}

// setLabel stores the label if the driver is the simulator. A GPU's driver has no use for it.
func (c *step) setLabel(label string) {
	if !simulated() {
		return
	}
	C.free(unsafe.Pointer(c.raw.label))
	c.raw.label = nil
	if label != "" {
		c.raw.label = C.CString(label)
	}
}

// newSteps allocates n steps in C memory, which the driver may read at any time.
func newSteps(n int) []step {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*step)(C.calloc(C.size_t(n), C.sizeof_struct_step)), n)
}

func freeSteps(list []step) {
	for i := range list {
		list[i].dropParameters()
		C.free(unsafe.Pointer(list[i].raw.label))
	}
	C.free(unsafe.Pointer(unsafe.SliceData(list)))
}

// waitedFor is an event in C memory, to which steps refer.
type waitedFor = C.CUevent

func waitFor(e cu.Event) waitedFor { return handleOf[C.CUevent](e) }

func newWaits(n int) []waitedFor {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*waitedFor)(C.calloc(C.size_t(n), C.sizeof_CUevent)), n)
}

func freeWaits(list []waitedFor) { C.free(unsafe.Pointer(unsafe.SliceData(list))) }

// on sets the stream of the step and the number of commands that it replaces. The step waits for events, performs its
// work and records an event.
func (c *step) on(s cu.Stream, commands int) {
	c.raw.stream, c.raw.commands = handleOf[C.CUstream](s), C.uint(commands)
}

func (c *step) await(events []waitedFor) {
	c.raw.waits, c.raw.wait_count = unsafe.SliceData(events), C.uint(len(events))
}

func (c *step) mark(e cu.Event) { c.raw.record = handleOf[C.CUevent](e) }

// run makes the step run an instance of a graph.
func (c *step) run(x graphExec) { c.raw.kind, *as[C.CUgraphExec](c) = C.step_graph, x }

// commands returns the number of commands that the step replaces.
func (c *step) commands() int { return int(c.raw.commands) }

// calls returns the name of the driver function that a command of the step calls.
func (c *step) calls(command int) string {
	switch {
	case command < int(c.raw.wait_count):
		return "cuStreamWaitEvent"
	case command == int(c.raw.commands)-1 && c.raw.record != nil:
		return "cuEventRecord"
	}
	return workCalls[c.raw.kind]
}

var workCalls = [...]string{
	C.step_launch: "cuLaunchKernel", C.step_launch_with: "cuLaunchKernelEx", C.step_copy: "cuMemcpyAsync", C.step_fill: "cuMemsetAsync",
	C.step_call: "cuLaunchHostFunc", C.step_prefetch: "cuMemPrefetchAsync", C.step_graph: "cuGraphLaunch",
}

// driver holds a context that any thread can use. Every method is one call into C.
type driver struct {
	context  C.CUcontext
	labelled C.int // whether steps have labels
}

func driverOf(c cu.CUContext) driver { return driver{handleOf[C.CUcontext](c), flag(simulated())} }

// submit enqueues a range of a list. On failure it returns the number of commands enqueued before.
func (d driver) submit(list []step, first, within, head, whole, tail int) (int, device.Code) {
	o := C.driver_submit(d.context, &unsafe.SliceData(list).raw, C.size_t(len(list)),
		C.size_t(first), C.size_t(within), C.size_t(head), C.size_t(whole), C.size_t(tail), d.labelled)
	return int(o.done), device.Code(o.code)
}

// submitOne enqueues a step of one command.
func (d driver) submitOne(s []step) device.Code {
	_, code := d.submit(s, 0, 0, 0, 1, 0)
	return code
}

func (d driver) synchronize(s cu.Stream) device.Code {
	return device.Code(C.driver_synchronize(d.context, handleOf[C.CUstream](s)))
}

func (d driver) synchronizeAll() device.Code {
	return device.Code(C.driver_synchronize_all(d.context))
}

func (d driver) addNode(g cu.Graph, after []graphNode, c *step) (n graphNode, code device.Code) {
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

// addConditional adds a conditional node and stores its bodies in bodies, whose length is c.Bodies.
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

// turn is the change of a node by an update: switch on, switch off or none.
type turn = C.enum_turn

const (
	turnNone turn = C.turn_none
	turnOn   turn = C.turn_on
	turnOff  turn = C.turn_off
	turnKeep turn = C.turn_keep
)

// updates is C memory for n changes of nodes and their works.
type updates struct {
	list  []C.struct_update
	works []step
}

func newUpdates(n int) updates {
	return updates{unsafe.Slice((*C.struct_update)(C.calloc(C.size_t(max(1, n)), C.sizeof_struct_update)), n), newSteps(n)}
}

func (u *updates) free() {
	C.free(unsafe.Pointer(unsafe.SliceData(u.list)))
	freeSteps(u.works)
}

func (u *updates) set(i int, n graphNode, t turn) {
	u.list[i] = C.struct_update{node: n, work: &u.works[i].raw, turn: t}
}

// updateNodes makes the first n changes. On failure it returns the number of changes made before.
func (d driver) updateNodes(x graphExec, u *updates, n int) (int, device.Code) {
	if n == 0 {
		return 0, 0
	}
	o := C.driver_update_nodes(d.context, x, unsafe.SliceData(u.list), C.size_t(n))
	return int(o.done), device.Code(o.code)
}

func (d driver) uploadGraph(x graphExec, s cu.Stream) device.Code {
	return device.Code(C.driver_upload_graph(d.context, x, handleOf[C.CUstream](s)))
}

func (d driver) launchGraph(x graphExec, s cu.Stream) device.Code {
	return device.Code(C.driver_launch_graph(d.context, x, handleOf[C.CUstream](s)))
}

// allocHost returns pinned memory, whose address is the same for copies and for Go.
func (d driver) allocHost(bytes int64) (unsafe.Pointer, device.Code) {
	var p unsafe.Pointer
	code := device.Code(C.driver_alloc_host(d.context, C.size_t(bytes), &p))
	return p, code
}

// paramBytes returns the size of a function's parameter block. It returns false before CUDA 12.4, where drivers do
// not report it.
func (d driver) paramBytes(f cu.Function) (int, bool) {
	var n C.size_t
	code := C.driver_param_bytes(d.context, handleOf[C.CUfunction](f), &n)
	return int(n), code == C.CUDA_SUCCESS
}

// allowShared raises the limit of dynamic shared memory of a function.
func (d driver) allowShared(f cu.Function, bytes int) device.Code {
	return device.Code(C.driver_allow_shared(d.context, handleOf[C.CUfunction](f), C.uint(bytes)))
}

func inHostCall() bool { return C.driver_in_host_call() != 0 }

// asHostCall runs f on a thread that is marked as running a host call.
func asHostCall(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	C.driver_mark_host_call(1)
	defer C.driver_mark_host_call(0)
	return f()
}

// nameOf and textOf return the driver's name and text for a code.
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

// label sets the name of the object that the calling thread creates next, for errors of the simulator.
func label(name string) {
	if !simulated() {
		return
	}
	s := C.CString(name)
	C.repriseLabel(s)
	C.free(unsafe.Pointer(s))
}

// lastError returns the simulator's details of the last failure if it has the given code. A GPU's driver has none.
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

// clock returns the time of the clock on which driver calls take time.
func clock() time.Duration { return time.Duration(C.repriseNow()) }

// cBytes allocates n bytes of C memory; the caller frees it.
func cBytes(n int) []byte { return unsafe.Slice((*byte)(C.calloc(1, C.size_t(n))), n) }

func freeBytes(b []byte) { C.free(unsafe.Pointer(unsafe.SliceData(b))) }

//export runHostCall
func runHostCall(handle C.uintptr_t) { cgo.Handle(handle).Value().(*hostCall).run() }
