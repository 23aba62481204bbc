package sim

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/contract"
	"github.com/reprise-gpu/reprise/internal/des"
)

// graph is a graph under construction. Node n is nodes[n-1]. The dependencies of a node precede it, so nodes are in
// topological order.
type graph struct {
	nodes []*job
	deps  [][]int32
	on    []*Device // that runs the node; nil for the device of the graph

	within     *graph // the graph that this body belongs to, or nil
	bodies     []device.Graph
	conditions []*condition
}

// exec is an instance of a graph.
type exec struct {
	*plan
	conditions []*condition // conditions that its nodes read
	begins     *beginning   // work at the start of each launch
	balance    balance
	cost       model.Time // host time of a launch
	peers      []*Device  // other devices that run nodes

	gone     bool // destroyed; command lists that run the instance check it
	launched bool
	end      des.TaskID // task at the end of the last launch
}

// CreateGraph creates an empty graph.
func (d *Device) CreateGraph() (device.Graph, error) {
	if err := d.enter(d.profile.Host.Create); err != nil {
		return 0, err.In("CreateGraph")
	}
	return d.graphs.Add(&graph{}), nil
}

// DestroyGraph destroys the graph. Its instances are not affected.
func (d *Device) DestroyGraph(h device.Graph) error {
	g, bad := d.graphs.Get(h)
	if err := first(d.enter(d.profile.Host.Create), bad, g.notBody(h)); err != nil {
		return err.In("DestroyGraph")
	}
	leave(g.conditions)
	d.dropGraph(h)
	return nil
}

func (d *Device) dropGraph(h device.Graph) {
	g, _ := d.graphs.Remove(h)
	for _, body := range g.bodies {
		d.dropGraph(body)
	}
}

// AddNode adds work that runs after deps.
func (d *Device) AddNode(h device.Graph, deps []device.Node, w device.Work) (device.Node, error) {
	g, bad := d.graphs.Get(h)
	if err := first(d.enter(d.profile.Host.Create), bad); err != nil {
		return 0, err.In("AddNode")
	}
	if g.within != nil {
		if err := contract.CheckBodyWork(w); err != nil {
			return 0, err.In("AddNode")
		}
	}
	if err := contract.CheckNodeWork(w); err != nil {
		return 0, err.In("AddNode")
	}
	j, err := d.lower(w)
	if err != nil {
		return 0, err.In("AddNode")
	}
	n, err := g.add(deps, j, nil)
	return n, err.In("AddNode")
}

// AddPeerNode adds work of another device of the system.
func (d *Device) AddPeerNode(h device.Graph, deps []device.Node, other device.Device, w device.Work) (device.Node, error) {
	peer, badPeer := contract.PeerOf[*Device](other)
	g, bad := d.graphs.Get(h)
	if err := first(d.enter(d.profile.Host.Create), bad, badPeer, g.notBody(h)); err != nil {
		return 0, err.In("AddPeerNode")
	}
	if peer == d {
		return 0, contract.NoPeer(d.info.ID, "it is the device itself").In("AddPeerNode")
	}
	if err := first(d.besides(peer), peer.usable(), contract.CheckNodeWork(w)); err != nil {
		return 0, err.In("AddPeerNode")
	}
	j, err := peer.lower(w)
	if err != nil {
		return 0, err.In("AddPeerNode")
	}
	n, err := g.add(deps, j, peer)
	return n, err.In("AddPeerNode")
}

func (g *graph) add(deps []device.Node, j *job, on *Device) (device.Node, *device.Error) {
	row := make([]int32, 0, len(deps))
	for _, n := range deps {
		i, err := nodeIndex(n, len(g.nodes))
		if err != nil {
			return 0, err
		}
		row = append(row, i)
	}
	g.nodes = append(g.nodes, j)
	g.deps = append(g.deps, row)
	g.on = append(g.on, on)
	return device.Node(len(g.nodes)), nil
}

func nodeIndex(n device.Node, count int) (int32, *device.Error) {
	if n < 1 || n > device.Node(count) {
		return 0, &device.Error{Code: device.InvalidHandle, Detail: fmt.Sprintf("node %d is not among the graph's %d nodes", n, count)}
	}
	return int32(n - 1), nil
}

// Instantiate makes an executable instance of the graph.
func (d *Device) Instantiate(h device.Graph) (device.GraphExec, error) {
	g, bad := d.graphs.Get(h)
	if err := first(d.enter(d.profile.Host.Instantiate), bad, g.notBody(h)); err != nil {
		return 0, err.In("Instantiate")
	}
	p := g.plan()
	if err := g.unused(p.conditions(nil)); err != nil {
		return 0, err.In("Instantiate")
	}
	return d.fix(p), nil
}

// plan converts a graph and its bodies to plans.
func (g *graph) plan() *plan {
	nodes := make([]execNode, len(g.nodes))
	for i, j := range g.nodes {
		if c := j.choice; c != nil {
			fixed := *c
			for _, body := range c.graphs {
				fixed.bodies = append(fixed.bodies, body.plan())
			}
			with := *j
			with.choice = &fixed
			j = &with
		}
		nodes[i] = nodeOf(j)
		nodes[i].peer = g.on[i]
	}
	p := newPlan(nodes, g.deps)
	p.from = g
	return p
}

// fix makes an instance of a plan and charges its cost.
func (d *Device) fix(p *plan) device.GraphExec {
	costs := &d.profile.Host
	d.host = des.Plus(d.host, model.Time(p.count)*costs.InstantiateOne)
	x := &exec{plan: p, peers: p.peers()}
	x.cost = costs.GraphLaunch + model.Time(p.count)*costs.GraphNode + model.Time(p.branches)*costs.GraphBranch
	x.read()
	x.balance = p.balance(false)
	for _, m := range x.balance.all() {
		m.users++
	}
	return d.execs.Add(x)
}

// UpdateNode replaces the parameters of one node for later launches.
func (d *Device) UpdateNode(h device.GraphExec, n device.Node, w device.Work) error {
	x, bad := d.execNode(h, n)
	if err := first(d.enter(d.profile.Host.UpdateNode), bad); err != nil {
		return err.In("UpdateNode")
	}
	if x.job == nil {
		return (&device.Error{Code: device.GraphUpdateForbidden, Detail: fmt.Sprintf("node %d runs no work", n)}).In("UpdateNode")
	}
	return x.on(d).replace(&x.job, w).In("UpdateNode")
}

// UpdateNodes has the effect and the host cost of one UpdateNode per change.
func (d *Device) UpdateNodes(h device.GraphExec, changes []device.NodeWork) error {
	for i := range changes {
		c := &changes[i]
		x, bad := d.execNode(h, c.Node)
		err := first(d.enter(d.profile.Host.UpdateNode), bad)
		if err == nil && x.job == nil {
			err = &device.Error{Code: device.GraphUpdateForbidden, Detail: "it runs no work"}
		}
		if err == nil {
			err = x.on(d).replace(&x.job, c.Work)
		}
		if err != nil {
			err.Detail = fmt.Sprintf("node %d: %s", c.Node, err.Detail)
			return err.In("UpdateNodes")
		}
	}
	return nil
}

// replace replaces a job by one for another work of the same kind.
func (d *Device) replace(at **job, w device.Work) *device.Error {
	j, err := d.lower(w)
	if err != nil {
		return err
	}
	if was, is := (*at).kindOf(), j.kindOf(); was != is {
		return &device.Error{Code: device.GraphUpdateForbidden,
			Detail: fmt.Sprintf("a %s cannot become a %s; instantiate anew", was, is)}
	}
	*at = j
	return nil
}

var jobKinds = [...]string{
	nothing: "nothing", launch: "launch", copyBytes: "copy", memset: "memset", hostCall: "host call",
	upload: "write", download: "read", prefetch: "prefetch", release: "free",
	decision: "decision", valueOps: "value operations",
	graphAlloc: "allocation", graphFree: "free",
}

func (k jobKind) String() string { return jobKinds[k] }

// kindOf returns the contract.KindOf of the job's work.
func (j *job) kindOf() string {
	switch {
	case j.launch.Cooperative:
		return "cooperative launch"
	case j.off:
		return launch.String()
	}
	return j.kind.String()
}

// LaunchGraph enqueues all nodes between two markers. The first marker waits for the stream, and the roots wait for
// it. The second waits for the leaves, and the stream continues after it. As on a GPU, launches of one instance do
// not overlap, even in different streams.
func (d *Device) LaunchGraph(h device.GraphExec, sh device.Stream) error {
	return d.launchInto(h, d, sh).In("LaunchGraph")
}

// LaunchGraphInto is LaunchGraph into a stream of another device of the system.
func (d *Device) LaunchGraphInto(h device.GraphExec, peer *Device, sh device.Stream) error {
	if peer == nil {
		return unset("LaunchGraphInto", "the other device")
	}
	return d.launchInto(h, peer, sh).In("LaunchGraphInto")
}

func (d *Device) launchInto(h device.GraphExec, of *Device, sh device.Stream) *device.Error {
	x, badX := d.execs.Get(h)
	s, badS := of.streams.Get(sh)
	if err := first(d.enter(0), badX, badS, d.besides(of), of.usable()); err != nil {
		return err
	}
	return d.launchGraph(x, h, of, s)
}

// usable returns an error if the device accepts no work.
func (d *Device) usable() *device.Error { return d.enter(0) }

func (d *Device) launchGraph(x *exec, h device.GraphExec, of *Device, s *stream) *device.Error {
	for _, peer := range x.peers {
		if err := peer.usable(); err != nil {
			return err
		}
	}
	d.host = des.Plus(d.host, x.cost)
	due, err := x.balance.settle()
	if err != nil {
		return err
	}
	d.count.GraphLaunches++
	if x.launched {
		s.waits = append(s.waits, x.end)
	}
	var data any
	switch {
	case len(due) > 0:
		data = &beginning{x.begins.assign, due}
	case len(x.begins.assign) > 0:
		data = x.begins
	}
	of.enqueue(s, data, of.profile.GraphRootGap, des.GraphRoot)
	root, arrival := s.tail, d.arrival()
	first := d.addNodes(x.plan, root, &setting{stream: s, exec: h, priority: s.priority, arrival: arrival, rootWhy: des.GraphEdge})
	d.deps = after(append(d.deps[:0], root), first, x.leaves)
	s.tail = of.add(des.Task{Arrival: arrival, Priority: s.priority, Deps: d.deps}, place{stream: s.handle})
	x.launched, x.end = true, s.tail
	return nil
}

// finally is called when its task starts, even after a fault.
type finally func()

// DestroyGraphExec destroys the instance. Launches in progress continue.
func (d *Device) DestroyGraphExec(h device.GraphExec) error { return d.DestroyGraphExecThen(h, nil) }

// DestroyGraphExecThen is DestroyGraphExec, but calls f, unless nil, when the last launch has ended: at once, or in a
// later call that advances the device, at the latest in Close.
func (d *Device) DestroyGraphExecThen(h device.GraphExec, f func()) error {
	if err := d.enter(d.profile.Host.Create); err != nil {
		return err.In("DestroyGraphExec")
	}
	x, err := d.execs.Remove(h)
	if err != nil {
		return err.In("DestroyGraphExec")
	}
	x.gone = true
	leave(x.conditions)
	leaveMemory(x.balance.all())
	switch {
	case f != nil && x.launched:
		d.deps = append(d.deps[:0], x.end)
		d.add(des.Task{Arrival: d.host, Deps: d.deps, Data: finally(f)}, place{})
	case f != nil:
		f()
	}
	return nil
}
