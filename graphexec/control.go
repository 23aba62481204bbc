package graphexec

import (
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec/internal/parts"
	"github.com/reprise-gpu/reprise/graphexec/internal/until"
	"github.com/reprise-gpu/reprise/ir"
)

// controls lowers loops and branches to conditional nodes of a graph, and holds what these need until the graph is
// destroyed:
//
//	loop     begin ─► while node         begin only in the body of another node, where the condition keeps its value
//	                    └─ operations ─► until
//	branch   choose ─► if node
//	                    └─ operations of one body
//
// The kernels begin, until and choose are in until.cu.
type controls struct {
	module device.Module
	states []device.Ptr // of loops, see until.cu
}

// Offsets in the state of a loop, and its size; the words are those of until.cu.
const (
	stateEvery = 8
	stateBytes = 16
)

// maxRounds is the largest number of iterations of a while node, below what a simulated device takes for a loop without
// end.
const maxRounds = 1 << 20

// control adds a loop or a branch to a graph and returns its conditional node.
func (q *sequence) control(op ir.OpID, deps []device.Node) (device.Node, error) {
	looper, ok := q.dev.(device.Looper)
	if !ok {
		return 0, errNoLooper
	}
	if err := q.controls.load(q.dev); err != nil {
		return 0, err
	}
	c := conditional{sequence: q, looper: looper, op: op, of: q.prog.sched.Graph.Ops[op].Control, test: q.prog.test(op)}
	c.label = parts.OpName(q.prog.sched.Graph, op)
	if q.prog.sched.Graph.Ops[op].Kind == ir.KindLoop {
		return c.loop(deps)
	}
	return c.branch(deps)
}

var errNoLooper = &device.Error{Call: "AddConditional", Code: device.NotSupported, Detail: "the device has no conditional nodes"}

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

// test is the condition of a loop or a branch.
func (p *program) test(op ir.OpID) until.Test {
	c := p.sched.Graph.Ops[op].Control
	return until.Test{Elem: p.sched.Graph.Buffers[c.Scalar.Buffer].Elem, Is: c.Is, Value: c.Value}
}

// conditional is a loop or a branch that becomes a node of a graph.
type conditional struct {
	*sequence
	looper device.Looper
	op     ir.OpID
	of     *ir.Control
	test   until.Test
	label  string
}

func (c *conditional) loop(deps []device.Node) (device.Node, error) {
	if c.of.Limit > maxRounds {
		return 0, errNoLooper
	}
	condition, err := c.looper.CreateCondition(c.top, 1)
	if err != nil {
		return 0, err
	}
	if c.nested {
		if deps, err = c.launch(c.graph, deps, "loop_begin", condition, nil, nil); err != nil {
			return 0, err
		}
	}
	node, bodies, err := c.looper.AddConditional(c.graph, deps, device.Conditional{Kind: device.While, Condition: condition, Bodies: 1, Label: c.label})
	if err != nil {
		return 0, err
	}
	ends, err := c.body(0, bodies[0])
	if err != nil {
		return 0, err
	}
	state, err := c.state()
	if err != nil {
		return 0, err
	}
	entry, test := c.test.Kernel()
	at := c.prog.settings.address(c.of.Scalar)
	if test == nil { // no value ends the loop: compare what is never 0
		at, test = state+stateEvery, make([]byte, 8)
	}
	_, err = c.launch(bodies[0], ends, entry, condition, []device.Ptr{at, state}, test)
	return node, err
}

// state allocates and sets the counts of a loop.
func (c *conditional) state() (device.Ptr, error) {
	p, err := c.dev.Alloc(stateBytes)
	if err != nil {
		return 0, err
	}
	c.controls.states = append(c.controls.states, p)
	set := func(offset device.Ptr, n int64, value int64) error {
		return c.dev.Submit(c.stream, &device.Memset{Dst: p + offset, Value: uint32(value), Width: 4, Count: n, Label: "counts of " + c.label})
	}
	return p, device.Join(set(0, 2, c.of.Limit), set(stateEvery, 2, min(c.of.Every, c.of.Limit)), c.dev.Synchronize(c.stream))
}

func (c *conditional) branch(deps []device.Node) (device.Node, error) {
	condition, err := c.looper.CreateCondition(c.top, 0)
	if err != nil {
		return 0, err
	}
	if entry, test := c.test.BranchKernel(); test != nil { // else the condition never holds
		if deps, err = c.launch(c.graph, deps, entry, condition, []device.Ptr{c.prog.settings.address(c.of.Scalar)}, test); err != nil {
			return 0, err
		}
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

// body adds the operations of a body to its graph and returns the last ones.
func (c *conditional) body(i int, graph device.Graph) ([]device.Node, error) {
	prog := c.prog.bodies[c.op][i]
	inner := sequence{dev: c.dev, graph: graph, top: c.top, stream: c.stream, nested: true, controls: c.controls, prog: prog, when: make([]surrounding, len(prog.work))}
	_, err := inner.add()
	return inner.ends, err
}

// launch adds a kernel of until.cu to a graph.
func (c *conditional) launch(g device.Graph, deps []device.Node, entry string, condition device.Condition, addresses []device.Ptr, test []byte) ([]device.Node, error) {
	f, err := c.dev.Function(c.controls.module, entry)
	if err != nil {
		return nil, err
	}
	n, err := c.dev.AddNode(g, deps, until.Launch(f, entry+" of "+c.label, condition, addresses, test))
	return []device.Node{n}, err
}

// controlled reports whether a program has loops or branches.
func (p *program) controlled() bool {
	return slices.ContainsFunc(p.sched.Graph.Ops, func(op ir.Op) bool { return op.Control != nil })
}

// newBodies lowers the bodies of loops and branches, which have the settings of the program around them.
func (p *program) newBodies(dev device.Device) error {
	for v := range p.sched.Graph.Ops {
		for _, s := range p.sched.Bodies[ir.OpID(v)] {
			body, err := newProgram(dev, s, p.bound)
			if err != nil {
				return fmt.Errorf("the body of %w", parts.OpError(p.sched.Graph, ir.OpID(v), err))
			}
			if p.bodies == nil {
				p.bodies = map[ir.OpID][]*program{}
			}
			p.bodies[ir.OpID(v)] = append(p.bodies[ir.OpID(v)], body)
		}
	}
	return nil
}
