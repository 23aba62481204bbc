package des

import "fmt"

type state uint8

const (
	waiting state = iota // for dependencies, its arrival or its gap
	started              // the owner has been called
	ended
)

// record is what the engine keeps of a task.
type record struct {
	on           *Engine // whose task it is
	arrival, gap Time    // arrival is when it started, once it has
	counts       TaskID  // as which task for marks: itself, or the one that unfolded into it
	after        TaskID  // the dependency that arrival follows, or NoTask
	span         Span
	data         any
	pending      int32 // dependencies not yet ended
	prio         int32
	succs        int32 // head of its list in table.edges, or none
	state        state
	kind         DemandKind // once it has started
	limit, why   Limit      // of a task with a fixed end; of its gap
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

// page is pageSize tasks with neighbouring ids.
type page struct {
	tasks [pageSize]record
	open  int // tasks not ended
	last  Time
}

// table holds tasks in pages, and their edges in a pool, so that a simulation that
// retires what has ended stops allocating. A page is retired as a whole, wherever it
// lies: what follows a loop of the device waits, with a low id, while the tasks of a
// million iterations come and go behind it.
type table struct {
	dir   []*page // a power of two long; page n lies at n & (len-1), nil when it was retired
	first TaskID  // page in dir
	next  TaskID
	done  []TaskID // pages whose tasks have all ended, the earliest first
	spare []*page
	by    Time // what had ended by then is retired

	edges []edge
	free  int32 // head of the free edges
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

// open makes room for a page.
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

// at is a task that has not been retired.
func (t *table) at(id TaskID) *record {
	return &(*t.page(id >> pageBits)).tasks[id&(pageSize-1)]
}

// get is a task for an id that came from a caller, nil when it was retired.
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

// ended notes the end of a task.
func (t *table) ended(id TaskID, at Time) {
	n := id >> pageBits
	p := *t.page(n)
	p.open--
	if p.last = at; p.open == 0 && t.next >= (n+1)<<pageBits {
		t.done = append(t.done, n)
	}
}

// retire forgets the tasks that had ended by the given time.
func (t *table) retire(by Time) {
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
