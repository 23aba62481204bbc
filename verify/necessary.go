package verify

import (
	"slices"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/internal/order"
	"github.com/reprise-gpu/reprise/ir"
)

// Wait is a dependency of a lowered program that could be omitted: an edge of a graph, or a wait of a stream for an
// event.
type Wait struct {
	From string `json:"from"` // the operation that is waited for; the last one before the event
	To   string `json:"to"`   // the operation that waits; the first one behind the wait
	// Later is the number of replays from From to To: 1 for the waits that keep replays apart.
	Later int `json:"later,omitempty"`

	// Without is a conflict that nothing would order without the wait. It is nil if the wait is not necessary.
	Without *Race `json:"without,omitempty"`
	// Path has the operations of a path that implies the wait, with both ends. If it is nil and Without is, too, the
	// operations that only this wait orders do not conflict: it is a delay.
	Path []string `json:"path,omitempty"`
}

// Necessary omits each wait of the lowered program in turn, in all replays, and reports which conflicts are then not
// ordered. The program must be ordered: see Check. Waits that never apply are left out, such as that of the first replay for
// the one before it.
//
// A wait that a path implies, or that stands between the two operations of a conflict, is decided by one search of the steps
// between its ends. Each other wait takes a search for each conflict across it.
func Necessary(s *ir.Schedule, form graphexec.Backend) ([]Wait, error) {
	l, err := lower(s, form)
	if err != nil {
		return nil, err
	}
	m := l.mutation()
	var all []Wait
	for w := range m.edges {
		if len(m.edges[w]) > 0 {
			all = append(all, m.omit(int32(w)))
		}
	}
	return all, nil
}

// mutation is what Necessary looks up for each wait.
type mutation struct {
	*loweredProgram
	edges  [][]dense.Edge       // by wait: its edges between steps
	direct map[dense.Edge][]int // by pair of steps: the needs of it
	reads  map[int32]work       // by step that reads the scalar of a loop or a branch: this operation
	next   []int32              // by step: the next one of its stream, -1 for none
}

func (l *loweredProgram) mutation() *mutation {
	m := &mutation{l, make([][]dense.Edge, l.rec.Waits()), map[dense.Edge][]int{}, map[int32]work{}, slices.Repeat([]int32{-1}, l.rec.Len())}
	for v := range int32(l.rec.Len()) {
		for i, e := range l.rec.Into(v) {
			switch {
			case e.Wait != order.Kept:
				m.edges[e.Wait] = append(m.edges[e.Wait], dense.Edge{From: e.From, To: v})
			case i == 0:
				m.next[e.From] = v
			}
		}
	}
	for i := range l.ops {
		for _, h := range l.ops[i].Reads {
			for replay, span := range l.spans(h) {
				m.reads[span.First] = work{i, replay}
			}
		}
	}
	for i, n := range l.needs {
		for _, p := range n.pairs {
			m.direct[p] = append(m.direct[p], i)
		}
	}
	return m
}

// omit returns what happens without a wait.
func (m *mutation) omit(w int32) Wait {
	edges := m.edges[w]
	from, to := m.nearest(edges[0].From, m.before), m.nearest(edges[0].To, m.behind)
	result := Wait{From: m.ops[from.op].Name, To: m.ops[to.op].Name, Later: to.replay - from.replay}
	for _, e := range edges {
		if path := m.rec.Path(e.From, e.To, w); path == nil {
			result.Without = m.broken(w)
			return result
		} else if result.Path == nil {
			result.Path = m.names(path)
		}
	}
	return result
}

// broken returns the first need that is not satisfied without a wait, as a race.
func (m *mutation) broken(w int32) *Race {
	for _, e := range m.edges[w] {
		for _, i := range m.direct[e] {
			if m.rec.Path(e.From, e.To, w) == nil {
				race := m.race(m.needs[i], w)
				return &race
			}
		}
	}
	for _, n := range m.needs {
		for _, p := range n.pairs {
			if m.crosses(w, p) && m.rec.Path(p.From, p.To, w) == nil {
				race := m.race(n, w)
				return &race
			}
		}
	}
	return nil
}

// crosses reports whether an edge of a wait lies between two steps.
func (m *mutation) crosses(w int32, p dense.Edge) bool {
	return slices.ContainsFunc(m.edges[w], func(e dense.Edge) bool { return p.From <= e.From && e.To <= p.To })
}

// nearest returns the operation of a step. For a step without one, it follows the steps that the function returns.
func (m *mutation) nearest(step int32, further func(int32) int32) work {
	for ; step >= 0; step = further(step) {
		if w, ok := m.of[step]; ok {
			return w
		}
		if w, ok := m.reads[step]; ok {
			return w
		}
	}
	return work{replay: replays} // the end of the last replay, of the first operation of the next
}

// before returns the first step that a step follows, which is the one before it on its stream, and -1 for none.
func (m *mutation) before(step int32) int32 {
	if into := m.rec.Into(step); len(into) > 0 {
		return into[0].From
	}
	return -1
}

func (m *mutation) behind(step int32) int32 { return m.next[step] }

// names returns the names of the operations of a path.
func (m *mutation) names(path []int32) []string {
	names := []string{}
	for _, step := range path {
		if w, ok := m.of[step]; ok {
			names = append(names, m.ops[w.op].Name)
		}
	}
	return names
}
