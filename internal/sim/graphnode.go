package sim

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/contract"
)

// GraphNode is one node of a graph for InstantiateNodes: work, the record of an event, a wait for an event, or a join
// of other nodes.
type GraphNode struct {
	Work   device.Work
	Record device.Event
	Wait   device.Event // waits for its last record before the launch or in it
	// Join makes a node that does nothing and takes no time, on the device or on the host. Its successors depend on
	// all its predecessors. With a join, two fully connected levels of nodes need one edge per node instead of one
	// per pair.
	Join bool
	// Conditional, if not nil, makes this a conditional node.
	Conditional *GraphConditional
	// Alloc and Free are addresses from ReserveGraphMemory whose memory the node allocates or frees.
	Alloc, Free device.Ptr
	// Deps lists the predecessors by index; all precede the node in the list.
	Deps []int32
	// Priority, if not nil, overrides the priority of the stream.
	Priority *int
	// On is the device of the system that runs the node; nil means the device of the graph. A body runs on the device
	// of its conditional node.
	On *Device
}

// GraphConditional is a conditional node for InstantiateNodes.
type GraphConditional struct {
	Kind      device.ConditionalKind
	Condition device.Condition
	Bodies    [][]GraphNode
}

// EditGraph charges the host for a change of a graph that the caller keeps for InstantiateNodes.
func (d *Device) EditGraph() error { return d.enter(d.profile.Host.Create).In("EditGraph") }

// InstantiateNodes makes an instance of a graph given as a list of nodes. It has the cost of Instantiate. Node n of
// the instance is nodes[n-1].
func (d *Device) InstantiateNodes(nodes []GraphNode) (device.GraphExec, error) {
	if err := d.enter(d.profile.Host.Instantiate); err != nil {
		return 0, err.In("InstantiateNodes")
	}
	p, err := d.lowerNodes(nodes)
	if err != nil {
		return 0, err.In("InstantiateNodes")
	}
	return d.fix(p), nil
}

func (d *Device) lowerNodes(nodes []GraphNode) (*plan, *device.Error) {
	fixed, deps := make([]execNode, len(nodes)), make([][]int32, len(nodes))
	for i := range nodes {
		for _, dep := range nodes[i].Deps {
			if dep < 0 || int(dep) >= i {
				panic(fmt.Sprintf("BUG: node %d of a graph depends on node %d, which does not come before it", i, dep))
			}
		}
		deps[i] = nodes[i].Deps
		var err *device.Error
		on := orDefault(nodes[i].On, d)
		if on != d {
			if err = first(d.besides(on), on.usable()); err != nil {
				return nil, err
			}
		}
		if fixed[i], err = on.lowerNode(&nodes[i]); err != nil {
			return nil, err
		}
		if on != d {
			fixed[i].peer = on
		}
	}
	return newPlan(fixed, deps), nil
}

func (d *Device) lowerNode(n *GraphNode) (x execNode, err *device.Error) {
	if n.Priority != nil {
		defer func() { x.priority, x.hasPriority = clampPriority(*n.Priority), true }()
	}
	switch {
	case n.Join:
		x.join = true
	case n.Record != 0:
		x.event, err = d.events.Get(n.Record)
	case n.Wait != 0:
		x.wait = true
		x.event, err = d.events.Get(n.Wait)
	case n.Alloc != 0:
		x.job, err = d.lowerGraphMemory(graphAlloc, n.Alloc)
	case n.Free != 0:
		x.job, err = d.lowerGraphMemory(graphFree, n.Free)
	case n.Conditional != nil:
		x.job, err = d.lowerConditional(n.Conditional)
	default:
		var j *job
		if j, err = d.lower(n.Work); err == nil {
			x = nodeOf(j)
		}
	}
	return x, err
}

func (d *Device) lowerGraphMemory(kind jobKind, p device.Ptr) (*job, *device.Error) {
	m := d.graphMemory[p]
	if m == nil {
		return nil, &device.Error{Code: device.InvalidValue, Detail: fmt.Sprintf("%#x is not the address of graph memory", uint64(p))}
	}
	return &job{kind: kind, memory: m}, nil
}

// FreeOnLaunch makes each launch of an instance free the memory that the last launch left allocated. Without it such
// a launch is refused.
func (d *Device) FreeOnLaunch(h device.GraphExec) error {
	x, bad := d.execs.Get(h)
	if err := first(d.enter(0), bad); err != nil {
		return err.In("FreeOnLaunch")
	}
	x.balance.autoFree = true
	return nil
}

func (d *Device) lowerConditional(n *GraphConditional) (*job, *device.Error) {
	check := device.Conditional{Kind: n.Kind, Bodies: len(n.Bodies)}
	if err := contract.CheckConditional(&check); err != nil {
		return nil, err
	}
	c := &choice{kind: n.Kind}
	var err *device.Error
	if c.condition, err = d.condition(n.Condition); err != nil {
		return nil, err
	}
	for _, nodes := range n.Bodies {
		for i := range nodes {
			n := &nodes[i]
			if err := contract.CheckBodyWork(n.Work); err != nil {
				return nil, err
			}
			if n.On != nil && n.On != d {
				return nil, &device.Error{Code: device.NotSupported, Detail: "a node of a body runs on the device of its conditional node"}
			}
			if n.Record|n.Wait != 0 || n.Alloc|n.Free != 0 {
				return nil, &device.Error{Code: device.NotSupported, Detail: "the body of a conditional node cannot hold events or graph memory"}
			}
		}
		body, err := d.lowerNodes(nodes)
		if err != nil {
			return nil, err
		}
		c.bodies = append(c.bodies, body)
	}
	return &job{kind: decision, choice: c}, nil
}

// UpdateNodeEvent replaces the event that a node of an instance records or waits for, for later launches.
func (d *Device) UpdateNodeEvent(h device.GraphExec, n device.Node, e device.Event) error {
	x, bad := d.execNode(h, n)
	if err := first(d.enter(d.profile.Host.UpdateNode), bad); err != nil {
		return err.In("UpdateNodeEvent")
	}
	event, bad := x.on(d).events.Get(e)
	if bad != nil {
		return bad.In("UpdateNodeEvent")
	}
	if x.event == nil {
		return (&device.Error{Code: device.GraphUpdateForbidden, Detail: fmt.Sprintf("node %d has no event", n)}).In("UpdateNodeEvent")
	}
	x.event = event
	return nil
}

func (d *Device) execNode(h device.GraphExec, n device.Node) (*execNode, *device.Error) {
	x, err := d.execs.Get(h)
	if err != nil {
		return nil, err
	}
	i, err := nodeIndex(n, len(x.nodes))
	if err != nil {
		return nil, err
	}
	return &x.nodes[i], nil
}

// Check returns an error if work cannot be enqueued now. It costs no virtual time.
func (d *Device) Check(w device.Work) error {
	_, err := d.lower(w)
	return err.In("Check")
}
