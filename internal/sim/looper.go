package sim

import (
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/contract"
)

var _ device.Looper = (*Device)(nil)

// CreateCondition creates a condition of a graph.
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

// AddConditional adds a conditional node.
func (d *Device) AddConditional(h device.Graph, deps []device.Node, c device.Conditional) (device.Node, []device.Graph, error) {
	g, bad := d.graphs.Get(h)
	if err := first(d.enter(d.profile.Host.Create), bad, contract.CheckConditional(&c)); err != nil {
		return 0, nil, err.In("AddConditional")
	}
	cond, err := d.condition(c.Condition)
	if err == nil && cond.of != g.whole() {
		err = contract.ForeignCondition(c.Condition)
	}
	if err != nil {
		return 0, nil, err.In("AddConditional")
	}
	j := &job{kind: decision, label: c.Label, choice: &choice{kind: c.Kind, condition: cond}}
	n, err := g.add(deps, j, nil)
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

// unused returns an error if no node reads one of the graph's conditions.
func (g *graph) unused(used []*condition) *device.Error {
	for _, c := range g.conditions {
		if !slices.Contains(used, c) {
			return contract.UnreadCondition(device.Condition(c.word))
		}
	}
	return nil
}

// UpdateBodyNode replaces the parameters of a node of a body for later launches.
func (d *Device) UpdateBodyNode(h device.GraphExec, bh device.Graph, n device.Node, w device.Work) error {
	x, badX := d.execs.Get(h)
	g, badG := d.graphs.Get(bh)
	if err := first(d.enter(d.profile.Host.UpdateNode), badX, badG); err != nil {
		return err.In("UpdateBodyNode")
	}
	in, ok := x.plan.find(g)
	if !ok {
		return contract.ForeignBody(bh, h).In("UpdateBodyNode")
	}
	return d.updateIn(x, NodeAt{in, n}, w).In("UpdateBodyNode")
}

// find returns the position in p of the part made of g.
func (p *plan) find(g *graph) (in []BodyAt, ok bool) {
	if p.from == g {
		return nil, true
	}
	for i := range p.nodes {
		for k, body := range p.nodes[i].bodies() {
			if in, ok := body.find(g); ok {
				return append([]BodyAt{{device.Node(i + 1), k}}, in...), true
			}
		}
	}
	return nil, false
}
