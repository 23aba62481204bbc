//go:build cuda && cgo

package cuda

import (
	"slices"

	"gorgonia.org/cu"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/contract"
)

var _ device.Looper = (*gpuDevice)(nil)

// The releases of CUDA that introduced conditional nodes, and switches and else bodies.
const (
	withConditionals = 12040
	withSwitches     = 12080
)

// condition is a condition of a graph, which may be a body.
type condition struct {
	of   *graph // the outermost graph
	used bool   // a node reads it
}

// CreateCondition creates a condition of a graph.
func (d *gpuDevice) CreateCondition(h device.Graph, initial uint32) (device.Condition, error) {
	if err := d.enter(); err != nil {
		return 0, err.In("CreateCondition")
	}
	defer d.mu.Unlock()
	g, err := d.graphs.Get(h)
	if err != nil {
		return 0, err.In("CreateCondition")
	}
	if err := has(withConditionals, "conditional nodes"); err != nil {
		return 0, err.In("CreateCondition")
	}
	c, code := d.driver.createCondition(g.g, initial)
	if err := d.failed("cuGraphConditionalHandleCreate", code); err != nil {
		return 0, err.In("CreateCondition")
	}
	if d.conditions == nil {
		d.conditions = map[device.Condition]*condition{}
	}
	d.conditions[c] = &condition{of: g.whole()}
	return c, nil
}

// has returns an error if the driver is older than a release.
func has(release int, what string) *device.Error {
	if v := cu.Version(); v < release {
		return refuse(device.NotSupported, "the driver is of CUDA %d.%d, and %s came with %d.%d; update the driver",
			v/1000, v%1000/10, what, release/1000, release%1000/10)
	}
	return nil
}

// AddConditional adds a conditional node.
func (d *gpuDevice) AddConditional(h device.Graph, deps []device.Node, c device.Conditional) (device.Node, []device.Graph, error) {
	if err := d.enter(); err != nil {
		return 0, nil, err.In("AddConditional")
	}
	defer d.mu.Unlock()
	n, bodies, err := d.addConditional(h, deps, c)
	return n, bodies, err.In("AddConditional")
}

func (d *gpuDevice) addConditional(h device.Graph, deps []device.Node, c device.Conditional) (device.Node, []device.Graph, *device.Error) {
	g, err := d.graphs.Get(h)
	if err := first(err, contract.CheckConditional(&c)); err != nil {
		return 0, nil, err
	}
	after, err := g.after(deps)
	if err != nil {
		return 0, nil, err
	}
	cond := d.conditions[c.Condition]
	switch {
	case cond == nil:
		return 0, nil, refuse(device.InvalidHandle, "condition %#x does not exist", uint64(c.Condition))
	case cond.of != g.whole():
		return 0, nil, contract.ForeignCondition(c.Condition)
	}
	label(c.Label)
	raw := make([]cu.Graph, c.Bodies)
	n, code := d.driver.addConditional(g.g, after, &c, raw)
	if code != 0 {
		old := has(withSwitches, "switches and elses")
		if c.Kind != device.Switch && c.Bodies == 1 {
			old = nil
		}
		return 0, nil, first(old, d.failed("cuGraphAddNode", code))
	}
	cond.used = true
	g.nodes = append(g.nodes, node{n: n, kind: "conditional node"})
	bodies := make([]device.Graph, c.Bodies)
	for i := range raw {
		bodies[i] = d.graphs.Add(&graph{g: raw[i], within: g})
	}
	g.bodies = append(g.bodies, bodies...)
	return device.Node(len(g.nodes)), bodies, nil
}

// whole returns the outermost graph that a body is part of, or g itself if g is not a body.
func (g *graph) whole() *graph {
	for g.within != nil {
		g = g.within
	}
	return g
}

// notBody returns an error if g is a body, which cannot be used alone.
func (g *graph) notBody(h device.Graph) *device.Error {
	if g == nil || g.within == nil {
		return nil
	}
	return contract.BodyAlone(h)
}

// forgetBodies removes the handles of conditions and bodies of a graph. The driver destroys them with the graph.
func (d *gpuDevice) forgetBodies(g *graph) {
	for _, h := range g.bodies {
		if body, err := d.graphs.Remove(h); err == nil {
			d.forgetBodies(body)
		}
	}
	for c, v := range d.conditions {
		if v.of == g {
			delete(d.conditions, c)
		}
	}
}

// unusedCondition returns an error if no node reads one of the graph's conditions.
func (d *gpuDevice) unusedCondition(g *graph) *device.Error {
	var unused []device.Condition
	for c, v := range d.conditions {
		if v.of == g && !v.used {
			unused = append(unused, c)
		}
	}
	if len(unused) == 0 {
		return nil
	}
	return contract.UnreadCondition(slices.Min(unused))
}

// eachBody calls do for every body in a graph, at any depth.
func (d *gpuDevice) eachBody(g *graph, do func(device.Graph, *graph)) {
	for _, h := range g.bodies {
		body, _ := d.graphs.Get(h)
		do(h, body)
		d.eachBody(body, do)
	}
}

// UpdateBodyNode is UpdateNode for a node of a body.
func (d *gpuDevice) UpdateBodyNode(h device.GraphExec, bh device.Graph, n device.Node, w device.Work) error {
	if err := d.enter(); err != nil {
		return err.In("UpdateBodyNode")
	}
	defer d.mu.Unlock()
	x, badX := d.execs.Get(h)
	_, badG := d.graphs.Get(bh)
	if err := first(badX, badG, contract.CheckBodyWork(w), contract.CheckWork(w, &d.info)); err != nil {
		return err.In("UpdateBodyNode")
	}
	body := x.bodies[bh]
	if body == nil {
		return contract.ForeignBody(bh, h).In("UpdateBodyNode")
	}
	return d.update(body, []device.NodeWork{{Node: n, Work: w}}).In("UpdateBodyNode")
}
