// Package order records what a program submits to a device and decides which work precedes which in every execution.
//
// A Recorder is a device that runs nothing. Its Steps are the pieces of work that were submitted: commands of streams,
// and nodes of graphs for each launch of the graph. The edges between steps follow the rules of CUDA:
//
//	stream            each command follows the one before it
//	Record, Await     an Await follows the command before the latest Record of its event
//	graph             its nodes follow the command before the launch and the nodes that they depend on; the command
//	                  behind the launch follows all nodes; launches of one instance follow each other
//	conditional node  the nodes of its bodies follow what the node depends on, and precede what depends on it; a body
//	                  counts once, because its iterations follow each other
//	Synchronize       later submissions follow the work of the stream
//
// A step precedes another one in every execution if and only if a path of edges leads to it.
package order

import (
	"context"
	"maps"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/null"
)

// Recorder is a device that accepts what a GPU accepts, runs nothing, and keeps all submissions. Waits numbers the
// dependencies that a program could omit: the edges of graphs and the Awaits of command lists.
type Recorder struct {
	*null.Device
	Steps

	graphs     map[device.Graph]*graph
	execs      map[device.GraphExec]*graph
	lists      map[device.CommandList]*list
	tails      map[device.Stream]int32
	events     map[device.Event]int32 // the step before the latest record
	host       int32                  // the step that later submissions follow; -1 for none
	waits      int32
	conditions device.Condition
}

// graph is a graph that is being built, and the steps of its launches.
type graph struct {
	nodes []node
	last  int32 // the end of the last launch, -1 for none
}

// node is a node of a graph.
type node struct {
	deps   []dep
	bodies []*graph
	spans  []Span // by launch
}

// dep is a dependency of a node.
type dep struct{ on, wait int32 }

// list is a command list and the steps of its submissions.
type list struct {
	commands []device.Command
	waits    []int32 // by command: the number of an Await, else -1
	spans    [][]Span
}

// New returns a Recorder.
func New() *Recorder {
	return &Recorder{
		Device: null.New(),
		graphs: map[device.Graph]*graph{}, execs: map[device.GraphExec]*graph{}, lists: map[device.CommandList]*list{},
		tails: map[device.Stream]int32{}, events: map[device.Event]int32{}, host: -1,
	}
}

// Waits returns the number of dependencies that the program could omit.
func (r *Recorder) Waits() int { return int(r.waits) }

// Node returns the steps of a node, by launch. body is the body of a conditional node that holds it, or 0.
func (r *Recorder) Node(x device.GraphExec, body device.Graph, n device.Node) []Span {
	g := r.execs[x]
	if body != 0 {
		g = r.graphs[body]
	}
	if g == nil || n < 1 || int(n) > len(g.nodes) {
		return nil
	}
	return g.nodes[n-1].spans
}

// Command returns the steps of a command of a list, by submission.
func (r *Recorder) Command(l device.CommandList, i int) []Span {
	of := r.lists[l]
	if of == nil || uint(i) >= uint(len(of.spans)) {
		return nil
	}
	return of.spans[i]
}

func (r *Recorder) wait() int32 {
	r.waits++
	return r.waits - 1
}

func (r *Recorder) CreateGraph() (device.Graph, error) {
	g, err := r.Device.CreateGraph()
	if err == nil {
		r.graphs[g] = &graph{last: -1}
	}
	return g, err
}

func (r *Recorder) AddNode(g device.Graph, deps []device.Node, w device.Work) (device.Node, error) {
	n, err := r.Device.AddNode(g, deps, w)
	if err == nil {
		r.add(g, deps, nil)
	}
	return n, err
}

func (r *Recorder) add(g device.Graph, deps []device.Node, bodies []*graph) {
	n := node{bodies: bodies}
	for _, d := range deps {
		n.deps = append(n.deps, dep{int32(d - 1), r.wait()})
	}
	of := r.graphs[g]
	of.nodes = append(of.nodes, n)
}

// CreateCondition implements device.Looper.
func (r *Recorder) CreateCondition(device.Graph, uint32) (device.Condition, error) {
	r.conditions++
	return r.conditions, nil
}

// AddConditional implements device.Looper.
func (r *Recorder) AddConditional(g device.Graph, deps []device.Node, c device.Conditional) (device.Node, []device.Graph, error) {
	n, err := r.Device.AddNode(g, deps, device.Nothing{})
	if err != nil {
		return 0, nil, err
	}
	var handles []device.Graph
	var bodies []*graph
	for range c.Bodies {
		body, err := r.CreateGraph()
		if err != nil {
			return 0, nil, err
		}
		handles, bodies = append(handles, body), append(bodies, r.graphs[body])
	}
	r.add(g, deps, bodies)
	return n, handles, nil
}

// UpdateBodyNode implements device.Looper. An update changes no order.
func (r *Recorder) UpdateBodyNode(device.GraphExec, device.Graph, device.Node, device.Work) error {
	return nil
}

func (r *Recorder) Instantiate(g device.Graph) (device.GraphExec, error) {
	x, err := r.Device.Instantiate(g)
	if err == nil {
		r.execs[x] = r.graphs[g]
	}
	return x, err
}

func (r *Recorder) CompileCommands(cmds []device.Command) (device.CommandList, error) {
	l, err := r.Device.CompileCommands(cmds)
	if err != nil {
		return l, err
	}
	of := &list{commands: slices.Clone(cmds), waits: make([]int32, len(cmds)), spans: make([][]Span, len(cmds))}
	for i, c := range cmds {
		of.waits[i] = -1
		if c.Kind == device.Await {
			of.waits[i] = r.wait()
		}
	}
	r.lists[l] = of
	return l, nil
}

func (r *Recorder) SubmitCommands(l device.CommandList, from, n int) error {
	if err := r.Device.SubmitCommands(l, from, n); err != nil {
		return err
	}
	of := r.lists[l]
	for k := range n {
		i := (from + k) % len(of.commands)
		of.spans[i] = append(of.spans[i], r.command(&of.commands[i], of.waits[i]))
	}
	return nil
}

// command submits one command and returns its steps.
func (r *Recorder) command(c *device.Command, wait int32) Span {
	switch c.Kind {
	case device.Record:
		r.record(c.Event, c.Stream)
	case device.Await:
		return r.await(c.Stream, c.Event, wait)
	case device.RunGraph:
		return r.launch(c.Stream, r.execs[c.Exec])
	case device.Run:
		return r.enqueue(c.Stream)
	}
	return Span{-1, -1}
}

func (r *Recorder) Submit(s device.Stream, w device.Work) error {
	err := r.Device.Submit(s, w)
	if err == nil {
		r.enqueue(s)
	}
	return err
}

func (r *Recorder) Record(e device.Event, s device.Stream) error {
	err := r.Device.Record(e, s)
	if err == nil {
		r.record(e, s)
	}
	return err
}

func (r *Recorder) Wait(s device.Stream, e device.Event) error {
	err := r.Device.Wait(s, e)
	if err == nil {
		r.await(s, e, -1)
	}
	return err
}

func (r *Recorder) LaunchGraph(x device.GraphExec, s device.Stream) error {
	err := r.Device.LaunchGraph(x, s)
	if err == nil {
		r.launch(s, r.execs[x])
	}
	return err
}

// enqueue adds the next step of a stream, with more edges to it.
func (r *Recorder) enqueue(s device.Stream, more ...Edge) Span {
	r.after(r.tail(s), Kept)
	for _, e := range more {
		r.after(e.From, e.Wait)
	}
	if r.host >= 0 {
		r.after(r.host, Kept)
	}
	step := r.end()
	r.tails[s] = step
	return Span{step, step}
}

// tail returns the last step of a stream, and -1 if it has none.
func (r *Recorder) tail(s device.Stream) int32 {
	if t, ok := r.tails[s]; ok {
		return t
	}
	return -1
}

func (r *Recorder) record(e device.Event, s device.Stream) { r.events[e] = r.tail(s) }

// await adds the step of an Await. It has no effect if the event was never recorded, or recorded on an empty stream.
func (r *Recorder) await(s device.Stream, e device.Event, wait int32) Span {
	if at, ok := r.events[e]; ok {
		return r.enqueue(s, Edge{at, wait})
	}
	return r.enqueue(s)
}

// launch adds the steps of one launch of a graph.
func (r *Recorder) launch(s device.Stream, g *graph) Span {
	begin := r.enqueue(s, Edge{g.last, Kept}).First
	end := r.expand(g, begin)
	g.last, r.tails[s] = end, end
	return Span{begin, end}
}

// expand adds the steps of the nodes of a graph behind a step, and one behind them all, which it returns.
func (r *Recorder) expand(g *graph, begin int32) int32 {
	for i := range g.nodes {
		n := &g.nodes[i]
		for _, d := range n.deps {
			spans := g.nodes[d.on].spans
			r.after(spans[len(spans)-1].Last, d.wait)
		}
		r.after(begin, Kept)
		span := Span{First: r.end()}
		span.Last = span.First
		if n.bodies != nil {
			span.Last = r.bodies(n, span.First)
		}
		n.spans = append(n.spans, span)
	}
	r.after(begin, Kept)
	for i := range g.nodes {
		spans := g.nodes[i].spans
		r.after(spans[len(spans)-1].Last, Kept)
	}
	return r.end()
}

// bodies adds the steps of the bodies of a conditional node behind a step, and one behind them all, which it returns.
// Bodies of a branch are not ordered, but only one of them runs.
func (r *Recorder) bodies(n *node, begin int32) int32 {
	ends := make([]int32, len(n.bodies))
	for i, body := range n.bodies {
		ends[i] = r.expand(body, begin)
	}
	for _, end := range ends {
		r.after(end, Kept)
	}
	return r.end()
}

// Synchronize orders later submissions behind the work of a stream.
func (r *Recorder) Synchronize(s device.Stream) error {
	err := r.Device.Synchronize(s)
	if err == nil {
		r.join([]device.Stream{s})
	}
	return err
}

// SynchronizeAll orders later submissions behind the work of all streams.
func (r *Recorder) SynchronizeAll() error {
	err := r.Device.SynchronizeAll()
	if err == nil {
		r.join(slices.Sorted(maps.Keys(r.tails)))
	}
	return err
}

func (r *Recorder) SynchronizeContext(_ context.Context, s device.Stream) error {
	return r.Synchronize(s)
}

// join adds a step that later submissions follow, behind the last steps of some streams.
func (r *Recorder) join(streams []device.Stream) {
	r.after(r.host, Kept)
	for _, s := range streams {
		r.after(r.tail(s), Kept)
	}
	r.host = r.end()
}
