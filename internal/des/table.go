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
	arrival, gap Time   // arrival is when it started, once it has
	after        TaskID // the dependency that arrival follows, or NoTask
	span         Span
	data         any
	pending      int32 // dependencies not yet ended
	prio         int32
	succs        int32 // head of its list in table.edges, or none
	state        state
	limit, why   Limit // of a task with a fixed end; of its gap
}

// edge is a link of a task's list of successors.
type edge struct {
	to   TaskID
	next int32
}

const none = -1

// table holds the tasks from base to next-1 in a ring, and their edges in a
// pool, so that a simulation that retires what has ended stops allocating.
type table struct {
	ring  []record // a power of two long; task id lives at id & (len-1)
	base  TaskID
	next  TaskID
	edges []edge
	spare int32 // head of the free edges
}

func newTable() table { return table{ring: make([]record, 64), spare: none} }

func (t *table) add(r record) TaskID {
	if int(t.next-t.base) == len(t.ring) {
		t.grow()
	}
	id := t.next
	t.next++
	*t.at(id) = r
	return id
}

func (t *table) grow() {
	old := *t
	t.ring = make([]record, 2*len(old.ring))
	for id := t.base; id < t.next; id++ {
		*t.at(id) = *old.at(id)
	}
}

func (t *table) at(id TaskID) *record { return &t.ring[int(id)&(len(t.ring)-1)] }

// get is at for an id that came from a caller.
func (t *table) get(id TaskID) *record {
	if id < t.base || id >= t.next {
		panic(fmt.Sprintf("BUG: task %d is not among the live tasks %d to %d", id, t.base, t.next-1))
	}
	return t.at(id)
}

func (t *table) link(from, to TaskID) {
	i := t.spare
	if i == none {
		i = int32(len(t.edges))
		t.edges = append(t.edges, edge{})
	} else {
		t.spare = t.edges[i].next
	}
	r := t.at(from)
	t.edges[i] = edge{to: to, next: r.succs}
	r.succs = i
}

// unlink frees edge i and returns it.
func (t *table) unlink(i int32) edge {
	e := t.edges[i]
	t.edges[i].next = t.spare
	t.spare = i
	return e
}

// retire drops the oldest tasks as long as they had ended by the given time.
func (t *table) retire(by Time) {
	for t.base < t.next {
		r := t.at(t.base)
		if r.state != ended || r.span.End > by {
			return
		}
		*r = record{}
		t.base++
	}
}
