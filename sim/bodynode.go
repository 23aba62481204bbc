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
	d.leave([]*condition{c})
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
		return d.replace(&n.job, w)
	})
}

// EnableNodeAt is EnableNode for a node wherever it lies.
func (d *Device) EnableNodeAt(h device.GraphExec, at NodeAt, on bool) error {
	x, bad := d.execs.Get(h)
	if err := first(d.enter(d.profile.Host.UpdateNode), bad); err != nil {
		return err.In("EnableNodeAt")
	}
	return x.edit(at, func(n *execNode) *device.Error {
		n.off = !on
		return nil
	}).In("EnableNodeAt")
}

// UpdateConditionAt has a conditional node go by another condition.
func (d *Device) UpdateConditionAt(h device.GraphExec, at NodeAt, c device.Condition) error {
	x, badX := d.execs.Get(h)
	cond, badC := d.condition(c)
	if err := first(d.enter(d.profile.Host.UpdateNode), badX, badC); err != nil {
		return err.In("UpdateConditionAt")
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
		d.leave(old)
	}
	return err.In("UpdateConditionAt")
}

// read notes which conditions an instance goes by.
func (x *exec) read() {
	x.conditions, x.assign = x.plan.conditions(nil), nil
	for _, c := range x.conditions {
		if c.assign {
			x.assign = append(x.assign, c)
		}
	}
	keep(x.conditions)
}

// edit changes a node. Launches that are under way unfold bodies later, so these are
// copied.
func (x *exec) edit(at NodeAt, change func(*execNode) *device.Error) *device.Error {
	p, err := x.plan.with(at, change)
	if err == nil {
		x.plan = p
	}
	return err
}

// with is a copy of p in which a node is changed.
func (p *plan) with(at NodeAt, change func(*execNode) *device.Error) (*plan, *device.Error) {
	n, k := at.Node, -1
	if len(at.In) > 0 {
		n, k = at.In[0].Node, at.In[0].Body
	}
	i, err := nodeIndex(n, len(p.nodes))
	if err != nil {
		return nil, err
	}
	q := *p
	q.nodes = slices.Clone(p.nodes)
	if k < 0 {
		return &q, change(&q.nodes[i])
	}
	bodies := p.nodes[i].bodies()
	if k >= len(bodies) {
		return nil, &device.Error{Code: device.InvalidHandle, Detail: fmt.Sprintf("body %d is not among the %d of node %d", k, len(bodies), n)}
	}
	j, c := *p.nodes[i].job, *p.nodes[i].job.choice
	c.bodies = slices.Clone(bodies)
	j.choice, q.nodes[i].job = &c, &j
	c.bodies[k], err = bodies[k].with(NodeAt{at.In[1:], at.Node}, change)
	return &q, err
}
