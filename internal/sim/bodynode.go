package sim

import (
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/contract"
)

// NodeAt identifies a node of an instance, which may be in a body.
type NodeAt struct {
	In   []BodyAt // the bodies around it, the outermost first
	Node device.Node
}

// BodyAt identifies a body of a conditional node.
type BodyAt struct {
	Node device.Node
	Body int
}

// NewCondition creates a condition for InstantiateNodes. If assign is set, each launch starts with the initial value.
// Otherwise the condition keeps its value from the previous launch, and the first launch starts with 0.
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

// DropCondition releases the creator's reference to a condition. Instances hold references of their own.
func (d *Device) DropCondition(h device.Condition) error {
	c, bad := d.condition(h)
	if err := first(d.enter(d.profile.Host.Create), bad); err != nil {
		return err.In("DropCondition")
	}
	leave([]*condition{c})
	return nil
}

// UpdateNodeAt is UpdateNode for a node at any depth.
func (d *Device) UpdateNodeAt(h device.GraphExec, at NodeAt, w device.Work) error {
	x, bad := d.execs.Get(h)
	if err := first(d.enter(d.profile.Host.UpdateNode), bad); err != nil {
		return err.In("UpdateNodeAt")
	}
	return d.updateIn(x, at, w).In("UpdateNodeAt")
}

func (d *Device) updateIn(x *exec, at NodeAt, w device.Work) *device.Error {
	if len(at.In) > 0 {
		if err := contract.CheckBodyWork(w); err != nil {
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

// EnableNode enables or disables a node for later launches. A disabled node does nothing.
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

// NodeEnabled reports whether a node is enabled. It costs no virtual time.
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

// UpdateCondition sets the condition of a conditional node.
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

// read updates the list of conditions of an instance.
func (x *exec) read() {
	x.conditions = x.plan.conditions(nil)
	var assign []*condition // a new list: a launch in progress uses the old one
	for _, c := range x.conditions {
		if c.assign {
			assign = append(assign, c)
		}
	}
	x.begins = &beginning{assign: assign}
	keep(x.conditions)
}

// edit changes a node. A launch copies the graph's own nodes, so these are changed in place. It reads bodies while it
// runs, so these are copied.
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
