// Package null implements a device that accepts everything a GPU accepts and runs nothing. Addresses are made up,
// work is checked and dropped, and every synchronization returns at once. Use it to measure the host's cost of a
// replay and to test schedules of any size.
package null

import (
	"context"
	"fmt"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/contract"
)

// Device is a device.Device and a device.Accounter.
type Device struct {
	info   device.Info
	opened time.Time
	closed bool
	group  *group
	peers  []*Device // whose memory copies may access

	memory  memory
	modules contract.Handles[device.Module, string]
	funcs   contract.Handles[device.Function, device.Module]
	streams contract.Handles[device.Stream, struct{}]
	events  contract.Handles[device.Event, *event]
	graphs  contract.Handles[device.Graph, *graph]
	execs   contract.Handles[device.GraphExec, *graph]
	lists   contract.Handles[device.CommandList, []command]
}

// event records whether the event was ever recorded.
type event struct{ recorded bool }

// graph holds the kind of each node; node n is kinds[n-1].
type graph struct{ kinds []string }

// New returns a null device. Its Info reports the limits of an H200, so that it accepts what an H200 accepts.
func New() *Device { return NewPeers(1)[0] }

// NewPeers returns null devices of one process. They are peers of each other.
func NewPeers(n int) []*Device {
	g := &group{}
	for range n {
		g.members = append(g.members, newDevice(g))
	}
	return g.members
}

func newDevice(g *group) *Device {
	return &Device{
		opened: time.Now(), group: g,
		info: device.Info{
			Name: "null", ID: "null", Instance: device.NextInstance(), ComputeMajor: 9, Multiprocessors: 132, ClockMHz: 1980,
			MemoryBytes: 1 << 47, MaxThreads: 1024, MaxShared: 227 << 10, GreatestPriority: -5,
		},
		modules: contract.Handles[device.Module, string]{Kind: "module"},
		funcs:   contract.Handles[device.Function, device.Module]{Kind: "function"},
		streams: contract.Handles[device.Stream, struct{}]{Kind: "stream"},
		events:  contract.Handles[device.Event, *event]{Kind: "event"},
		graphs:  contract.Handles[device.Graph, *graph]{Kind: "graph"},
		execs:   contract.Handles[device.GraphExec, *graph]{Kind: "graph exec"},
		lists:   contract.Handles[device.CommandList, []command]{Kind: "command list"},
	}
}

func (d *Device) Info() device.Info  { return d.info }
func (d *Device) Now() time.Duration { return time.Since(d.opened) }

// Live returns the number of live resources, by kind.
func (d *Device) Live() device.Live {
	return device.Live{
		Bytes: d.memory.bytes, Allocations: d.memory.ledger.Len(),
		Modules: d.modules.Len(), Streams: d.streams.Len(), Events: d.events.Len(),
		Graphs: d.graphs.Len(), Execs: d.execs.Len(), Lists: d.lists.Len(),
	}
}

// open returns nil until Close, and an error after it.
func (d *Device) open() *device.Error {
	if d.closed {
		return &device.Error{Code: device.Deinitialized, Detail: "the device has been closed"}
	}
	return nil
}

// first returns the first error that is not nil.
func first(errs ...*device.Error) *device.Error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// check returns only the error of a lookup.
func check[T any](_ T, err *device.Error) *device.Error { return err }

func (d *Device) Alloc(bytes int64) (device.Ptr, error) {
	if err := first(d.open(), d.memory.room(bytes, d.info.MemoryBytes)); err != nil {
		return 0, err.In("Alloc")
	}
	return d.alloc(bytes, device.DeviceMemory), nil
}

// AllocHost returns real memory, because callers write to it.
func (d *Device) AllocHost(bytes int64) (device.Ptr, []byte, error) {
	if err := first(d.open(), d.memory.room(bytes, d.info.MemoryBytes)); err != nil {
		return 0, nil, err.In("AllocHost")
	}
	if bytes > contract.MaxHostAlloc {
		return 0, nil, (&device.Error{Code: device.OutOfMemory, Detail: fmt.Sprintf("%d bytes of pinned memory", bytes)}).In("AllocHost")
	}
	return d.alloc(bytes, device.PinnedMemory), make([]byte, bytes), nil
}

// AllocManaged returns real memory as well. Nothing moves it.
func (d *Device) AllocManaged(bytes int64) (device.Ptr, []byte, error) {
	if err := first(d.open(), d.memory.room(bytes, d.info.MemoryBytes)); err != nil {
		return 0, nil, err.In("AllocManaged")
	}
	if bytes > contract.MaxHostAlloc {
		return 0, nil, (&device.Error{Code: device.OutOfMemory, Detail: fmt.Sprintf("%d bytes of managed memory", bytes)}).In("AllocManaged")
	}
	return d.alloc(bytes, device.ManagedMemory), make([]byte, bytes), nil
}

// Allocation returns the allocation that contains the given number of bytes at p.
func (d *Device) Allocation(p device.Ptr, bytes int64) (device.Allocation, error) {
	a, err := d.memory.ledger.At(p, bytes)
	return a, err.In("Allocation")
}

// Freed returns the number of allocations freed so far.
func (d *Device) Freed() uint64 { return d.memory.ledger.Freed() }

func (d *Device) ToHost(p device.Ptr, bytes int64) error {
	return first(d.open(), d.memory.withinManaged(p, bytes)).In("ToHost")
}

func (d *Device) Free(p device.Ptr) error {
	return first(d.open(), d.memory.free(p)).In("Free")
}

func (d *Device) Write(dst device.Ptr, src []byte) error {
	return first(d.open(), d.own(dst, int64(len(src)))).In("Write")
}

func (d *Device) Read(dst []byte, src device.Ptr) error {
	return first(d.open(), d.own(src, int64(len(dst)))).In("Read")
}

func (d *Device) LoadModule(name, ptx string) (device.Module, error) {
	if err := d.open(); err != nil {
		return 0, err.In("LoadModule")
	}
	return d.modules.Add(name), nil
}

func (d *Device) UnloadModule(m device.Module) error {
	err := first(d.open(), check(d.modules.Remove(m)))
	for _, f := range d.funcs.All() {
		if of, _ := d.funcs.Get(f); of == m {
			d.funcs.Remove(f)
		}
	}
	return err.In("UnloadModule")
}

func (d *Device) Function(m device.Module, entry string) (device.Function, error) {
	if err := first(d.open(), check(d.modules.Get(m))); err != nil {
		return 0, err.In("Function")
	}
	return d.funcs.Add(m), nil
}

// Global finds no variables, because the null device does not read PTX.
func (d *Device) Global(m device.Module, name string) (device.Ptr, int64, error) {
	unread := &device.Error{Code: device.NotFound, Detail: fmt.Sprintf("variable %q: the null device reads no PTX", name)}
	return 0, 0, first(d.open(), check(d.modules.Get(m)), unread).In("Global")
}

func (d *Device) CreateStream(priority int) (device.Stream, error) {
	if err := d.open(); err != nil {
		return 0, err.In("CreateStream")
	}
	return d.streams.Add(struct{}{}), nil
}

func (d *Device) DestroyStream(s device.Stream) error {
	return first(d.open(), check(d.streams.Remove(s))).In("DestroyStream")
}

func (d *Device) Submit(s device.Stream, w device.Work) error {
	return first(d.open(), check(d.streams.Get(s)), d.work(w)).In("Submit")
}

// work checks the handles and addresses of a work.
func (d *Device) work(w device.Work) *device.Error {
	if err := contract.CheckWork(w, &d.info); err != nil {
		return err
	}
	switch w := w.(type) {
	case *device.Launch:
		return check(d.funcs.Get(w.Function))
	case *device.Copy:
		return first(d.copies(w.Dst, w.Bytes), d.copies(w.Src, w.Bytes))
	case *device.Memset:
		return d.own(w.Dst, w.Count*int64(w.Width))
	case *device.Prefetch:
		return d.memory.withinManaged(w.At, w.Bytes)
	}
	return nil
}

func (d *Device) Synchronize(s device.Stream) error {
	return first(d.open(), check(d.streams.Get(s))).In("Synchronize")
}

// SynchronizeContext is Synchronize, because no work is ever in progress.
func (d *Device) SynchronizeContext(_ context.Context, s device.Stream) error {
	return d.Synchronize(s)
}

func (d *Device) SynchronizeAll() error { return d.open().In("SynchronizeAll") }

func (d *Device) CreateEvent() (device.Event, error) {
	if err := d.open(); err != nil {
		return 0, err.In("CreateEvent")
	}
	return d.events.Add(&event{}), nil
}

func (d *Device) DestroyEvent(e device.Event) error {
	return first(d.open(), check(d.events.Remove(e))).In("DestroyEvent")
}

func (d *Device) Record(e device.Event, s device.Stream) error {
	ev, bad := d.events.Get(e)
	if err := first(d.open(), bad, check(d.streams.Get(s))); err != nil {
		return err.In("Record")
	}
	ev.recorded = true
	return nil
}

func (d *Device) Wait(s device.Stream, e device.Event) error {
	return first(d.open(), check(d.streams.Get(s)), check(d.events.Get(e))).In("Wait")
}

// Elapsed always returns 0.
func (d *Device) Elapsed(start, end device.Event) (time.Duration, error) {
	a, badA := d.events.Get(start)
	b, badB := d.events.Get(end)
	if err := first(d.open(), badA, badB); err != nil {
		return 0, err.In("Elapsed")
	}
	if !a.recorded || !b.recorded {
		err := &device.Error{Code: device.InvalidHandle, Detail: "an event was never recorded; record both first"}
		return 0, err.In("Elapsed")
	}
	return 0, nil
}

func (d *Device) CreateGraph() (device.Graph, error) {
	if err := d.open(); err != nil {
		return 0, err.In("CreateGraph")
	}
	return d.graphs.Add(&graph{}), nil
}

func (d *Device) DestroyGraph(g device.Graph) error {
	return first(d.open(), check(d.graphs.Remove(g))).In("DestroyGraph")
}

func (d *Device) AddNode(g device.Graph, deps []device.Node, w device.Work) (device.Node, error) {
	gr, bad := d.graphs.Get(g)
	if err := first(d.open(), bad, contract.CheckNodeWork(w), d.work(w)); err != nil {
		return 0, err.In("AddNode")
	}
	n, err := gr.add(deps, w)
	return n, err.In("AddNode")
}

func (g *graph) add(deps []device.Node, w device.Work) (device.Node, *device.Error) {
	for _, n := range deps {
		if err := g.node(n); err != nil {
			return 0, err
		}
	}
	g.kinds = append(g.kinds, contract.KindOf(w))
	return device.Node(len(g.kinds)), nil
}

func (g *graph) node(n device.Node) *device.Error {
	if n < 1 || n > device.Node(len(g.kinds)) {
		return &device.Error{Code: device.InvalidHandle, Detail: fmt.Sprintf("node %d is not among the graph's %d nodes", n, len(g.kinds))}
	}
	return nil
}

func (d *Device) Instantiate(g device.Graph) (device.GraphExec, error) {
	gr, bad := d.graphs.Get(g)
	if err := first(d.open(), bad); err != nil {
		return 0, err.In("Instantiate")
	}
	return d.execs.Add(&graph{kinds: append([]string(nil), gr.kinds...)}), nil
}

func (d *Device) UpdateNode(x device.GraphExec, n device.Node, w device.Work) error {
	gr, bad := d.execs.Get(x)
	if err := first(d.open(), bad, d.work(w)); err != nil {
		return err.In("UpdateNode")
	}
	if err := gr.node(n); err != nil {
		return err.In("UpdateNode")
	}
	return sameKind(gr.kinds[n-1], w).In("UpdateNode")
}

func (d *Device) UpdateNodes(x device.GraphExec, changes []device.NodeWork) error {
	gr, bad := d.execs.Get(x)
	if err := first(d.open(), bad); err != nil {
		return err.In("UpdateNodes")
	}
	for _, c := range changes {
		err := gr.node(c.Node)
		if err == nil {
			err = first(d.work(c.Work), sameKind(gr.kinds[c.Node-1], c.Work))
		}
		if err != nil {
			err.Detail = fmt.Sprintf("node %d: %s", c.Node, err.Detail)
			return err.In("UpdateNodes")
		}
	}
	return nil
}

func sameKind(was string, w device.Work) *device.Error {
	if is := contract.KindOf(w); is != was {
		return &device.Error{Code: device.GraphUpdateForbidden, Detail: fmt.Sprintf("a %s cannot become a %s; instantiate anew", was, is)}
	}
	return nil
}

func (d *Device) LaunchGraph(x device.GraphExec, s device.Stream) error {
	return first(d.open(), check(d.execs.Get(x)), check(d.streams.Get(s))).In("LaunchGraph")
}

func (d *Device) DestroyGraphExec(x device.GraphExec) error {
	return first(d.open(), check(d.execs.Remove(x))).In("DestroyGraphExec")
}

func (d *Device) CompileCommands(cs []device.Command) (device.CommandList, error) {
	if err := d.open(); err != nil {
		return 0, err.In("CompileCommands")
	}
	list := make([]command, len(cs))
	for i, c := range cs {
		list[i].Command = c
		if err := d.command(&list[i]); err != nil {
			err.Detail = fmt.Sprintf("command %d: %s", i, err.Detail)
			return 0, err.In("CompileCommands")
		}
	}
	return d.lists.Add(list), nil
}

func (d *Device) command(c *command) *device.Error {
	err := check(d.streams.Get(c.Stream))
	switch c.Kind {
	case device.Run:
		return first(err, d.work(c.Work))
	case device.Record, device.Await:
		return first(err, check(d.events.Get(c.Event)))
	case device.RunGraph:
		return first(err, check(d.execs.Get(c.Exec)))
	case device.AwaitPeer:
		return first(err, d.awaitPeer(c))
	}
	return contract.UnknownCommand(c.Kind)
}

func (d *Device) UpdateCommand(l device.CommandList, i int, w device.Work) error {
	list, bad := d.lists.Get(l)
	if err := first(d.open(), bad, d.work(w)); err != nil {
		return err.In("UpdateCommand")
	}
	if i < 0 || i >= len(list) || list[i].Kind != device.Run {
		err := &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("command %d is not one of the list's %d commands that run work", i, len(list))}
		return err.In("UpdateCommand")
	}
	return sameKind(contract.KindOf(list[i].Work), w).In("UpdateCommand")
}

// SubmitCommands marks the events of the list as recorded. CompileCommands has checked the list already.
func (d *Device) SubmitCommands(l device.CommandList, from, n int) error {
	list, bad := d.lists.Get(l)
	if err := first(d.open(), bad, contract.CheckRange(from, n, len(list))); err != nil {
		return err.In("SubmitCommands")
	}
	for i := range list {
		if err := list[i].submit(d, i, contract.Submitted(i, from, n, len(list))); err != nil {
			return err.In("SubmitCommands")
		}
	}
	return nil
}

// submit submits command i of a list a number of times.
func (c *command) submit(d *Device, i, times int) *device.Error {
	switch {
	case times == 0:
	case c.Kind == device.Record:
		ev, err := d.events.Get(c.Event)
		if err != nil {
			return err
		}
		ev.recorded = true
	case c.Kind == device.AwaitPeer && (c.peer.closed || check(c.peer.events.Get(c.Event)) != nil):
		return contract.GonePeerEvent(i)
	}
	return nil
}

func (d *Device) DestroyCommandList(l device.CommandList) error {
	return first(d.open(), check(d.lists.Remove(l))).In("DestroyCommandList")
}

// Close frees everything.
func (d *Device) Close() error {
	if err := d.open(); err != nil {
		return err.In("Close")
	}
	d.group.leave(d)
	*d = *New()
	d.closed = true
	return nil
}
