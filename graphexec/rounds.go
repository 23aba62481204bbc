package graphexec

import (
	"context"
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec/internal/parts"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
)

// rounds is a graph of several iterations of a loop. In some loops it is the body of a while node. It
// implements backend, so that changes are made as in other replays.
//
// The program is one iteration, which is then added Size times, or a schedule of several iterations,
// which is added Size / iterations times:
//
//	Size = 4, program of 1 iteration:   run run run run        runs = 4
//	Size = 4, program of 2 iterations:  run     run            runs = 2
type rounds struct {
	dev     device.Device
	options parts.RoundsOptions
	exec    *Exec // the Exec whose back end this is
	runs    int   // number of times that the program is added to the graph
	marks   marks
	next    *template // the template that build is building
	template
}

// template is a graph of iterations and its instance. rebuild replaces it as a whole.
type template struct {
	graph    device.Graph
	instance device.GraphExec
	replay   parts.Commands  // one launch of the instance
	in       device.Graph    // the graph that holds the iterations: graph itself, or a body in it
	nodes    [][]device.Node // by run, by operation
	readers  []reader
	controls
}

// reader is a node that reads the scalar of a loop. work returns its work for the present address of
// the scalar.
type reader struct {
	node device.Node
	work func() device.Work
}

// newRounds lowers several iterations of a body.
func newRounds(body *Exec, o parts.RoundsOptions) (_ *rounds, err error) {
	r := &rounds{dev: body.dev, options: o}
	if r.exec, err = body.several(o); err != nil {
		return nil, err
	}
	r.exec.impl = r
	iterations := r.exec.prog.sched.Graph.Len() / body.prog.sched.Graph.Len()
	r.runs = o.Size / iterations
	defer func() {
		if err != nil {
			err = device.Join(err, r.exec.release())
		}
	}()
	if r.marks, err = marksOf(r.exec.prog.sched, o.Scalar, iterations); err != nil {
		return nil, err
	}
	if r.template, err = r.build(); err != nil {
		return nil, err
	}
	return r, nil
}

// build instantiates the present program. options.Build adds the nodes: it calls Fill for the
// iterations and Read for the checks, which both write to next.
func (r *rounds) build() (t template, err error) {
	dev := r.dev
	defer func() {
		if err != nil {
			err = device.Join(err, t.close(dev))
			t = template{}
		}
	}()
	if t.graph, err = dev.CreateGraph(); err != nil {
		return t, err
	}
	r.next = &t
	if err = r.options.Build(r, t.graph); err != nil {
		return t, err
	}
	if t.instance, err = dev.Instantiate(t.graph); err != nil {
		return t, err
	}
	t.controls.instantiated(t.instance)
	t.replay, err = parts.Compile(dev, []device.Command{{Kind: device.RunGraph, Stream: r.options.Stream, Exec: t.instance}})
	return t, err
}

func (r *rounds) Replays() parts.Replays { return view{r.exec} }

func (r *rounds) Fill(in device.Graph, written func(i int, behind []device.Node) (device.Node, error)) error {
	t := r.next
	t.in = in
	q := sequence{dev: r.dev, graph: in, prog: r.exec.prog, when: make([]surrounding, len(r.exec.prog.work)), marks: r.marks, written: written, top: t.graph, nested: in != t.graph, stream: r.options.Stream, controls: &t.controls}
	for range r.runs {
		nodes, err := q.add()
		if err != nil {
			return err
		}
		t.nodes = append(t.nodes, nodes)
	}
	return nil
}

func (r *rounds) Read(after []device.Node, work func() device.Work) (device.Node, error) {
	t := r.next
	n, err := r.dev.AddNode(t.in, after, work())
	t.readers = append(t.readers, reader{n, work})
	return n, err
}

func (r *rounds) Launch(n int) error { return r.launch(n) }

func (r *rounds) Close() error { return r.exec.Close() }

func (r *rounds) launch(n int) error { return r.replay.Submit(r.dev, n) }

func (r *rounds) length() int { return r.replay.N }

func (r *rounds) wait(ctx context.Context) error {
	return r.dev.SynchronizeContext(ctx, r.options.Stream)
}

func (r *rounds) origin() device.Stream { return r.options.Stream }

func (r *rounds) keeps(ir.OpID) bool { return true }

func (r *rounds) rebuild() error {
	t, err := r.build()
	if err != nil {
		return err
	}
	was := r.template
	r.template = t
	return was.close(r.dev)
}

// update sets the work of operations in every run.
func (r *rounds) update(works []opWork) (int, error) {
	plain := make([]opWork, 0, len(works))
	for i, w := range works {
		if !r.holds(r.exec.prog, w.op) {
			plain = append(plain, w)
		} else if err := r.controls.update(r.dev, w); err != nil {
			return i, err
		}
	}
	n, err := r.set(r.changes(plain))
	if err == nil {
		return 0, nil
	}
	return slices.Index(works, plain[n/r.runs]), err // changes has runs entries per operation
}

// changes returns the updates of the nodes of some operations: for each operation one per run.
func (r *rounds) changes(works []opWork) (changes []device.NodeWork) {
	for _, w := range works {
		for _, nodes := range r.nodes {
			changes = append(changes, device.NodeWork{Node: nodes[w.op], Work: w.work})
		}
	}
	return changes
}

// set updates nodes. Nodes of the launched graph are first updated in one call into the device; if that
// fails, and for nodes in the body of a while node, they are updated one by one. On failure it also
// returns the index of the failed update.
func (r *rounds) set(changes []device.NodeWork) (int, error) {
	dev := r.dev
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

func (r *rounds) Follow() error {
	var changes []device.NodeWork
	for _, n := range r.readers {
		changes = append(changes, device.NodeWork{Node: n.node, Work: n.work()})
	}
	if _, err := r.set(changes); err != nil {
		return r.exec.renew()
	}
	return nil
}

func (r *rounds) close() error { return r.template.close(r.dev) }

func (t *template) close(dev device.Device) error {
	return device.Join(t.replay.Close(dev), parts.DestroyGraph(dev, t.instance, t.graph), t.controls.close(dev))
}

// several returns an Exec without a back end for the program of the rounds: that of the schedule
// o.Several, or a copy of x if there is none.
func (x *Exec) several(o parts.RoundsOptions) (*Exec, error) {
	if o.Several == nil {
		return x.clone(), nil
	}
	if err := repeats(o.Several, x.prog.sched.Graph, o.Size); err != nil {
		return nil, parts.Wrapped("a schedule of several iterations", err)
	}
	return prepare(x.dev, o.Several, x.prog.trace())
}

// repeats returns an error for a schedule that is not one of n iterations of a body, or of a divisor of
// n. Operation v must be of the same kind, and from the same operation of the trace, as operation
// v mod body.Len() of the body.
func repeats(s *ir.Schedule, body *ir.Graph, n int) error {
	if err := verify(s); err != nil {
		return err
	}
	if ops := s.Graph.Len(); ops == 0 || ops%body.Len() != 0 || n%(ops/body.Len()) != 0 {
		return fmt.Errorf("it has %d operations, and an iteration of %s has %d: want those of %d iterations, or of a divisor", ops, body.Name, body.Len(), n)
	}
	for v := range s.Graph.Ops {
		is, was := ir.OpID(v), ir.OpID(v%body.Len())
		if traced.Origin(s.Graph, is) != traced.Origin(body, was) || s.Graph.Ops[is].Kind != body.Ops[was].Kind {
			return fmt.Errorf("%s is not what iterations of %s have there: unroll the body", parts.OpName(s.Graph, is), body.Name)
		}
	}
	return nil
}
