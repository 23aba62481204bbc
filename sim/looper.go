package sim

import (
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/device"
)

var _ device.Looper = (*Device)(nil)

// CreateCondition makes a condition of a graph.
func (d *Device) CreateCondition(h device.Graph, initial uint32) (device.Condition, error) {
	g, bad := d.graphs.Get(h)
	if err := first(d.enter(d.profile.Host.Create), bad); err != nil {
		return 0, err.In("CreateCondition")
	}
	c, err := d.newCondition(initial, true)
	if err != nil {
		return 0, err.In("CreateCondition")
	}
	c.of = g.whole()
	c.of.conditions = append(c.of.conditions, c)
	c.users++
	return device.Condition(c.word), nil
}

// AddConditional adds a node that decides what runs.
func (d *Device) AddConditional(h device.Graph, deps []device.Node, c device.Conditional) (device.Node, []device.Graph, error) {
	g, bad := d.graphs.Get(h)
	if err := first(d.enter(d.profile.Host.Create), bad, c.Check()); err != nil {
		return 0, nil, err.In("AddConditional")
	}
	cond, err := d.condition(c.Condition)
	if err == nil && cond.of != g.whole() {
		err = &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("condition %#x is of another graph", uint64(c.Condition))}
	}
	if err != nil {
		return 0, nil, err.In("AddConditional")
	}
	j := &job{kind: decision, label: c.Label, choice: &choice{kind: c.Kind, condition: cond}}
	n, err := g.add(deps, j)
	if err != nil {
		return 0, nil, err.In("AddConditional")
	}
	var bodies []device.Graph
	for range c.Bodies {
		body := &graph{within: g}
		bodies = append(bodies, d.graphs.Add(body))
		j.choice.graphs = append(j.choice.graphs, body)
		g.bodies = append(g.bodies, bodies[len(bodies)-1])
	}
	return n, bodies, nil
}

// whole is the graph that a body is part of in the end, g itself when it is none.
func (g *graph) whole() *graph {
	for g.within != nil {
		g = g.within
	}
	return g
}

// notBody says why a body cannot be used alone.
func (g *graph) notBody(h device.Graph) *device.Error {
	if g == nil || g.within == nil {
		return nil
	}
	return &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("graph %d is the body of a conditional node and part of its graph", h)}
}

// unused says which condition of a graph no node reads.
func (g *graph) unused(used []*condition) *device.Error {
	for _, c := range g.conditions {
		if !slices.Contains(used, c) {
			return &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("condition %#x of the graph is read by no conditional node of it", c.word)}
		}
	}
	return nil
}

// UpdateBodyNode replaces the parameters of a node of a body for later launches.
func (d *Device) UpdateBodyNode(h device.GraphExec, bh device.Graph, n device.Node, w device.Work) error {
	x, badX := d.execs.Get(h)
	g, badG := d.graphs.Get(bh)
	if err := first(d.enter(d.profile.Host.UpdateNode), badX, badG, device.CheckBodyWork(w)); err != nil {
		return err.In("UpdateBodyNode")
	}
	p, err := x.plan.edit(g, func(p *plan) *device.Error {
		i, err := nodeIndex(n, len(p.nodes))
		if err != nil {
			return err
		}
		return d.replace(&p.nodes[i].job, w)
	})
	if err == nil && p == nil {
		err = &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("graph %d is no body of graph instance %d", bh, h)}
	}
	if err != nil {
		return err.In("UpdateBodyNode")
	}
	x.plan = p
	return nil
}

// edit is a copy of p in which the part made of g is changed, nil when there is no
// such part. Launches that are under way keep p, since they unfold its bodies later.
func (p *plan) edit(g *graph, change func(*plan) *device.Error) (*plan, *device.Error) {
	if p.from == g {
		q := *p
		q.nodes = slices.Clone(p.nodes)
		return &q, change(&q)
	}
	for i := range p.nodes {
		for k, body := range p.nodes[i].bodies() {
			b, err := body.edit(g, change)
			if err != nil {
				return nil, err
			}
			if b == nil {
				continue
			}
			q, j, c := *p, *p.nodes[i].job, *p.nodes[i].job.choice
			c.bodies = slices.Clone(c.bodies)
			c.bodies[k], j.choice = b, &c
			q.nodes = slices.Clone(p.nodes)
			q.nodes[i].job = &j
			return &q, nil
		}
	}
	return nil, nil
}
