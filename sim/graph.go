package sim

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/des"
)

// graph is under construction. Node n is nodes[n-1]; its dependencies come
// before it, so the order of nodes is topological.
type graph struct {
	nodes []*job
	deps  [][]int32
}

// exec is a graph fixed for launching, in flat rows: the dependencies of node i
// are deps[first[i]:first[i+1]].
type exec struct {
	nodes  []execNode
	first  []int32
	deps   []int32
	leaves []int32
	cost   des.Time // of a launch, on the host

	launched bool
	end      des.TaskID // of the last launch
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
}

// CreateGraph makes an empty graph.
func (d *Device) CreateGraph() (device.Graph, error) {
	if err := d.enter(d.profile.Host.Create); err != nil {
		return 0, err.In("CreateGraph")
	}
	return d.graphs.Add(&graph{}), nil
}

// DestroyGraph leaves what was instantiated from the graph as it is.
func (d *Device) DestroyGraph(h device.Graph) error {
	if err := d.enter(d.profile.Host.Create); err != nil {
		return err.In("DestroyGraph")
	}
	_, err := d.graphs.Remove(h)
	return err.In("DestroyGraph")
}

// AddNode adds work that runs after deps.
func (d *Device) AddNode(h device.Graph, deps []device.Node, w device.Work) (device.Node, error) {
	g, bad := d.graphs.Get(h)
	if err := first(d.enter(d.profile.Host.Create), bad); err != nil {
		return 0, err.In("AddNode")
	}
	j, err := d.lower(w)
	if err != nil {
		return 0, err.In("AddNode")
	}
	row := make([]int32, 0, len(deps))
	for _, n := range deps {
		i, err := nodeIndex(n, len(g.nodes))
		if err != nil {
			return 0, err.In("AddNode")
		}
		row = append(row, i)
	}
	g.nodes = append(g.nodes, j)
	g.deps = append(g.deps, row)
	return device.Node(len(g.nodes)), nil
}

func nodeIndex(n device.Node, count int) (int32, *device.Error) {
	if n < 1 || n > device.Node(count) {
		return 0, &device.Error{Code: device.InvalidHandle, Detail: fmt.Sprintf("node %d is not among the graph's %d nodes", n, count)}
	}
	return int32(n - 1), nil
}

// Instantiate fixes the graph's topology.
func (d *Device) Instantiate(h device.Graph) (device.GraphExec, error) {
	g, bad := d.graphs.Get(h)
	if err := first(d.enter(d.profile.Host.Instantiate), bad); err != nil {
		return 0, err.In("Instantiate")
	}
	nodes := make([]execNode, len(g.nodes))
	for i, j := range g.nodes {
		nodes[i].job = j
	}
	return d.fix(nodes, g.deps), nil
}

// fix makes an instance of nodes and charges for it.
func (d *Device) fix(nodes []execNode, deps [][]int32) device.GraphExec {
	costs := &d.profile.Host
	x := &exec{nodes: nodes, first: make([]int32, 1, len(nodes)+1), cost: costs.GraphLaunch}
	out := make([]int, len(nodes))
	for _, row := range deps {
		x.deps = append(x.deps, row...)
		x.first = append(x.first, int32(len(x.deps)))
		for _, dep := range row {
			out[dep]++
		}
	}
	for i, row := range deps {
		if out[i] == 0 {
			x.leaves = append(x.leaves, int32(i))
		}
		if nodes[i].join {
			continue
		}
		d.host += costs.InstantiateOne
		x.cost += costs.GraphNode
		if i > 0 && (len(row) != 1 || out[row[0]] != 1) {
			x.cost += costs.GraphBranch // node i does not simply continue a chain
		}
	}
	return d.execs.Add(x)
}

// UpdateNode replaces the parameters of one node for later launches.
func (d *Device) UpdateNode(h device.GraphExec, n device.Node, w device.Work) error {
	x, bad := d.execNode(h, n)
	if err := first(d.enter(d.profile.Host.UpdateNode), bad); err != nil {
		return err.In("UpdateNode")
	}
	if x.job == nil {
		return (&device.Error{Code: device.GraphUpdateForbidden, Detail: fmt.Sprintf("node %d runs no work", n)}).In("UpdateNode")
	}
	return d.replace(&x.job, w).In("UpdateNode")
}

// replace puts another work of the same kind in a job's place.
func (d *Device) replace(at **job, w device.Work) *device.Error {
	j, err := d.lower(w)
	if err != nil {
		return err
	}
	if j.kind != (*at).kind {
		return &device.Error{Code: device.GraphUpdateForbidden,
			Detail: fmt.Sprintf("a %s cannot become a %s; instantiate anew", (*at).kind, j.kind)}
	}
	*at = j
	return nil
}

var jobKinds = [...]string{
	nothing: "nothing", launch: "launch", copyBytes: "copy", memset: "memset", hostCall: "host call",
	upload: "write", download: "read", prefetch: "prefetch", release: "free",
}

func (k jobKind) String() string { return jobKinds[k] }

// LaunchGraph enqueues all nodes between two markers: one that the roots wait
// for and that waits for the stream, one that waits for the leaves and that the
// stream continues from. As on a GPU, launches of one instance do not overlap,
// whatever their streams.
func (d *Device) LaunchGraph(h device.GraphExec, sh device.Stream) error {
	x, badX := d.execs.Get(h)
	s, badS := d.streams.Get(sh)
	if err := first(d.enter(0), badX, badS); err != nil {
		return err.In("LaunchGraph")
	}
	d.host += x.cost
	d.count.GraphLaunches++
	if x.launched {
		s.waits = append(s.waits, x.end)
	}
	d.enqueue(s, nil, d.profile.GraphRootGap, des.GraphRoot)
	root := s.tail
	arrival := d.arrival()
	for i := range x.nodes {
		n := &x.nodes[i]
		t := des.Task{Arrival: arrival, Why: des.GraphEdge, Priority: s.priority, Data: n.data()}
		d.deps = append(d.deps[:0], root)
		if row := x.deps[x.first[i]:x.first[i+1]]; len(row) > 0 {
			d.deps, t.Gap = after(d.deps[:0], root, row), n.gap(d.profile)
		}
		if n.hasPriority {
			t.Priority = n.priority
		}
		if n.wait && n.event.recorded {
			d.deps = append(d.deps, n.event.task)
		}
		t.Deps = d.deps
		id := d.add(t, place{s.handle, h, device.Node(i + 1)})
		if n.event != nil && !n.wait {
			n.event.mark(id, s)
		}
	}
	d.deps = after(append(d.deps[:0], root), root, x.leaves)
	s.tail = d.add(des.Task{Arrival: arrival, Priority: s.priority, Deps: d.deps}, place{stream: s.handle})
	x.launched, x.end = true, s.tail
	return nil
}

// data is what the engine hands back when the node's task starts.
func (n *execNode) data() any {
	switch {
	case n.off || n.wait || n.join:
		return nil
	case n.event != nil:
		return n.event
	}
	return n.job
}

// gap is the time from the last of a node's dependencies to its start.
func (n *execNode) gap(p *des.Profile) des.Time {
	if n.join {
		return 0
	}
	return p.GraphEdgeGap
}

// after appends the tasks of a launch's nodes: they follow its root marker.
func after(to []des.TaskID, root des.TaskID, nodes []int32) []des.TaskID {
	for _, i := range nodes {
		to = append(to, root+1+des.TaskID(i))
	}
	return to
}

// DestroyGraphExec lets launches that are under way run on.
func (d *Device) DestroyGraphExec(h device.GraphExec) error {
	if err := d.enter(d.profile.Host.Create); err != nil {
		return err.In("DestroyGraphExec")
	}
	_, err := d.execs.Remove(h)
	return err.In("DestroyGraphExec")
}
