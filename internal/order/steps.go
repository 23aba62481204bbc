package order

import (
	"cmp"
	"slices"

	"github.com/reprise-gpu/reprise/internal/dense"
)

// Span is the first and the last step of a piece of work. They are equal except for a launch of a graph and for a
// conditional node, whose other steps are between them.
type Span struct{ First, Last int32 }

// Kept is the wait of an edge that no program could omit.
const Kept = -1

// Edge is an edge to a step: from an earlier step, by a wait or Kept.
type Edge struct{ From, Wait int32 }

// Steps is a directed acyclic graph. Steps are numbered in submission order, which is a topological order.
type Steps struct {
	edges []Edge
	into  []int32 // edges[into[v-1]:into[v]] lead to v, with 0 for into[-1]
}

// after adds an edge to the next step. It ignores -1.
func (s *Steps) after(from, wait int32) {
	if from >= 0 {
		s.edges = append(s.edges, Edge{from, wait})
	}
}

// end completes the next step and returns it.
func (s *Steps) end() int32 {
	s.into = append(s.into, int32(len(s.edges)))
	return int32(len(s.into) - 1)
}

// Len returns the number of steps.
func (s *Steps) Len() int { return len(s.into) }

// Into returns the edges to a step.
func (s *Steps) Into(v int32) []Edge {
	if v == 0 {
		return s.edges[:s.into[0]]
	}
	return s.edges[s.into[v-1]:s.into[v]]
}

// Ordered reports, by pair, whether the first step precedes the second one in every execution, if the program omits a
// wait; Kept omits none. A pair whose first step is not the lower one is not ordered.
//
// Barriers, such as the end of a launch, divide the steps into sections. Pairs in different sections are ordered, and
// the others are searched section by section; see dense.Preds.Implied. This takes O(edges · lanes) in the worst case,
// and far less if pairs are close to each other.
func (s *Steps) Ordered(pairs []dense.Edge, without int32) []bool {
	ordered := make([]bool, len(pairs))
	section := s.sections(without)
	var inside []int // pairs in one section, by section
	for i, p := range pairs {
		switch {
		case p.From >= p.To:
		case section[p.From] != section[p.To]:
			ordered[i] = true
		default:
			inside = append(inside, i)
		}
	}
	slices.SortStableFunc(inside, func(i, j int) int { return cmp.Compare(section[pairs[i].From], section[pairs[j].From]) })
	for len(inside) > 0 {
		n := 1
		for n < len(inside) && section[pairs[inside[n]].From] == section[pairs[inside[0]].From] {
			n++
		}
		s.within(section, pairs, inside[:n], without, ordered)
		inside = inside[n:]
	}
	return ordered
}

// within sets the results of pairs in one section.
func (s *Steps) within(section []int32, pairs []dense.Edge, which []int, without int32, ordered []bool) {
	at := section[pairs[which[0]].From]
	lo, _ := slices.BinarySearch(section, at)
	hi, _ := slices.BinarySearch(section, at+1)
	p := dense.NewPreds(hi-lo, hi-lo)
	p.Chain = s.chains(lo, hi, without)
	for v := lo; v < hi; v++ {
		for _, e := range s.Into(int32(v)) {
			if int(e.From) >= lo && e.in(without) {
				p.Add(e.From - int32(lo))
			}
		}
		slices.Sort(p.Row())
		p.EndRow()
	}
	queries := make([]dense.Edge, len(which))
	for i, q := range which {
		queries[i] = dense.Edge{From: pairs[q].From - int32(lo), To: pairs[q].To - int32(lo)}
	}
	for i, implied := range p.Implied(queries) {
		ordered[which[i]] = implied || p.Has(queries[i].From, queries[i].To)
	}
}

// chains covers the steps from lo to before hi with paths: a step continues the path of the first of its predecessors
// that still ends one. That is the one before it on its stream or, in the graphs of package graphexec, on its lane, so
// that there are about as many paths as lanes.
func (s *Steps) chains(lo, hi int, without int32) []int32 {
	chain := make([]int32, hi-lo)
	ends := make([]bool, hi-lo)
	n := int32(0)
	for v := range chain {
		chain[v] = -1
		for _, e := range s.Into(int32(lo + v)) {
			if u := int(e.From) - lo; u >= 0 && ends[u] && e.in(without) {
				chain[v], ends[u] = chain[u], false
				break
			}
		}
		if ends[v] = true; chain[v] < 0 {
			chain[v] = n
			n++
		}
	}
	return chain
}

// in reports whether the edge remains if the program omits a wait.
func (e Edge) in(without int32) bool { return e.Wait == Kept || e.Wait != without }

// sections numbers the sections of steps, ascending. A step is a barrier if all earlier steps precede it and it
// precedes all later ones: it is the only step up to it that no other one up to it follows, and the only one from it on
// that follows no other one from it on. A section ends with its barrier, except that a barrier is in the section of the
// steps before it.
func (s *Steps) sections(without int32) []int32 {
	n := s.Len()
	open, followed := 0, make([]bool, n) // steps so far that none follows
	alone := make([]bool, n)
	reach := make([]int32, n) // by step: the lowest later-than relation, the highest step before it with an edge to it
	for v := range n {
		open, reach[v] = open+1, -1
		for _, e := range s.Into(int32(v)) {
			if !e.in(without) {
				continue
			}
			if !followed[e.From] {
				followed[e.From] = true
				open--
			}
			reach[v] = max(reach[v], e.From)
		}
		alone[v] = open == 1
	}
	// A later step follows barrier b if each step behind b has an edge from b or from a step behind b.
	first := int32(n) // the lowest barrier that the steps behind allow
	section := make([]int32, n)
	barrier := make([]bool, n)
	for v := n - 1; v >= 0; v-- {
		barrier[v] = alone[v] && int32(v) <= first
		first = min(first, reach[v])
	}
	at := int32(0)
	for v := range n {
		section[v] = at
		if barrier[v] {
			at++
		}
	}
	return section
}

// Before returns all steps that precede one of the given ones in every execution, and the given ones, ascending, if the
// program omits a wait; Kept omits none.
func (s *Steps) Before(without int32, of ...int32) []int32 {
	seen := dense.NewSet(s.Len())
	stack := slices.Clone(of)
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen.Has(int(v)) {
			continue
		}
		seen.Add(int(v))
		for _, e := range s.Into(v) {
			if e.in(without) {
				stack = append(stack, e.From)
			}
		}
	}
	var all []int32
	for v := range int32(s.Len()) {
		if seen.Has(int(v)) {
			all = append(all, v)
		}
	}
	return all
}

// Path returns the steps of a shortest path between two steps that omits a wait, with both ends. It is nil if there is none.
func (s *Steps) Path(from, to, without int32) []int32 {
	next := map[int32]int32{to: -1} // towards to
	queue := []int32{to}
	for len(queue) > 0 && queue[0] != from {
		v := queue[0]
		queue = queue[1:]
		for _, e := range s.Into(v) {
			if _, seen := next[e.From]; seen || e.From < from || !e.in(without) {
				continue
			}
			next[e.From] = v
			queue = append(queue, e.From)
		}
	}
	if len(queue) == 0 {
		return nil
	}
	var path []int32
	for v := from; v >= 0; v = next[v] {
		path = append(path, v)
	}
	return path
}
