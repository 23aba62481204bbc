package des

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device/model"
)

type state uint8

const (
	waiting state = iota // for dependencies, its arrival or its gap
	started              // the start function was called
	ended
)

// record is the engine's record of a task.
type record struct {
	on           *Engine    // engine of the task
	arrival, gap model.Time // after the start of the task, arrival is the time of the start
	counts       TaskID     // the task that this one counts as for marks: itself, or the task that expanded to it
	after        TaskID     // the dependency that determines arrival, or NoTask
	span         Span
	data         any
	pending      int32 // number of dependencies that have not ended
	prio         int32
	succs        int32 // head of its list of successors in table.edges, or none
	state        state
	kind         model.DemandKind // valid after the start
	limit, why   Limit            // limit of a task with a fixed end; limit of the gap
}

// edge is a link of a task's list of successors.
type edge struct {
	to   TaskID
	next int32
}

const (
	none     = -1
	pageBits = 6
	pageSize = 1 << pageBits
)

// page holds pageSize tasks with consecutive ids.
type page struct {
	tasks [pageSize]record
	open  int // number of tasks that have not ended
	last  model.Time
}

// table holds tasks in pages, and their edges in a pool, so that a simulation that retires ended tasks stops
// allocating. Pages are retired as a whole and in any order: the successor of a device loop has a low id and waits
// while the tasks of a million iterations are added and retired.
type table struct {
	dir   []*page // ring whose length is a power of two; page n is at n & (len-1), nil if it was retired
	first TaskID  // first page in dir
	next  TaskID
	done  []TaskID // pages whose tasks have all ended, in order of the last end
	spare []*page
	by    model.Time // tasks that ended by this time are retired

	edges []edge
	free  int32 // head of the list of free edges
}

func newTable() table { return table{dir: make([]*page, 4), free: none, by: -1} }

func (t *table) page(n TaskID) **page { return &t.dir[int(n)&(len(t.dir)-1)] }

func (t *table) add(r record) TaskID {
	id := t.next
	t.next++
	n := id >> pageBits
	if id&(pageSize-1) == 0 {
		t.open(n)
	}
	(*t.page(n)).open++
	*t.at(id) = r
	return id
}

// open adds page n.
func (t *table) open(n TaskID) {
	for t.first < n && *t.page(t.first) == nil {
		t.first++
	}
	if int(n-t.first) == len(t.dir) {
		old := *t
		t.dir = make([]*page, 2*len(old.dir))
		for i := t.first; i < n; i++ {
			*t.page(i) = *old.page(i)
		}
	}
	p := &page{}
	if k := len(t.spare); k > 0 {
		p, t.spare = t.spare[k-1], t.spare[:k-1]
	}
	*t.page(n) = p
}

// at returns a task that has not been retired.
func (t *table) at(id TaskID) *record {
	return &(*t.page(id >> pageBits)).tasks[id&(pageSize-1)]
}

// get returns a task by an id from a caller, or nil if it was retired.
func (t *table) get(id TaskID) *record {
	if id < 0 || id >= t.next {
		panic(fmt.Sprintf("BUG: task %d is not among the tasks 0 to %d", id, t.next-1))
	}
	if n := id >> pageBits; n < t.first || *t.page(n) == nil {
		return nil
	}
	if r := t.at(id); r.state != ended || r.span.End > t.by {
		return r
	}
	return nil
}

func (t *table) link(from, to TaskID) {
	i := t.free
	if i == none {
		i = int32(len(t.edges))
		t.edges = append(t.edges, edge{})
	} else {
		t.free = t.edges[i].next
	}
	r := t.at(from)
	t.edges[i] = edge{to: to, next: r.succs}
	r.succs = i
}

// unlink frees edge i and returns it.
func (t *table) unlink(i int32) edge {
	e := t.edges[i]
	t.edges[i].next = t.free
	t.free = i
	return e
}

// ended records the end of a task.
func (t *table) ended(id TaskID, at model.Time) {
	n := id >> pageBits
	p := *t.page(n)
	p.open--
	if p.last = at; p.open == 0 && t.next >= (n+1)<<pageBits {
		t.done = append(t.done, n)
	}
}

// retire drops the tasks that ended by the given time.
func (t *table) retire(by model.Time) {
	t.by = by
	k := 0
	for ; k < len(t.done) && (*t.page(t.done[k])).last <= by; k++ {
		p := t.page(t.done[k])
		**p = page{}
		t.spare = append(t.spare, *p)
		*p = nil
	}
	t.done = append(t.done[:0], t.done[k:]...)
}
