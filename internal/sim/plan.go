package sim

import (
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
)

// plan is a graph, or the body of a conditional node, prepared for launching, in compressed rows: the dependencies of
// node i are deps[first[i]:first[i+1]].
type plan struct {
	nodes  []execNode
	first  []int32
	deps   []int32
	leaves []int32
	from   *graph // the graph that it was made of; nil for InstantiateNodes

	count    int // number of nodes that a launch pays for, including those of bodies
	branches int // number of these that do not simply continue a chain
}

// execNode is the action of a node in each launch: a job, or the record of an event or a wait for one.
type execNode struct {
	job   *job
	event *event
	wait  bool // wait for the event instead of recording it
	join  bool // see GraphNode
	off   bool // disabled

	priority    int32
	hasPriority bool // otherwise the stream's priority is used

	peer *Device // device that runs it; nil for the device of the plan
}

// on returns the device that runs a node of a plan of d.
func (n *execNode) on(d *Device) *Device { return orDefault(n.peer, d) }

// peers returns the other devices that run nodes of a plan, without duplicates.
func (p *plan) peers() (list []*Device) {
	for i := range p.nodes {
		if d := p.nodes[i].peer; d != nil && !slices.Contains(list, d) {
			list = append(list, d)
		}
	}
	return list
}

// nodeOf returns the node for a job, with the priority of the job.
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

// bodies returns the bodies of a conditional node.
func (n *execNode) bodies() []*plan {
	if n.job == nil || n.job.choice == nil {
		return nil
	}
	return n.job.choice.bodies
}

// row returns the dependencies of node i.
func (p *plan) row(i int) []int32 { return p.deps[p.first[i]:p.first[i+1]] }

// setting holds the values that the nodes of a plan share in one run.
type setting struct {
	stream   *stream
	exec     device.GraphExec
	in       *scope // nil for nodes of the graph itself
	priority int32
	arrival  model.Time
	rootGap  model.Time // gap between the root and nodes without dependencies
	rootWhy  des.Limit
}

// addNodes adds the tasks of a plan with consecutive ids. All of them follow the task root.
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

// data returns the value that the engine passes to start when the node's task starts.
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

// gap returns the time from the end of a node's last dependency to its start.
func (n *execNode) gap(p *model.Profile) model.Time {
	if n.join {
		return 0
	}
	return p.GraphEdgeGap
}

// after appends the tasks of a plan's nodes; first is the task of node 0.
func after(to []des.TaskID, first des.TaskID, nodes []int32) []des.TaskID {
	for _, i := range nodes {
		to = append(to, first+des.TaskID(i))
	}
	return to
}
