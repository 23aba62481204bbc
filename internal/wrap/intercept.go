package wrap

import (
	"context"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/absent"
)

// Interceptor is called in place of every method of a device that can fail. c holds the name and the arguments of the
// method. The interceptor returns the error that the caller gets. It usually calls next, which runs the method and
// stores its results, without the error, in c.Results.
type Interceptor func(c *Call, next func() error) error

// Call is one intercepted call.
type Call struct {
	Method  string
	Args    []any
	Results []any
}

// PeerEvent is an argument of WaitPeer: an event of another device.
type PeerEvent struct {
	Of    device.Device
	Event device.Event
}

// Intercept wraps a device. If the interceptor returns an error, the caller gets zero results with it. Intercept
// returns d if f is nil, and nil if d is nil.
func Intercept(d device.Device, f Interceptor) device.Device {
	switch {
	case absent.Is(d):
		return nil
	case f == nil:
		return d
	}
	return &intercepted{d, f}
}

// intercepted is the only wrapper with every method of a device. Logging, fault injection and other wrappers are
// interceptors.
type intercepted struct {
	d device.Device
	f Interceptor
}

func (x *intercepted) run(method string, next func() error, args ...any) error {
	return x.f(&Call{Method: method, Args: args}, next)
}

func give[R any](x *intercepted, method string, next func() (R, error), args ...any) (r R, err error) {
	c := &Call{Method: method, Args: args}
	var got R
	err = x.f(c, func() (err error) {
		got, err = next()
		c.Results = []any{got}
		return err
	})
	if err == nil {
		r = got
	}
	return r, err
}

// lacks returns the error of a call for which the wrapped device lacks an ability.
func (x *intercepted) lacks(call, what string) error {
	return &device.Error{Call: call, Code: device.NotSupported, Detail: "device " + x.d.Info().ID + " " + what}
}

// Unwrap returns the wrapped device. Implementations call it to find the device behind an argument.
func (x *intercepted) Unwrap() device.Device { return x.d }

// peer returns the wrapped device as a Peer, or NotSupported if it has no peers.
func (x *intercepted) peer(call string) (device.Peer, error) {
	if p, ok := x.d.(device.Peer); ok {
		return p, nil
	}
	return nil, x.lacks(call, "has no peers")
}

// CanPeer calls the wrapped device if it is a Peer, and returns false otherwise.
func (x *intercepted) CanPeer(other device.Device) bool {
	p, ok := x.d.(device.Peer)
	return ok && p.CanPeer(other)
}

func (x *intercepted) EnablePeer(other device.Device) error {
	return x.run("EnablePeer", func() error {
		p, err := x.peer("EnablePeer")
		if err != nil {
			return err
		}
		return p.EnablePeer(other)
	}, other)
}

func (x *intercepted) WaitPeer(s device.Stream, other device.Device, e device.Event) error {
	return x.run("WaitPeer", func() error {
		p, err := x.peer("WaitPeer")
		if err != nil {
			return err
		}
		return p.WaitPeer(s, other, e)
	}, s, PeerEvent{other, e})
}

func (x *intercepted) AddPeerNode(g device.Graph, deps []device.Node, other device.Device, w device.Work) (device.Node, error) {
	return give(x, "AddPeerNode", func() (device.Node, error) {
		p, err := x.peer("AddPeerNode")
		if err != nil {
			return 0, err
		}
		return p.AddPeerNode(g, deps, other, w)
	}, g, deps, other, w)
}

func (x *intercepted) Info() device.Info  { return x.d.Info() }
func (x *intercepted) Now() time.Duration { return x.d.Now() }

// Live returns the live resources if the wrapped device is an Accounter, and zeros otherwise.
func (x *intercepted) Live() device.Live {
	if a, ok := x.d.(device.Accounter); ok {
		return a.Live()
	}
	return device.Live{}
}

// Allocation calls the wrapped device if it is a Ledger, and returns NotSupported otherwise.
func (x *intercepted) Allocation(p device.Ptr, bytes int64) (device.Allocation, error) {
	if l, ok := x.d.(device.Ledger); ok {
		return l.Allocation(p, bytes)
	}
	return device.Allocation{}, x.lacks("Allocation", "keeps no ledger")
}

// Freed calls the wrapped device if it is a Ledger, and returns 0 otherwise.
func (x *intercepted) Freed() uint64 {
	if l, ok := x.d.(device.Ledger); ok {
		return l.Freed()
	}
	return 0
}

// NameMemory calls the wrapped device if it is a Namer.
func (x *intercepted) NameMemory(p device.Ptr, name string) {
	if n, ok := x.d.(device.Namer); ok {
		n.NameMemory(p, name)
	}
}

func (x *intercepted) Alloc(bytes int64) (device.Ptr, error) {
	return give(x, "Alloc", func() (device.Ptr, error) { return x.d.Alloc(bytes) }, bytes)
}

func (x *intercepted) AllocHost(bytes int64) (device.Ptr, []byte, error) {
	var b []byte
	p, err := give(x, "AllocHost", func() (p device.Ptr, err error) {
		p, b, err = x.d.AllocHost(bytes)
		return p, err
	}, bytes)
	if err != nil {
		b = nil
	}
	return p, b, err
}

// manager returns the wrapped device as a Manager, or NotSupported if it has no managed memory.
func (x *intercepted) manager(call string) (device.Manager, error) {
	if m, ok := x.d.(device.Manager); ok {
		return m, nil
	}
	return nil, x.lacks(call, "has no managed memory")
}

func (x *intercepted) AllocManaged(bytes int64) (device.Ptr, []byte, error) {
	var b []byte
	p, err := give(x, "AllocManaged", func() (p device.Ptr, err error) {
		m, err := x.manager("AllocManaged")
		if err != nil {
			return 0, err
		}
		p, b, err = m.AllocManaged(bytes)
		return p, err
	}, bytes)
	if err != nil {
		b = nil
	}
	return p, b, err
}

func (x *intercepted) ToHost(p device.Ptr, bytes int64) error {
	return x.run("ToHost", func() error {
		m, err := x.manager("ToHost")
		if err != nil {
			return err
		}
		return m.ToHost(p, bytes)
	}, p, bytes)
}

func (x *intercepted) Free(p device.Ptr) error {
	return x.run("Free", func() error { return x.d.Free(p) }, p)
}

func (x *intercepted) Write(dst device.Ptr, src []byte) error {
	return x.run("Write", func() error { return x.d.Write(dst, src) }, dst, src)
}

func (x *intercepted) Read(dst []byte, src device.Ptr) error {
	return x.run("Read", func() error { return x.d.Read(dst, src) }, dst, src)
}

func (x *intercepted) LoadModule(name, ptx string) (device.Module, error) {
	return give(x, "LoadModule", func() (device.Module, error) { return x.d.LoadModule(name, ptx) }, name, ptx)
}

func (x *intercepted) UnloadModule(m device.Module) error {
	return x.run("UnloadModule", func() error { return x.d.UnloadModule(m) }, m)
}

func (x *intercepted) Function(m device.Module, entry string) (device.Function, error) {
	return give(x, "Function", func() (device.Function, error) { return x.d.Function(m, entry) }, m, entry)
}

func (x *intercepted) Global(m device.Module, name string) (device.Ptr, int64, error) {
	var bytes int64
	p, err := give(x, "Global", func() (p device.Ptr, err error) {
		p, bytes, err = x.d.Global(m, name)
		return p, err
	}, m, name)
	if err != nil {
		bytes = 0
	}
	return p, bytes, err
}

func (x *intercepted) CreateStream(priority int) (device.Stream, error) {
	return give(x, "CreateStream", func() (device.Stream, error) { return x.d.CreateStream(priority) }, priority)
}

func (x *intercepted) DestroyStream(s device.Stream) error {
	return x.run("DestroyStream", func() error { return x.d.DestroyStream(s) }, s)
}

func (x *intercepted) Submit(s device.Stream, w device.Work) error {
	return x.run("Submit", func() error { return x.d.Submit(s, w) }, s, w)
}

func (x *intercepted) Synchronize(s device.Stream) error {
	return x.run("Synchronize", func() error { return x.d.Synchronize(s) }, s)
}

// SynchronizeContext is intercepted as method "Synchronize".
func (x *intercepted) SynchronizeContext(ctx context.Context, s device.Stream) error {
	return x.run("Synchronize", func() error { return x.d.SynchronizeContext(ctx, s) }, s)
}

func (x *intercepted) SynchronizeAll() error {
	return x.run("SynchronizeAll", x.d.SynchronizeAll)
}

func (x *intercepted) CreateEvent() (device.Event, error) {
	return give(x, "CreateEvent", x.d.CreateEvent)
}

func (x *intercepted) DestroyEvent(e device.Event) error {
	return x.run("DestroyEvent", func() error { return x.d.DestroyEvent(e) }, e)
}

func (x *intercepted) Record(e device.Event, s device.Stream) error {
	return x.run("Record", func() error { return x.d.Record(e, s) }, e, s)
}

func (x *intercepted) Wait(s device.Stream, e device.Event) error {
	return x.run("Wait", func() error { return x.d.Wait(s, e) }, s, e)
}

func (x *intercepted) Elapsed(start, end device.Event) (time.Duration, error) {
	return give(x, "Elapsed", func() (time.Duration, error) { return x.d.Elapsed(start, end) }, start, end)
}

func (x *intercepted) CreateGraph() (device.Graph, error) {
	return give(x, "CreateGraph", x.d.CreateGraph)
}

func (x *intercepted) DestroyGraph(g device.Graph) error {
	return x.run("DestroyGraph", func() error { return x.d.DestroyGraph(g) }, g)
}

func (x *intercepted) AddNode(g device.Graph, deps []device.Node, w device.Work) (device.Node, error) {
	return give(x, "AddNode", func() (device.Node, error) { return x.d.AddNode(g, deps, w) }, g, deps, w)
}

func (x *intercepted) Instantiate(g device.Graph) (device.GraphExec, error) {
	return give(x, "Instantiate", func() (device.GraphExec, error) { return x.d.Instantiate(g) }, g)
}

func (x *intercepted) UpdateNode(e device.GraphExec, n device.Node, w device.Work) error {
	return x.run("UpdateNode", func() error { return x.d.UpdateNode(e, n, w) }, e, n, w)
}

func (x *intercepted) UpdateNodes(e device.GraphExec, changes []device.NodeWork) error {
	return x.run("UpdateNodes", func() error { return x.d.UpdateNodes(e, changes) }, e, changes)
}

func (x *intercepted) LaunchGraph(e device.GraphExec, s device.Stream) error {
	return x.run("LaunchGraph", func() error { return x.d.LaunchGraph(e, s) }, e, s)
}

func (x *intercepted) DestroyGraphExec(e device.GraphExec) error {
	return x.run("DestroyGraphExec", func() error { return x.d.DestroyGraphExec(e) }, e)
}

// looper returns the wrapped device as a Looper, or the NotSupported error that a Looper without conditional nodes
// returns.
func (x *intercepted) looper(call string) (device.Looper, error) {
	if l, ok := x.d.(device.Looper); ok {
		return l, nil
	}
	return nil, x.lacks(call, "has no conditional nodes")
}

func (x *intercepted) CreateCondition(g device.Graph, initial uint32) (device.Condition, error) {
	return give(x, "CreateCondition", func() (device.Condition, error) {
		l, err := x.looper("CreateCondition")
		if err != nil {
			return 0, err
		}
		return l.CreateCondition(g, initial)
	}, g, initial)
}

func (x *intercepted) AddConditional(g device.Graph, deps []device.Node, c device.Conditional) (device.Node, []device.Graph, error) {
	var bodies []device.Graph
	n, err := give(x, "AddConditional", func() (n device.Node, err error) {
		l, err := x.looper("AddConditional")
		if err != nil {
			return 0, err
		}
		n, bodies, err = l.AddConditional(g, deps, c)
		return n, err
	}, g, deps, c)
	if err != nil {
		bodies = nil
	}
	return n, bodies, err
}

func (x *intercepted) UpdateBodyNode(e device.GraphExec, body device.Graph, n device.Node, w device.Work) error {
	return x.run("UpdateBodyNode", func() error {
		l, err := x.looper("UpdateBodyNode")
		if err != nil {
			return err
		}
		return l.UpdateBodyNode(e, body, n, w)
	}, e, body, n, w)
}

func (x *intercepted) CompileCommands(cs []device.Command) (device.CommandList, error) {
	return give(x, "CompileCommands", func() (device.CommandList, error) { return x.d.CompileCommands(cs) }, cs)
}

func (x *intercepted) UpdateCommand(l device.CommandList, i int, w device.Work) error {
	return x.run("UpdateCommand", func() error { return x.d.UpdateCommand(l, i, w) }, l, i, w)
}

func (x *intercepted) SubmitCommands(l device.CommandList, from, n int) error {
	return x.run("SubmitCommands", func() error { return x.d.SubmitCommands(l, from, n) }, l, from, n)
}

func (x *intercepted) DestroyCommandList(l device.CommandList) error {
	return x.run("DestroyCommandList", func() error { return x.d.DestroyCommandList(l) }, l)
}

func (x *intercepted) Close() error { return x.run("Close", x.d.Close) }
