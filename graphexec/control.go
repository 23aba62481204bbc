package graphexec

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/until"
	"github.com/reprise-gpu/reprise/ir"
)

// controls lowers loops and branches to conditional nodes of a graph, and holds what these need until the graph is
// destroyed:
//
//	loop     begin ─► while node
//	                    └─ operations ─► until
//	branch   choose ─► if node
//	                    └─ operations of one body
//
// The kernels begin, until and choose are in until.cu, as loop_begin, until_* and branch_*. Kernel
// begin sets the condition of a loop to 1. It is added only in the body of another node: the
// condition of an outermost loop has the default value 1 at every launch of the graph, but in a body
// it keeps the value 0 with which the loop ended last time.
type controls struct {
	module device.Module
	states []device.Ptr         // one struct state of until.cu per loop
	nodes  map[ir.OpID][]atNode // of operations in bodies; for a loop or a branch, those that read its scalar

	conditionals map[ir.OpID]atNode // by loop and branch in a body: its conditional node, with no instance
}

// atNode is a node that must be updated when an operation changes.
type atNode struct {
	exec device.GraphExec
	body device.Graph // the body that holds it; 0 for the graph itself
	node device.Node
	// read returns the work of a node that reads a scalar at an address. It is nil for a node that does
	// the work of the operation itself.
	read func(device.Ptr) device.Work
}

// add records a node for an operation. Its instance is unknown until the graph is instantiated.
func (k *controls) add(op ir.OpID, n atNode) { put(&k.nodes, op, append(k.nodes[op], n)) }

// instantiated sets the instance of the nodes recorded since the last instantiation.
func (k *controls) instantiated(exec device.GraphExec) {
	for _, nodes := range k.nodes {
		for i := range nodes {
			if nodes[i].exec == 0 {
				nodes[i].exec = exec
			}
		}
	}
}

// holds reports whether an operation of p is updated here: a loop or a branch, or an operation in a
// body. An operation in a body has no node, and needs no update, while an operation around it is off.
func (k *controls) holds(p *program, op ir.OpID) bool {
	return int(op) >= len(p.work) || p.bodies[op] != nil
}

// update updates the nodes of an operation. For a loop or a branch, whose work is a copy from its
// scalar, the nodes that read the scalar get its new address.
func (k *controls) update(dev device.Device, w opWork) error {
	for _, n := range k.nodes[w.op] {
		work := w.work
		if n.read != nil {
			work = n.read(work.(*device.Copy).Src)
		}
		var err error
		if n.body == 0 {
			err = dev.UpdateNode(n.exec, n.node, work)
		} else {
			err = dev.(device.Looper).UpdateBodyNode(n.exec, n.body, n.node, work)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// control adds a loop or a branch to a graph and returns its conditional node. It returns a
// device.NotSupported error if the device has no conditional nodes or the limit of the loop exceeds
// until.MaxRounds; the caller then uses the hosted back end.
func (q *sequence) control(op ir.OpID, deps []device.Node) (device.Node, error) {
	looper, ok := q.dev.(device.Looper)
	if !ok {
		return 0, errNoLooper
	}
	if err := q.controls.load(q.dev); err != nil {
		return 0, err
	}
	c := conditional{sequence: q, looper: looper, op: op, of: q.prog.sched.Graph.Ops[op].Control, test: q.prog.test(op)}
	c.label = q.prog.nameHere(op)
	if q.prog.sched.Graph.Ops[op].Kind == ir.KindLoop {
		return c.loop(deps)
	}
	return c.branch(deps)
}

// Programs with these errors are replayed by the host: see instantiate.
var (
	errNoLooper = &device.Error{Call: "AddConditional", Code: device.NotSupported, Detail: "the device has no conditional nodes"}
	errLimit    = &device.Error{Call: "AddConditional", Code: device.NotSupported, Detail: fmt.Sprintf("a loop has more than %d iterations", until.MaxRounds)}
)

// load loads the module with the kernels of until.cu once.
func (k *controls) load(dev device.Device) (err error) {
	if k.module == 0 {
		k.module, err = dev.LoadModule("until.ptx", until.PTX)
	}
	return err
}

func (k *controls) close(dev device.Device) error {
	var errs []error
	for _, p := range k.states {
		errs = append(errs, dev.Free(p))
	}
	if k.module != 0 {
		errs = append(errs, dev.UnloadModule(k.module))
	}
	return device.Join(errs...)
}

// test returns the condition of a loop or a branch.
func (p *program) test(op ir.OpID) until.Test {
	c := p.sched.Graph.Ops[op].Control
	return until.Test{Elem: p.sched.Graph.Buffers[c.Scalar.Buffer].Elem, Is: c.Is, Value: c.Value}
}

// conditional is a loop or a branch that is being added to a graph as a conditional node.
type conditional struct {
	*sequence
	looper device.Looper
	op     ir.OpID
	of     *ir.Control
	test   until.Test
	label  string
}

// loop adds a while node. The default value of its condition is 1, so that the first iteration always
// runs; kernel until sets it to 0 after the last one.
func (c *conditional) loop(deps []device.Node) (device.Node, error) {
	if c.of.Limit > until.MaxRounds {
		return 0, errLimit
	}
	condition, err := c.looper.CreateCondition(c.top, 1)
	if err != nil {
		return 0, err
	}
	if c.nested {
		begin, err := c.kernel("loop_begin", condition, nil)
		if err != nil {
			return 0, err
		}
		n, err := c.dev.AddNode(c.graph, deps, begin())
		if err != nil {
			return 0, err
		}
		deps = []device.Node{n}
	}
	node, bodies, err := c.looper.AddConditional(c.graph, deps, device.Conditional{Kind: device.While, Condition: condition, Bodies: 1, Label: c.label})
	if err != nil {
		return 0, err
	}
	ends, err := c.body(0, bodies[0])
	if err != nil {
		return 0, err
	}
	return node, c.until(bodies[0], ends, condition)
}

// until adds the kernel that ends an iteration.
func (c *conditional) until(body device.Graph, ends []device.Node, condition device.Condition) error {
	state, err := c.state()
	if err != nil {
		return err
	}
	entry, test := c.test.Kernel()
	if test != nil {
		_, err = c.read(body, body, ends, entry, condition, test, state)
		return err
	}
	// No value of the scalar ends the loop. The kernel then compares a word that is never 0, the state's
	// "every", with 0, and only counts iterations.
	kernel, err := c.kernel(entry, condition, until.Never())
	if err != nil {
		return err
	}
	_, err = c.dev.AddNode(body, ends, kernel(state+until.StateEvery, state))
	return err
}

// number returns the number of the operation in the whole program.
func (c *conditional) number() ir.OpID { return c.prog.first + c.op }

// state allocates the state of a loop and sets its words: left and most to the limit, every to the
// number of iterations between two checks. It waits for these writes, since the graph may be launched
// on another stream. The kernel until resets left when the loop ends.
func (c *conditional) state() (device.Ptr, error) {
	p, err := c.dev.Alloc(until.StateBytes)
	if err != nil {
		return 0, err
	}
	c.controls.states = append(c.controls.states, p)
	set := func(offset device.Ptr, n int64, value int64) error {
		return c.dev.Submit(c.stream, &device.Memset{Dst: p + offset, Value: uint32(value), Width: 4, Count: n, Label: "counts of " + c.label})
	}
	return p, device.Join(set(until.StateLeft, 2, c.of.Limit), set(until.StateEvery, 2, min(c.of.Every, c.of.Limit)), c.dev.Synchronize(c.stream))
}

// branch adds an if node. The default value of its condition is 0; kernel choose sets it to 1 if the
// condition holds. With a value of 0 the second body runs, if there is one.
func (c *conditional) branch(deps []device.Node) (device.Node, error) {
	condition, err := c.looper.CreateCondition(c.top, 0)
	if err != nil {
		return 0, err
	}
	if entry, test := c.test.BranchKernel(); test != nil { // else the condition never holds
		n, err := c.read(c.graph, c.around(), deps, entry, condition, test)
		if err != nil {
			return 0, err
		}
		deps = []device.Node{n}
	}
	node, bodies, err := c.looper.AddConditional(c.graph, deps, device.Conditional{Kind: device.If, Condition: condition, Bodies: len(c.of.Bodies), Label: c.label})
	if err != nil {
		return 0, err
	}
	for i := range bodies {
		if _, err := c.body(i, bodies[i]); err != nil {
			return 0, err
		}
	}
	return node, nil
}

// around returns the body graph that contains the operation, or 0 if that is the launched graph.
func (c *conditional) around() device.Graph {
	if c.nested {
		return c.graph
	}
	return 0
}

// body adds the operations of body i to its graph. It returns the nodes that no other node follows.
func (c *conditional) body(i int, graph device.Graph) ([]device.Node, error) {
	prog := c.prog.bodies[c.op][i]
	inner := sequence{dev: c.dev, graph: graph, top: c.top, stream: c.stream, nested: true, controls: c.controls, prog: prog, when: make([]surrounding, len(prog.work))}
	nodes, err := inner.add()
	if err != nil {
		return nil, err
	}
	for v, n := range nodes {
		if prog.sched.Graph.Ops[v].Control == nil {
			c.controls.add(prog.first+ir.OpID(v), atNode{body: graph, node: n})
		} else {
			c.controls.addConditional(prog.first+ir.OpID(v), graph, n)
		}
	}
	return inner.ends, nil
}

// kernel returns a function that makes the launch of a kernel of until.cu with the given addresses.
func (c *conditional) kernel(entry string, condition device.Condition, test []byte) (func(addresses ...device.Ptr) *device.Launch, error) {
	f, err := c.dev.Function(c.controls.module, entry)
	return func(addresses ...device.Ptr) *device.Launch {
		return until.Launch(f, entry+" of "+c.label, condition, addresses, test)
	}, err
}

// read adds a kernel that reads the scalar to graph g. The kernel is passed the address of the scalar
// and the addresses in more. The node is recorded, so that it is updated when the scalar moves. body is
// g if that is a body, or 0.
func (c *conditional) read(g, body device.Graph, deps []device.Node, entry string, condition device.Condition, test []byte, more ...device.Ptr) (device.Node, error) {
	kernel, err := c.kernel(entry, condition, test)
	if err != nil {
		return 0, err
	}
	launch := func(scalar device.Ptr) device.Work { return kernel(append([]device.Ptr{scalar}, more...)...) }
	n, err := c.dev.AddNode(g, deps, launch(c.prog.work[c.op].(*device.Copy).Src))
	if err == nil {
		c.controls.add(c.number(), atNode{body: body, node: n, read: launch})
	}
	return n, err
}
