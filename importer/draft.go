package importer

import (
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/ir"
)

// draft is a graph as a parser finds it in a text: tasks in order of appearance, and arcs in
// any direction, possibly with duplicates and cycles.
type draft struct {
	text
	options Options
	tasks   []task
	arcs    []arc
	index   map[string]int32 // of tasks, by name
}

type task struct {
	name  string
	label string // "" means the name
	cost  int64  // nanoseconds; negative if the text gives none
}

// arc is a dependency: a task must end before another starts. It contains its offset in the text.
type arc struct {
	from, to int32
	at       int
}

// task returns the index of the task with a name. It adds the task if it is new.
func (d *draft) task(name string) int32 {
	i, ok := d.index[name]
	if !ok {
		i = int32(len(d.tasks))
		d.index[name] = i
		d.tasks = append(d.tasks, task{name: name, cost: -1})
	}
	return i
}

// arc adds a dependency.
func (d *draft) arc(from, to int32, at int) error {
	if from == to {
		return d.errorf(at, "%s depends on itself: leave the edge out", d.tasks[from].name)
	}
	d.arcs = append(d.arcs, arc{from, to, at})
	return nil
}

// graph returns the draft as a graph in program order. Parallel arcs become one.
func (d *draft) graph(name string) (*ir.Graph, error) {
	if len(d.tasks) == 0 {
		return nil, d.errorf(0, "it contains no task")
	}
	into, succs := d.rows()
	order, err := d.order(into, succs)
	if err != nil {
		return nil, err
	}
	id := make([]ir.OpID, len(d.tasks))
	for v, i := range order {
		id[i] = ir.OpID(v)
	}
	g := &ir.Graph{Name: name, Ops: make([]ir.Op, len(order))}
	for v, i := range order {
		t := &d.tasks[i]
		op := ir.Op{Kind: ir.KindEmpty, Label: t.title(v), Cost: t.cost}
		if op.Cost < 0 {
			op.Cost = int64(d.options.Cost)
		}
		for _, p := range into[i] {
			op.After = append(op.After, id[p])
		}
		slices.Sort(op.After)
		g.Ops[v] = op
	}
	return g, nil
}

// title returns the label of operation v, or "" if the label is the number of the operation.
func (t *task) title(v int) string {
	s := t.label
	if s == "" {
		s = t.name
	}
	if s == strconv.Itoa(v) {
		return ""
	}
	return strings.ToValidUTF8(s, "?")
}

// rows returns the predecessors and successors of each task, without duplicates.
func (d *draft) rows() (into, succs [][]int32) {
	into, succs = make([][]int32, len(d.tasks)), make([][]int32, len(d.tasks))
	for _, a := range d.arcs {
		into[a.to] = append(into[a.to], a.from)
	}
	for i := range into {
		slices.Sort(into[i])
		into[i] = slices.Compact(into[i])
		for _, p := range into[i] {
			succs[p] = append(succs[p], int32(i))
		}
	}
	return into, succs
}

// order returns the lexicographically smallest topological order of the tasks. A text whose tasks are in topological
// order therefore keeps its order.
func (d *draft) order(into, succs [][]int32) ([]int32, error) {
	order := dense.Order(func(i int32) []int32 { return succs[i] }, make([]int32, len(succs)))
	if len(order) < len(into) {
		return nil, d.cycle(into, order)
	}
	return order, nil
}

// cycle returns an error that lists the tasks of a cycle, at the position of the arc that closes it. Every task that is
// missing in the incomplete order has a predecessor that is missing, too. Following such predecessors must revisit a
// task, which closes a cycle.
func (d *draft) cycle(into [][]int32, order []int32) error {
	ordered := make([]bool, len(into))
	for _, i := range order {
		ordered[i] = true
	}
	at := int32(slices.Index(ordered, false))
	seen := map[int32]int{}
	var path []int32 // each task after its successor
	for {
		if start, ok := seen[at]; ok {
			path = append(path[start:], at)
			break
		}
		seen[at] = len(path)
		path = append(path, at)
		at = into[at][slices.IndexFunc(into[at], func(p int32) bool { return !ordered[p] })]
	}
	slices.Reverse(path)
	last := slices.IndexFunc(d.arcs, func(a arc) bool { return a.from == path[len(path)-2] && a.to == at })
	return d.errorf(d.arcs[last].at, "the tasks form a cycle: %s", d.names(path))
}

// names lists the names of tasks. It omits the middle of a long list.
func (d *draft) names(path []int32) string {
	const most = 12
	var words []string
	for k, i := range path {
		if len(path) > most && k == most/2 {
			words = append(words, "...")
		}
		if len(path) <= most || k < most/2 || k >= len(path)-most/2 {
			words = append(words, d.tasks[i].name)
		}
	}
	return strings.Join(words, " -> ")
}
