package graphexec

import (
	"context"
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
)

// rounds are some iterations of a loop in one graph, which is the body of a while node for one. They are a back
// end, so that they change as other replays do. The program is the loop's body, which is then run again
// and again, or a schedule of all of them.
type rounds struct {
	x     *LoopExec
	exec  *Exec // whose back end this is
	runs  int   // of its program
	marks marks
	// surround adds what a graph has beside the iterations, and those by fill.
	surround func(*rounds, *template) error
	template
}

// template is a graph of iterations and its instance.
type template struct {
	graph    device.Graph
	instance device.GraphExec
	replay   commands        // of the instance
	in       device.Graph    // where the iterations are: the graph, or a body of it
	nodes    [][]device.Node // by run, by operation
	readers  []reader
}

// reader is a node that reads the scalar of a loop, and its work, now that the scalar is where it is.
type reader struct {
	node device.Node
	work func() device.Work
}

// newRounds lowers so many iterations. The caller closes the result.
func newRounds(x *LoopExec, size int, surround func(*rounds, *template) error) (_ *rounds, err error) {
	r := &rounds{x: x, surround: surround}
	if r.exec, err = x.several(size); err != nil {
		return nil, err
	}
	if r.exec == nil {
		r.exec = x.body.clone()
	}
	r.exec.impl = r
	iterations := r.exec.prog.sched.Graph.Len() / x.loop.Body.Graph.Len()
	r.runs = size / iterations
	defer func() {
		if err != nil {
			err = device.Join(err, r.exec.freeArena())
		}
	}()
	if r.marks, err = marksOf(r.exec.prog.sched, x.until.span(), iterations); err != nil {
		return nil, err
	}
	if r.template, err = r.build(); err != nil {
		return nil, err
	}
	return r, nil
}

// build makes an instance of the iterations as they are now.
func (r *rounds) build() (t template, err error) {
	dev := r.x.dev
	defer func() {
		if err != nil {
			err = device.Join(err, t.close(dev))
			t = template{}
		}
	}()
	if t.graph, err = dev.CreateGraph(); err != nil {
		return t, err
	}
	if err = r.surround(r, &t); err != nil {
		return t, err
	}
	if t.instance, err = dev.Instantiate(t.graph); err != nil {
		return t, err
	}
	t.replay, err = compile(dev, []device.Command{{Kind: device.RunGraph, Stream: r.x.stream, Exec: t.instance}})
	return t, err
}

// fill adds the iterations to a graph, and what written says behind those of them that it wants.
func (r *rounds) fill(t *template, in device.Graph, written func(i int, behind []device.Node) (device.Node, error)) error {
	t.in = in
	q := sequence{dev: r.x.dev, graph: in, prog: r.exec.prog, when: make([]surrounding, len(r.exec.prog.work)), marks: r.marks, written: written}
	for range r.runs {
		nodes, err := q.add()
		if err != nil {
			return err
		}
		t.nodes = append(t.nodes, nodes)
	}
	return nil
}

// read adds a node that reads the scalar.
func (t *template) read(dev device.Device, after []device.Node, work func() device.Work) (device.Node, error) {
	n, err := dev.AddNode(t.in, after, work())
	t.readers = append(t.readers, reader{n, work})
	return n, err
}

func (r *rounds) launch(n int) error { return r.replay.submit(r.x.dev, n) }

func (r *rounds) length() int { return r.replay.n }

func (r *rounds) wait(ctx context.Context) error { return r.x.dev.SynchronizeContext(ctx, r.x.stream) }

func (r *rounds) origin() device.Stream { return r.x.stream }

func (r *rounds) keeps(ir.OpID) bool { return true }

func (r *rounds) rebuild() error {
	t, err := r.build()
	if err != nil {
		return err
	}
	was := r.template
	r.template = t
	return was.close(r.x.dev)
}

// update has every run do other work.
func (r *rounds) update(works []opWork) (int, error) {
	n, err := r.set(r.changes(works))
	if err == nil {
		return 0, nil
	}
	return n / r.runs, err
}

// changes are those of the nodes of some operations, run by run.
func (r *rounds) changes(works []opWork) (changes []device.NodeWork) {
	for _, w := range works {
		for _, nodes := range r.nodes {
			changes = append(changes, device.NodeWork{Node: nodes[w.op], Work: w.work})
		}
	}
	return changes
}

// set gives nodes other work, in one call into the device if it can; of a failure it says at which.
func (r *rounds) set(changes []device.NodeWork) (int, error) {
	dev := r.x.dev
	update := dev.UpdateNode
	if r.in != r.graph {
		update = func(x device.GraphExec, n device.Node, w device.Work) error {
			return dev.(device.Looper).UpdateBodyNode(x, r.in, n, w)
		}
	} else if len(changes) > 0 && dev.UpdateNodes(r.instance, changes) == nil {
		return 0, nil
	}
	for i, c := range changes {
		if err := update(r.instance, c.Node, c.Work); err != nil {
			return i, err
		}
	}
	return 0, nil
}

// follow has the nodes that read the scalar read it where it is by now.
func (r *rounds) follow() error {
	var changes []device.NodeWork
	for _, n := range r.readers {
		changes = append(changes, device.NodeWork{Node: n.node, Work: n.work()})
	}
	if _, err := r.set(changes); err != nil {
		return r.exec.renew()
	}
	return nil
}

func (r *rounds) close() error { return r.template.close(r.x.dev) }

func (t *template) close(dev device.Device) error {
	return device.Join(t.replay.close(dev), destroyGraph(dev, t.instance, t.graph))
}

// several is a schedule of so many iterations on the device, or of a part of them; nil for that of one.
func (x *LoopExec) several(n int) (*Exec, error) {
	if x.loop.Several == nil || n == 1 {
		return nil, nil
	}
	s, err := x.loop.Several(n)
	if err != nil || s == nil {
		return nil, wrapped("a schedule of several iterations", err)
	}
	if err := x.repeats(s, n); err != nil {
		return nil, wrapped("a schedule of several iterations", err)
	}
	return prepare(x.dev, s, x.bindings)
}

// repeats says why a schedule is not one of n iterations, or of a part of them.
func (x *LoopExec) repeats(s *ir.Schedule, n int) error {
	if err := verify(s); err != nil {
		return err
	}
	body := x.loop.Body.Graph
	if ops := s.Graph.Len(); ops == 0 || ops%body.Len() != 0 || n%(ops/body.Len()) != 0 {
		return fmt.Errorf("it has %d operations, and an iteration of %s has %d: want those of %d iterations, or of a divisor", ops, body.Name, body.Len(), n)
	}
	for v := range s.Graph.Ops {
		is, was := ir.OpID(v), ir.OpID(v%body.Len())
		if s.Graph.Traced(is) != body.Traced(was) || s.Graph.Ops[is].Kind != body.Ops[was].Kind {
			return fmt.Errorf("%s is not what iterations of %s have there: unroll the body", opName(s.Graph, is), body.Name)
		}
	}
	return nil
}
