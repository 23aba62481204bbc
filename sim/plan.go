package sim

import (
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
)

// plan is a graph, or the body of a conditional node, fixed for launching, in flat
// rows: the dependencies of node i are deps[first[i]:first[i+1]].
type plan struct {
	nodes  []execNode
	first  []int32
	deps   []int32
	leaves []int32
	from   *graph // that it was made of, nil when it was given whole

	count    int // of nodes that a launch pays for, those of bodies included
	branches int // among them, that do not simply continue a chain
}

// execNode is what a node does in each launch: a job, or something with an event
// when it has one.
type execNode struct {
	job   *job
	event *event
	wait  bool // for the event, which it records otherwise
	join  bool // see GraphNode
	off   bool // disabled

	priority    int32
	hasPriority bool // else the stream's

	peer *Device // that runs it, nil for the device of the plan
}

// on is the device that runs a node of a plan of d.
func (n *execNode) on(d *Device) *Device { return orDefault(n.peer, d) }

// peers are the other devices that run nodes of a plan, each once.
func (p *plan) peers() (list []*Device) {
	for i := range p.nodes {
		if d := p.nodes[i].peer; d != nil && !slices.Contains(list, d) {
			list = append(list, d)
		}
	}
	return list
}

// nodeOf is the node of a work, with the priority that is the work's own.
func nodeOf(j *job) execNode {
	return execNode{job: j, priority: j.priority, hasPriority: j.hasPriority}
}

func newPlan(nodes []execNode, deps [][]int32) *plan {
	p := &plan{nodes: nodes, first: make([]int32, 1, len(nodes)+1)}
	out := make([]int, len(nodes))
	for _, row := range deps {
		p.deps = append(p.deps, row...)
		p.first = append(p.first, int32(len(p.deps)))
		for _, dep := range row {
			out[dep]++
		}
	}
	for i, row := range deps {
		if out[i] == 0 {
			p.leaves = append(p.leaves, int32(i))
		}
		if nodes[i].join {
			continue
		}
		p.count++
		if i > 0 && (len(row) != 1 || out[row[0]] != 1) {
			p.branches++
		}
		for _, body := range nodes[i].bodies() {
			p.count += body.count
			p.branches += body.branches
		}
	}
	return p
}

// bodies are those of a conditional node.
func (n *execNode) bodies() []*plan {
	if n.job == nil || n.job.choice == nil {
		return nil
	}
	return n.job.choice.bodies
}

// row is the nodes that node i depends on.
func (p *plan) row(i int) []int32 { return p.deps[p.first[i]:p.first[i+1]] }

// setting is what the nodes of a plan have in common when they run.
type setting struct {
	stream   *stream
	exec     device.GraphExec
	in       *scope // nil for those of the graph itself
	priority int32
	arrival  model.Time
	rootGap  model.Time // between the root and the nodes that depend on none
	rootWhy  des.Limit
}

// addNodes enters the tasks of a plan, all of which follow the root. Their ids
// follow each other.
func (d *Device) addNodes(p *plan, root des.TaskID, s *setting) (first des.TaskID) {
	first = d.engine.Next()
	for i := range p.nodes {
		n := &p.nodes[i]
		on := n.on(d)
		at := place{s.stream.handle, s.exec, device.Node(i + 1), s.in}
		t := des.Task{Arrival: s.arrival, Gap: s.rootGap, Why: s.rootWhy, Priority: s.priority}
		d.deps = append(d.deps[:0], root)
		if row := p.row(i); len(row) > 0 {
			d.deps, t.Gap, t.Why = after(d.deps[:0], first, row), n.gap(on.profile), des.GraphEdge
		}
		if n.hasPriority {
			t.Priority = n.priority
		}
		if n.wait && n.event.recorded {
			d.deps = append(d.deps, n.event.task)
		}
		t.Deps, t.Data = d.deps, n.data(s, at, t.Priority)
		id := on.add(t, at)
		if n.event != nil && !n.wait {
			n.event.mark(id, s.stream)
		}
	}
	return first
}

// data is what the engine hands back when the node's task starts.
func (n *execNode) data(s *setting, at place, priority int32) any {
	switch {
	case n.off || n.wait || n.join:
		return nil
	case n.event != nil:
		return n.event
	case n.job.choice != nil:
		return &visit{job: n.job, at: at, stream: s.stream, priority: priority}
	case s.in != nil:
		return &nested{n.job, s.in}
	}
	return n.job
}

// gap is the time from the last of a node's dependencies to its start.
func (n *execNode) gap(p *model.Profile) model.Time {
	if n.join {
		return 0
	}
	return p.GraphEdgeGap
}

// after appends the tasks of a plan's nodes, of which the first is given.
func after(to []des.TaskID, first des.TaskID, nodes []int32) []des.TaskID {
	for _, i := range nodes {
		to = append(to, first+des.TaskID(i))
	}
	return to
}
