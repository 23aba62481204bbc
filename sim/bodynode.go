package sim

import (
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/device"
)

// NodeAt is a node of an instance, be it in a body.
type NodeAt struct {
	In   []BodyAt // the bodies that it lies in, from the outside in
	Node device.Node
}

// BodyAt is a body of a conditional node.
type BodyAt struct {
	Node device.Node
	Body int
}

// NewCondition makes a condition for graphs that are given whole. Unless it is
// assigned, a launch begins with what the last one left, and the first with 0.
func (d *Device) NewCondition(initial uint32, assign bool) (device.Condition, error) {
	if err := d.enter(d.profile.Host.Create); err != nil {
		return 0, err.In("NewCondition")
	}
	c, err := d.newCondition(initial, assign)
	if err != nil {
		return 0, err.In("NewCondition")
	}
	c.users++
	return device.Condition(c.word), nil
}

// DropCondition ends the use of a condition by its maker. Instances keep it.
func (d *Device) DropCondition(h device.Condition) error {
	c, bad := d.condition(h)
	if err := first(d.enter(d.profile.Host.Create), bad); err != nil {
		return err.In("DropCondition")
	}
	leave([]*condition{c})
	return nil
}

// UpdateNodeAt is UpdateNode for a node wherever it lies.
func (d *Device) UpdateNodeAt(h device.GraphExec, at NodeAt, w device.Work) error {
	x, bad := d.execs.Get(h)
	if err := first(d.enter(d.profile.Host.UpdateNode), bad); err != nil {
		return err.In("UpdateNodeAt")
	}
	return d.updateIn(x, at, w).In("UpdateNodeAt")
}

func (d *Device) updateIn(x *exec, at NodeAt, w device.Work) *device.Error {
	if len(at.In) > 0 {
		if err := device.CheckBodyWork(w); err != nil {
			return err
		}
	}
	return x.edit(at, func(n *execNode) *device.Error {
		if n.job == nil {
			return &device.Error{Code: device.GraphUpdateForbidden, Detail: fmt.Sprintf("node %d runs no work", at.Node)}
		}
		return n.on(d).replace(&n.job, w)
	})
}

// EnableNode says whether later launches run a node or pass over it, as over one
// that does nothing.
func (d *Device) EnableNode(h device.GraphExec, at NodeAt, on bool) error {
	x, bad := d.execs.Get(h)
	if err := first(d.enter(d.profile.Host.UpdateNode), bad); err != nil {
		return err.In("EnableNode")
	}
	return x.edit(at, func(n *execNode) *device.Error {
		n.off = !on
		return nil
	}).In("EnableNode")
}

// NodeEnabled says which; asking costs nothing.
func (d *Device) NodeEnabled(h device.GraphExec, at NodeAt) (enabled bool, err error) {
	x, bad := d.execs.Get(h)
	if err := first(d.enter(0), bad); err != nil {
		return false, err.In("NodeEnabled")
	}
	no := x.edit(at, func(n *execNode) *device.Error {
		enabled = !n.off
		return nil
	})
	return enabled, no.In("NodeEnabled")
}

// UpdateCondition has a conditional node go by another condition.
func (d *Device) UpdateCondition(h device.GraphExec, at NodeAt, c device.Condition) error {
	x, badX := d.execs.Get(h)
	cond, badC := d.condition(c)
	if err := first(d.enter(d.profile.Host.UpdateNode), badX, badC); err != nil {
		return err.In("UpdateCondition")
	}
	err := x.edit(at, func(n *execNode) *device.Error {
		if n.job == nil || n.job.choice == nil {
			return &device.Error{Code: device.GraphUpdateForbidden, Detail: fmt.Sprintf("node %d is not conditional", at.Node)}
		}
		j, choice := *n.job, *n.job.choice
		choice.condition, j.choice = cond, &choice
		n.job = &j
		return nil
	})
	if err == nil {
		old := x.conditions
		x.read()
		leave(old)
	}
	return err.In("UpdateCondition")
}

// read notes which conditions an instance goes by.
func (x *exec) read() {
	x.conditions = x.plan.conditions(nil)
	var assign []*condition // a list of its own: a launch that is under way has the old
	for _, c := range x.conditions {
		if c.assign {
			assign = append(assign, c)
		}
	}
	x.begins = &beginning{assign: assign}
	keep(x.conditions)
}

// edit changes a node. A launch takes the graph's own nodes as they are, in which a
// change cannot reach it; bodies it unfolds later, so these are copied.
func (p *plan) edit(at NodeAt, change func(*execNode) *device.Error) *device.Error {
	outer := at.Node
	if len(at.In) > 0 {
		outer = at.In[0].Node
	}
	i, err := nodeIndex(outer, len(p.nodes))
	if err != nil {
		return err
	}
	n := &p.nodes[i]
	if len(at.In) == 0 {
		return change(n)
	}
	bodies, k := n.bodies(), at.In[0].Body
	if k < 0 || k >= len(bodies) {
		return &device.Error{Code: device.InvalidHandle, Detail: fmt.Sprintf("body %d is not among the %d of node %d", k, len(bodies), outer)}
	}
	body := *bodies[k]
	body.nodes = slices.Clone(body.nodes)
	if err := body.edit(NodeAt{at.In[1:], at.Node}, change); err != nil {
		return err
	}
	j, c := *n.job, *n.job.choice
	c.bodies = slices.Clone(bodies)
	c.bodies[k] = &body
	j.choice, n.job = &c, &j
	return nil
}
