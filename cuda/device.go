//go:build cuda

package cuda

import (
	"fmt"
	"sync"
	"time"

	"gorgonia.org/cu"

	"github.com/reprise-gpu/reprise/cuda/lazycuda"
	"github.com/reprise-gpu/reprise/device"
)

// Device is a GPU. It is a device.Device, a device.Looper, a device.Manager and a device.Accounter,
// and calls may come from any number of goroutines: one waits for another, but for Synchronize, during which others go on.
type Device struct {
	mu       sync.Mutex
	waits    sync.RWMutex // held by those who wait for a stream, without mu, so that it is there until they return
	info     device.Info
	opened   time.Duration
	gpu      cu.Device
	driver   driver
	executor *executor
	hosts    hostCalls
	memory   memory
	// destroyed counts the streams, events and instances that were: whoever keeps such handles has
	// to look at them again when it has grown.
	destroyed uint64
	scratch   scratch // of Submit and of what is on its way to a graph
	fault     *device.Error
	closed    bool

	modules device.Handles[device.Module, *module]
	funcs   device.Handles[device.Function, *function]
	streams device.Handles[device.Stream, cu.Stream]
	events  device.Handles[device.Event, *event]
	graphs  device.Handles[device.Graph, *graph]
	execs   device.Handles[device.GraphExec, *instance]
	lists   device.Handles[device.CommandList, *list]

	conditions map[device.Condition]*condition
}

// Open returns the GPU of an ordinal. It shares the GPU's primary context with
// whatever else of the process does, the runtime API and its libraries among
// them: a context of its own would cost hundreds of megabytes more, and pointers
// would be of no use across.
func Open(ordinal int) (*Device, error) {
	info, err := Describe(ordinal)
	if err != nil {
		return nil, err
	}
	gpu, err := cu.GetDevice(ordinal)
	if err != nil {
		return nil, unavailable(ordinal, "cuDeviceGet", codeOf(err))
	}
	info.Instance = device.NextInstance()
	d := &Device{
		info: info, gpu: gpu, executor: newExecutor(), scratch: newScratch(),
		modules: device.Handles[device.Module, *module]{Kind: "module"},
		funcs:   device.Handles[device.Function, *function]{Kind: "function"},
		streams: device.Handles[device.Stream, cu.Stream]{Kind: "stream"},
		events:  device.Handles[device.Event, *event]{Kind: "event"},
		graphs:  device.Handles[device.Graph, *graph]{Kind: "graph"},
		execs:   device.Handles[device.GraphExec, *instance]{Kind: "graph exec"},
		lists:   device.Handles[device.CommandList, *list]{Kind: "command list"},
	}
	if err := d.retain(); err != nil {
		d.executor.stop()
		d.scratch.free()
		return nil, err
	}
	d.opened = clock()
	return d, nil
}

// retain takes a share of the primary context and makes it the executor's.
func (d *Device) retain() error {
	call := "cuDevicePrimaryCtxRetain"
	err := d.executor.do(func() error {
		context, err := d.gpu.RetainPrimaryCtx()
		if err != nil {
			return err
		}
		d.driver = driverOf(context)
		call = "cuCtxSetCurrent"
		if err := cu.SetCurrentContext(context); err != nil {
			return err
		}
		call = "cuCtxGetStreamPriorityRange"
		d.info.LeastPriority, d.info.GreatestPriority, err = cu.StreamPriorityRange()
		return err
	})
	if err != nil {
		return unavailable(int(d.gpu), call, codeOf(err))
	}
	return nil
}

// unavailable is the error for a GPU that cannot be opened.
func unavailable(ordinal int, call string, code device.Code) error {
	return &device.Error{Call: "Open", Code: code, Err: device.ErrUnavailable,
		Detail: fmt.Sprintf("gpu%d: %s: %s", ordinal, call, textOf(code))}
}

// Info describes the GPU.
func (d *Device) Info() device.Info { return d.info }

// Now is real time since Open, or virtual time when the driver is the simulator.
func (d *Device) Now() time.Duration { return clock() - d.opened }

// Live counts what is allocated through this Device.
func (d *Device) Live() device.Live {
	d.mu.Lock()
	defer d.mu.Unlock()
	return device.Live{
		Bytes: d.memory.bytes, Allocations: d.memory.allocations(),
		Modules: d.modules.Len(), Streams: d.streams.Len(), Events: d.events.Len(),
		Graphs: d.graphs.Len(), Execs: d.execs.Len(), Lists: d.lists.Len(),
	}
}

// enter begins a call. It returns why the call cannot be made, or nil with d.mu
// locked. A host call must not get as far as the lock: whoever waits for all streams
// has it.
func (d *Device) enter() *device.Error {
	if d.hosts.inside() {
		return refuse(device.NotSupported, "a host call calls the device; a host call must not")
	}
	d.mu.Lock()
	switch {
	case d.closed:
		d.mu.Unlock()
		return refuse(device.Deinitialized, "the device has been closed")
	case d.fault != nil:
		defer d.mu.Unlock()
		return d.poisonOr(d.fault)
	}
	return nil
}

// Close waits, then frees everything one by one: others may go on using the context.
// After a fault nothing can be freed, and the context goes with its last user.
func (d *Device) Close() error {
	if d.hosts.inside() {
		return d.enter().In("Close")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return refuse(device.Deinitialized, "the device has been closed").In("Close")
	}
	reported := d.fault != nil
	err := d.waitAll()
	if reported {
		err = nil
	}
	d.freeThings()
	_ = d.gorgonia("cuDevicePrimaryCtxRelease", d.gpu.ReleasePrimaryCtx)
	d.scratch.free()
	d.executor.stop()
	d.hosts.clear()
	d.closed = true
	return err.In("Close")
}

// freeThings destroys what is left, users before what they use. Errors have been told
// or will be by nobody: there is nothing that a caller could do about them.
func (d *Device) freeThings() {
	for _, h := range d.lists.All() {
		l, _ := d.lists.Remove(h)
		l.free()
	}
	for _, h := range d.execs.All() {
		x, _ := d.execs.Remove(h)
		_ = d.freeExec(x)
	}
	for _, h := range d.graphs.All() {
		if g, err := d.graphs.Remove(h); err == nil && g.within == nil {
			g.destroyed = true
			_ = d.freeGraph(g)
		}
	}
	for _, h := range d.events.All() {
		e, _ := d.events.Remove(h)
		_ = d.destroyEvent(e)
	}
	for _, h := range d.streams.All() {
		s, _ := d.streams.Remove(h)
		_ = d.destroyStream(s)
	}
	for _, h := range d.modules.All() {
		m, _ := d.modules.Remove(h)
		_ = d.unload(m)
	}
	for _, b := range d.memory.blocks {
		if b.variable == 0 {
			_ = d.release(b)
		}
	}
	d.memory = memory{}
}

// simulated reports whether the driver is the simulator.
var simulated = sync.OnceValue(lazycuda.Simulated)
