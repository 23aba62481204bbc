package contract

import "github.com/reprise-gpu/reprise/device"

// CheckConditional returns an error if the description is invalid. It does not check that the condition exists.
func CheckConditional(c *device.Conditional) *device.Error {
	switch {
	case c.Kind > device.Switch:
		return refuse(device.InvalidValue, "a conditional node of kind %d; want If, While or Switch", uint8(c.Kind))
	case c.Bodies < 1, c.Kind == device.While && c.Bodies > 1, c.Kind == device.If && c.Bodies > 2, c.Bodies > maxBodies:
		return refuse(device.InvalidValue, "%d bodies in a %v node; an if node has 1 or 2, a while node 1, a switch node 1 to %d", c.Bodies, c.Kind, maxBodies)
	}
	return nil
}

// maxBodies bounds the number of bodies, so that a wrong number does not exhaust the memory.
const maxBodies = 1 << 16

// SelectBody returns the number of the body that a value of the condition selects, or -1 if it selects none.
func SelectBody(k device.ConditionalKind, value uint32, bodies int) int {
	n := int64(value)
	if k != device.Switch {
		n = 0
		if value == 0 {
			n = 1
		}
	}
	if n >= int64(bodies) {
		return -1
	}
	return int(n)
}

// CheckBodyWork returns an error if the body of a conditional node cannot hold the work.
func CheckBodyWork(w device.Work) *device.Error {
	if h, ok := w.(*device.HostCall); ok && h != nil {
		return refuse(device.NotSupported, "host call %q in the body of a conditional node; bodies hold launches, copies, memsets, nothing and conditional nodes", h.Label)
	}
	return nil
}

// ForeignCondition returns the error for a condition that belongs to another graph than its node.
func ForeignCondition(c device.Condition) *device.Error {
	return refuse(device.InvalidValue, "condition %#x is of another graph", uint64(c))
}

// UnreadCondition returns the error for a condition that no conditional node reads. CUDA does not specify what
// happens with one.
func UnreadCondition(c device.Condition) *device.Error {
	return refuse(device.InvalidValue, "condition %#x of the graph is read by no conditional node of it", uint64(c))
}

// BodyAlone returns the error for a body that is used as a whole graph.
func BodyAlone(g device.Graph) *device.Error {
	return refuse(device.InvalidValue, "graph %d is the body of a conditional node and part of its graph", g)
}

// ForeignBody returns the error for a graph that is not a body of the instance.
func ForeignBody(g device.Graph, x device.GraphExec) *device.Error {
	return refuse(device.InvalidValue, "graph %d is not a body of graph instance %d", g, x)
}
