package timing

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/internal/ranks/launches"
)

// graph is an instantiated graph of a rank.
type graph struct {
	nodes  []node
	leaves []int32
	waits  [launches.Streams]bool // for earlier graphs of these streams
	cost   model.Time             // of a launch, on the host
	ended  des.TaskID             // of the latest launch; NoTask if there was none
}

// node is a node of a graph on its device.
type node struct {
	work
	on       *gpu
	deps     []int32
	priority int32 // instead of that of the stream, if not 0
}

// greatest is the greatest priority of the simulated device. The urgent stream and edges have it.
const greatest = -5

// graph instantiates a graph. It returns nil if the graph is empty.
func (s *Simulation) graph(k *rank, src *launches.Graph) *graph {
	if len(src.Nodes) == 0 {
		return nil
	}
	g := &graph{waits: src.Waits, ended: des.NoTask}
	users := make([]int, len(src.Nodes))
	for _, n := range src.Nodes {
		op := &s.plan.Rounds[n.At.Round].Ops[n.At.Op]
		one := node{work: s.work(k, op), on: k.devices[op.Device-k.first], deps: n.Deps}
		if s.plan.Lane(op) != distribute.Compute && one.kernel {
			one.priority = greatest
		}
		g.nodes = append(g.nodes, one)
		for _, d := range n.Deps {
			users[d]++
		}
	}
	branches := 0
	for i, n := range g.nodes {
		if users[i] == 0 {
			g.leaves = append(g.leaves, int32(i))
		}
		if i > 0 && (len(n.deps) != 1 || users[n.deps[0]] != 1) { // it does not continue a chain
			branches++
		}
	}
	h := &k.devices[0].profile.Host
	g.cost = h.GraphLaunch + model.Time(len(g.nodes))*h.GraphNode + model.Time(branches)*h.GraphBranch
	return g
}

// follow makes a stream wait for the record behind a graph of another.
func (k *rank) follow(stream int, t des.TaskID) {
	g := k.devices[0]
	k.host += g.profile.Host.EventWait
	if t == des.NoTask {
		return
	}
	gap := max(0, g.profile.EventGap-g.profile.StreamGap)
	s := &k.streams[stream]
	s.waits = append(s.waits, g.engine.Add(des.Task{Arrival: k.arrival(), Gap: gap, Why: des.EventWait, Deps: []des.TaskID{t}}))
}

// followAll makes a stream wait for graphs of those streams on whose graphs a graph depends.
func (k *rank) followAll(stream int, x *graph, ends [launches.Streams]des.TaskID) {
	if x == nil {
		return
	}
	for other, is := range x.waits {
		if is {
			k.follow(stream, ends[other])
		}
	}
}

// launch launches a graph, unless it is nil.
func (k *rank) launch(stream int, x *graph) {
	if x == nil {
		return
	}
	k.host += x.cost
	s, first := &k.streams[stream], k.devices[0]
	if x.ended != des.NoTask { // launches of one graph do not overlap
		s.waits = append(s.waits, x.ended)
	}
	priority := int32(0)
	if stream == launches.Urgent {
		priority = greatest
	}
	root := k.append(s, priority, first.profile.GraphRootGap, des.GraphRoot)
	ids := make([]des.TaskID, len(x.nodes))
	var deps []des.TaskID
	for i := range x.nodes {
		n := &x.nodes[i]
		t := des.Task{Arrival: k.arrival(), Priority: priority, Why: des.GraphEdge, Data: &n.work}
		deps = deps[:0]
		for _, d := range n.deps {
			deps = append(deps, ids[d])
		}
		if t.Gap = n.on.profile.GraphEdgeGap; len(deps) == 0 {
			deps, t.Gap = append(deps, root), 0
		}
		if n.priority != 0 {
			t.Priority = n.priority
		}
		t.Deps = deps
		ids[i] = n.on.engine.Add(t)
	}
	deps = append(deps[:0], root)
	for _, i := range x.leaves {
		deps = append(deps, ids[i])
	}
	s.tail = first.engine.Add(des.Task{Arrival: k.arrival(), Priority: priority, Deps: deps})
	x.ended = s.tail
	if k.joined {
		k.host += first.profile.Host.EventRecord
		k.ends[stream] = k.append(s, priority, 0, des.StreamOrder)
	}
}

// append appends a marker to a stream.
func (k *rank) append(s *stream, priority int32, gap model.Time, why des.Limit) des.TaskID {
	deps := s.waits
	if s.tail != des.NoTask {
		deps = append(deps, s.tail)
	}
	s.tail = k.devices[0].engine.Add(des.Task{Arrival: k.arrival(), Gap: gap, Why: why, Priority: priority, Deps: deps})
	s.waits = deps[:0]
	return s.tail
}

// arrival returns the earliest start of work that the host submits now.
func (k *rank) arrival() model.Time { return k.host + k.devices[0].profile.SubmitLatency }
