//go:build cuda && cgo

package cuda

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"gorgonia.org/cu"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/contract"
	"github.com/reprise-gpu/reprise/internal/lazycuda"
)

// gpuDevice is a GPU. It implements device.Device, device.Looper, device.Manager, device.Peer and device.Accounter. It is safe for
// concurrent use: calls wait for each other, except that other calls proceed during Synchronize.
type gpuDevice struct {
	mu       sync.Mutex
	waits    sync.RWMutex // read-locked during a wait for a stream, without mu, so that the stream outlives the wait
	info     device.Info
	opened   time.Duration
	gpu      cu.Device
	driver   driver
	executor *executor
	hosts    hostCalls
	memory   memory
	context  cu.CUContext
	peers    []*gpuDevice // whose memory the context can access
	scratch  scratch      // for Submit and for nodes of graphs
	fault    *device.Error
	closed   bool

	modules contract.Handles[device.Module, *module]
	funcs   contract.Handles[device.Function, *function]
	streams contract.Handles[device.Stream, cu.Stream]
	events  contract.Handles[device.Event, *event]
	graphs  contract.Handles[device.Graph, *graph]
	execs   contract.Handles[device.GraphExec, *instance]
	lists   contract.Handles[device.CommandList, *list]

	conditions map[device.Condition]*condition
}

// destroyed counts destroyed streams, events and instances of all devices. A holder of such handles must check them again
// when it grows.
var destroyed atomic.Uint64

// Open returns the GPU with the given ordinal, which is also a device.Looper, a device.Manager, a device.Peer and a device.Accounter.
// Its calls may come from any goroutine; they wait for each other, except that others proceed during Synchronize. It
// uses the primary context of the GPU, which other users in the process share, such as the runtime API and its
// libraries. A separate context would cost hundreds of megabytes, and addresses would not be valid across contexts.
func Open(ordinal int) (device.Device, error) {
	d, err := openGPU(ordinal)
	if err != nil {
		return nil, err
	}
	return d, nil
}

func openGPU(ordinal int) (*gpuDevice, error) {
	info, err := describeOrdinal(ordinal)
	if err != nil {
		return nil, err
	}
	gpu, err := cu.GetDevice(ordinal)
	if err != nil {
		return nil, unavailable(ordinal, "cuDeviceGet", codeOf(err))
	}
	info.Instance = device.NextInstance()
	d := &gpuDevice{
		info: info, gpu: gpu, executor: newExecutor(), scratch: newScratch(),
		modules: contract.Handles[device.Module, *module]{Kind: "module"},
		funcs:   contract.Handles[device.Function, *function]{Kind: "function"},
		streams: contract.Handles[device.Stream, cu.Stream]{Kind: "stream"},
		events:  contract.Handles[device.Event, *event]{Kind: "event"},
		graphs:  contract.Handles[device.Graph, *graph]{Kind: "graph"},
		execs:   contract.Handles[device.GraphExec, *instance]{Kind: "graph exec"},
		lists:   contract.Handles[device.CommandList, *list]{Kind: "command list"},
	}
	if err := d.retain(); err != nil {
		d.executor.stop()
		d.scratch.free()
		return nil, err
	}
	d.opened = clock()
	d.register()
	return d, nil
}

// retain retains the primary context and makes it current on the executor's thread.
func (d *gpuDevice) retain() error {
	call := "cuDevicePrimaryCtxRetain"
	err := d.executor.do(func() error {
		context, err := d.gpu.RetainPrimaryCtx()
		if err != nil {
			return err
		}
		d.driver, d.context = driverOf(context), context
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

// unavailable returns the error for a GPU that cannot be opened.
func unavailable(ordinal int, call string, code device.Code) error {
	return &device.Error{Call: "Open", Code: code, Err: device.ErrUnavailable,
		Detail: fmt.Sprintf("gpu%d: %s: %s", ordinal, call, textOf(code))}
}

// Info describes the GPU.
func (d *gpuDevice) Info() device.Info { return d.info }

// Now returns the time since Open: real time, or virtual time if the driver is the simulator.
func (d *gpuDevice) Now() time.Duration { return clock() - d.opened }

// Live returns the number of live resources of this device, by kind.
func (d *gpuDevice) Live() device.Live {
	d.mu.Lock()
	defer d.mu.Unlock()
	return device.Live{
		Bytes: d.memory.bytes, Allocations: d.memory.allocations(),
		Modules: d.modules.Len(), Streams: d.streams.Len(), Events: d.events.Len(),
		Graphs: d.graphs.Len(), Execs: d.execs.Len(), Lists: d.lists.Len(),
	}
}

// enter starts a call. It returns nil with d.mu locked, or the error why the call cannot be made. A host call must be
// refused before the lock, because SynchronizeAll holds the lock while it waits for host calls.
func (d *gpuDevice) enter() *device.Error {
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

// Close waits, then frees every resource individually, because other users may continue to use the context. After a
// fault nothing can be freed; the context is destroyed with its last user.
func (d *gpuDevice) Close() error {
	if d.hosts.inside() {
		return d.enter().In("Close")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return refuse(device.Deinitialized, "the device has been closed").In("Close")
	}
	d.unregister()
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

// freeThings destroys the remaining resources, users before what they use. It ignores errors, because a caller could
// not act on them.
func (d *gpuDevice) freeThings() {
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
		destroyed.Add(1)
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
	d.memory.clear()
}

// simulated reports whether the driver is the simulator.
var simulated = sync.OnceValue(lazycuda.Simulated)
