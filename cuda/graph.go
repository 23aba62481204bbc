//go:build cuda && cgo

package cuda

import (
	"fmt"

	"gorgonia.org/cu"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/contract"
)

// graph is a graph under construction. Node n is nodes[n-1]. The driver identifies the nodes of an instance by those
// of the graph, so the driver's graph lives until the graph and all its instances are destroyed.
type graph struct {
	g         cu.Graph
	nodes     []node
	instances int
	destroyed bool
	// urgent is set if a launch in the graph or in a body has its own priority. The driver honours priorities only in
	// instances created with a flag, in which all other launches have the least priority.
	urgent bool

	within *graph // the graph that this body belongs to, or nil
	bodies []device.Graph
}

type node struct {
	n    graphNode
	kind string
	call *hostCall
	// idle is set for a copy or a memset of no bytes, for which drivers have no node, and for a disabled launch. An
	// empty node replaces them, or the node is switched off in an instance.
	idle bool
	peer bool // another device runs it
}

// instance is a graph instance. Node n is nodes[n-1], with the instance's own parameters.
type instance struct {
	x     graphExec
	of    *graph
	nodes []node
	calls int
	blank []bool // nodes that were added as empty nodes and stay empty

	bodies map[device.Graph]*instance // parameters of nodes in bodies
}

// CreateGraph creates an empty graph.
func (d *gpuDevice) CreateGraph() (device.Graph, error) {
	if err := d.enter(); err != nil {
		return 0, err.In("CreateGraph")
	}
	defer d.mu.Unlock()
	g := &graph{}
	err := d.gorgonia("cuGraphCreate", func() (err error) { g.g, err = cu.MakeGraph(); return err })
	if err != nil {
		return 0, err.In("CreateGraph")
	}
	return d.graphs.Add(g), nil
}

// DestroyGraph destroys the graph. Its instances are not affected.
func (d *gpuDevice) DestroyGraph(h device.Graph) error {
	if err := d.enter(); err != nil {
		return err.In("DestroyGraph")
	}
	defer d.mu.Unlock()
	g, err := d.graphs.Get(h)
	if err := first(err, g.notBody(h)); err != nil {
		return err.In("DestroyGraph")
	}
	_, _ = d.graphs.Remove(h)
	d.forgetBodies(g)
	g.destroyed = true
	return d.freeGraph(g).In("DestroyGraph")
}

// freeGraph destroys the driver's graph once it has no users.
func (d *gpuDevice) freeGraph(g *graph) *device.Error {
	if !g.destroyed || g.instances > 0 {
		return nil
	}
	for i := range g.nodes {
		g.nodes[i].call.release()
	}
	return d.gorgonia("cuGraphDestroy", g.g.Destroy)
}

// AddNode adds work that runs after deps. It does not use gorgonia.org/cu, whose kernel nodes lose their parameters
// and whose host nodes are never freed.
func (d *gpuDevice) AddNode(h device.Graph, deps []device.Node, w device.Work) (device.Node, error) {
	if err := d.enter(); err != nil {
		return 0, err.In("AddNode")
	}
	defer d.mu.Unlock()
	g, err := d.graphs.Get(h)
	if err != nil {
		return 0, err.In("AddNode")
	}
	after, err := g.after(deps)
	if err != nil {
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
	n, err := d.addNode(g, after, d, w)
	return n, err.In("AddNode")
}

// addNode adds work of a device, which may be d itself, to a graph of d. Both are locked.
func (d *gpuDevice) addNode(g *graph, after []graphNode, on *gpuDevice, w device.Work) (device.Node, *device.Error) {
	call, err := on.lower(on.scratch.one(), w)
	if err != nil {
		return 0, err
	}
	n, code := on.driver.addNode(g.g, after, on.scratch.one())
	if code != 0 {
		call.release()
		return 0, on.failed("cuGraphAddNode", code)
	}
	g.nodes = append(g.nodes, node{n: n, kind: contract.KindOf(w), call: call, idle: idle(w), peer: on != d})
	if l, ok := w.(*device.Launch); ok && l.Priority != 0 {
		g.whole().urgent = true
	}
	return device.Node(len(g.nodes)), nil
}

// AddPeerNode adds work of another GPU: the driver takes the context of a node from what is current.
func (d *gpuDevice) AddPeerNode(h device.Graph, deps []device.Node, other device.Device, w device.Work) (device.Node, error) {
	peer, bad := contract.PeerOf[*gpuDevice](other)
	if bad == nil && peer == d {
		bad = contract.NoPeer(d.info.ID, "it is the device itself")
	}
	if bad != nil {
		return 0, bad.In("AddPeerNode")
	}
	unlock, err := enterBoth(d, peer)
	if err != nil {
		return 0, err.In("AddPeerNode")
	}
	defer unlock()
	g, err := d.graphs.Get(h)
	if err := first(err, g.notBody(h), contract.CheckNodeWork(w)); err != nil {
		return 0, err.In("AddPeerNode")
	}
	after, err := g.after(deps)
	if err != nil {
		return 0, err.In("AddPeerNode")
	}
	n, err := d.addNode(g, after, peer, w)
	return n, err.In("AddPeerNode")
}

// enterBoth enters a device and another one, in the order of their numbers, so that calls in both directions do not wait for
// each other. An error of the other device is as if it were closed.
func enterBoth(d, peer *gpuDevice) (unlock func(), err *device.Error) {
	a, b := d, peer
	if a.info.Instance > b.info.Instance {
		a, b = b, a
	}
	if err := a.enter(); err != nil {
		return nil, err
	}
	if err := b.enter(); err != nil {
		a.mu.Unlock()
		return nil, err
	}
	return func() { b.mu.Unlock(); a.mu.Unlock() }, nil
}

// after returns the driver's nodes for dependencies.
func (g *graph) after(deps []device.Node) ([]graphNode, *device.Error) {
	after := make([]graphNode, 0, len(deps))
	for _, n := range deps {
		if err := checkNode(n, len(g.nodes)); err != nil {
			return nil, err
		}
		after = append(after, g.nodes[n-1].n)
	}
	return after, nil
}

func checkNode(n device.Node, count int) *device.Error {
	if n < 1 || n > device.Node(count) {
		return refuse(device.InvalidHandle, "node %d is not among the graph's %d nodes", n, count)
	}
	return nil
}

// idle reports whether a work is a copy or a memset of no bytes, or a disabled launch.
func idle(w device.Work) bool {
	switch w := w.(type) {
	case *device.Copy:
		return w.Bytes == 0
	case *device.Memset:
		return w.Count == 0
	case *device.Launch:
		return w.Off
	}
	return false
}

// Instantiate makes an executable instance of the graph.
func (d *gpuDevice) Instantiate(h device.Graph) (device.GraphExec, error) {
	if err := d.enter(); err != nil {
		return 0, err.In("Instantiate")
	}
	defer d.mu.Unlock()
	g, err := d.graphs.Get(h)
	if err := first(err, g.notBody(h), d.unusedCondition(g)); err != nil {
		return 0, err.In("Instantiate")
	}
	raw, code := d.driver.instantiate(g.g, g.urgent)
	if err := d.failed("cuGraphInstantiateWithFlags", code); err != nil {
		return 0, err.In("Instantiate")
	}
	x := newInstance(raw, g)
	g.instances++
	d.eachBody(g, func(h device.Graph, body *graph) {
		if x.bodies == nil {
			x.bodies = map[device.Graph]*instance{}
		}
		x.bodies[h] = newInstance(raw, body)
	})
	return d.execs.Add(x), nil
}

func newInstance(raw graphExec, g *graph) *instance {
	x := &instance{x: raw, of: g, nodes: append([]node(nil), g.nodes...), blank: make([]bool, len(g.nodes))}
	for i := range x.nodes {
		x.blank[i] = x.nodes[i].idle
		if c := x.nodes[i].call; c != nil {
			c.hold()
			x.calls++
		}
	}
	return x
}

// UpdateNode replaces the parameters of one node for later launches.
func (d *gpuDevice) UpdateNode(h device.GraphExec, n device.Node, w device.Work) error {
	return d.updateNodes(h, []device.NodeWork{{Node: n, Work: w}}).In("UpdateNode")
}

// UpdateNodes makes one call into C for any number of nodes.
func (d *gpuDevice) UpdateNodes(h device.GraphExec, changes []device.NodeWork) error {
	return d.updateNodes(h, changes).In("UpdateNodes")
}

func (d *gpuDevice) updateNodes(h device.GraphExec, changes []device.NodeWork) *device.Error {
	if err := d.enter(); err != nil {
		return err
	}
	defer d.mu.Unlock()
	x, err := d.execs.Get(h)
	if err != nil {
		return err
	}
	return d.update(x, changes)
}

// update changes nodes of an instance, up to the first error.
func (d *gpuDevice) update(x *instance, changes []device.NodeWork) *device.Error {
	u := newUpdates(len(changes))
	defer u.free()
	calls := make([]*hostCall, len(changes))
	n, refused := 0, (*device.Error)(nil)
	for ; n < len(changes) && refused == nil; n++ {
		if calls[n], refused = d.prepare(x, &u, n, &changes[n]); refused != nil {
			break
		}
	}
	done, code := d.driver.updateNodes(x.x, &u, n)
	for i := range n {
		if i >= done && code != 0 {
			calls[i].release()
			continue
		}
		node := &x.nodes[changes[i].Node-1]
		node.call.release()
		node.call, node.idle = calls[i], idle(changes[i].Work)
	}
	at, err := n, refused
	if code != 0 {
		at, err = done, d.failed("cuGraphExecNodeSetParams", code)
	}
	if err != nil {
		err.Detail = fmt.Sprintf("node %d: %s", changes[at].Node, err.Detail)
	}
	return err
}

// prepare sets change i of u from c.
func (d *gpuDevice) prepare(x *instance, u *updates, i int, c *device.NodeWork) (*hostCall, *device.Error) {
	if err := first(checkNode(c.Node, len(x.nodes)), contract.CheckWork(c.Work, &d.info)); err != nil {
		return nil, err
	}
	n, off := &x.nodes[c.Node-1], idle(c.Work)
	if err := sameKind(n.kind, c.Work); err != nil {
		return nil, err
	}
	if n.peer {
		return nil, refuse(device.NotSupported, "it runs on another device; instantiate anew")
	}
	if x.blank[c.Node-1] && !off {
		return nil, refuse(device.GraphUpdateForbidden, "it was added as a node that does nothing, which the driver cannot change; instantiate anew")
	}
	t := turnNone
	switch {
	case off && n.idle:
		t = turnKeep
	case off:
		t = turnOff
	case n.idle:
		t = turnOn
	}
	call, err := d.lower(&u.works[i], c.Work)
	u.set(i, n.n, t)
	return call, err
}

// LaunchGraph enqueues one run of the whole graph.
func (d *gpuDevice) LaunchGraph(h device.GraphExec, sh device.Stream) error {
	if err := d.enter(); err != nil {
		return err.In("LaunchGraph")
	}
	defer d.mu.Unlock()
	x, badX := d.execs.Get(h)
	s, badS := d.streams.Get(sh)
	if err := first(badX, badS); err != nil {
		return err.In("LaunchGraph")
	}
	x.enqueued(1)
	code := d.driver.launchGraph(x.x, s)
	if code != 0 {
		x.enqueued(-1)
	}
	return d.failed("cuGraphLaunch", code).In("LaunchGraph")
}

// enqueued adds runs of the instance's host calls.
func (x *instance) enqueued(runs int) {
	if x == nil || x.calls == 0 {
		return
	}
	for i := range x.nodes {
		x.nodes[i].call.enqueued(runs)
	}
}

// DestroyGraphExec destroys the instance. Launches in progress continue.
func (d *gpuDevice) DestroyGraphExec(h device.GraphExec) error {
	if err := d.enter(); err != nil {
		return err.In("DestroyGraphExec")
	}
	defer d.mu.Unlock()
	x, err := d.execs.Remove(h)
	if err != nil {
		return err.In("DestroyGraphExec")
	}
	destroyed.Add(1)
	return d.freeExec(x).In("DestroyGraphExec")
}

func (d *gpuDevice) freeExec(x *instance) *device.Error {
	for i := range x.nodes {
		x.nodes[i].call.release()
	}
	x.of.instances--
	err := d.gorgonia("cuGraphExecDestroy", handleOf[cu.ExecGraph](x.x).Destroy)
	return first(err, d.freeGraph(x.of))
}
