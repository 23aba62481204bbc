package ir

import (
	"cmp"
	"fmt"
	"slices"
)

// Hazard is the set of reasons for a dependency.
type Hazard uint8

const (
	RAW     Hazard = 1 << iota // true dependence: To reads what From wrote
	WAR                        // anti-dependence: To writes what From reads
	WAW                        // output dependence: both write
	Ordered                    // an explicit after edge
)

// Dep is a dependency: To must wait for From. Hazard is the set of reasons. Cause is the number of the bytes
// of the first memory hazard, which Graph.Cause returns; it is 0 if the only reason is Ordered.
type Dep struct {
	From, To OpID
	Hazard   Hazard
	Cause    int32
}

// rows holds the dependencies in compressed sparse rows, in both directions. All rows are ascending and
// without duplicates.
type rows struct {
	deps   []Dep   // by To, then From
	causes []Range // by Dep.Cause - 1
	into   []int32 // deps[into[v]:into[v+1]] end at v
	outs   []OpID  // successors, by From, then To
	out    []int32 // outs[out[v]:out[v+1]] are v's successors
}

// buildRows returns the rows of a graph of n operations. It keeps deps and causes, and sorts and merges
// deps in place if they are not sorted and distinct. The successors are then a counting sort by From, so
// sorted dependencies take O(n + deps). The error reports an invalid dependency.
func buildRows(n int, deps []Dep, causes []Range) (rows, error) {
	if len(deps) == 0 {
		deps, causes = nil, nil // a graph without dependencies equals one parsed without any
	}
	r := rows{deps: deps, causes: causes, into: make([]int32, n+1), out: make([]int32, n+1)}
	ascending, err := r.count()
	if err != nil {
		return rows{}, err
	}
	if !ascending {
		slices.SortStableFunc(deps, compareDeps)
		deps = mergeDeps(deps)
		return buildRows(n, deps, renumber(deps, causes))
	}
	for v := range n {
		r.into[v+1] += r.into[v]
		r.out[v+1] += r.out[v]
	}
	r.outs = make([]OpID, len(r.deps))
	next := slices.Clone(r.out[:n])
	for i := range r.deps { // ascending To, so every row ends up ascending
		d := &r.deps[i]
		r.outs[next[d.From]] = d.To
		next[d.From]++
	}
	return r, nil
}

// count sets the lengths of the rows and reports whether the dependencies are sorted and distinct, as those
// of an analysis are. Such dependencies are not written to, so graphs may share them. Checking and counting
// share one pass, because the dependencies of a long trace do not fit a cache.
func (r *rows) count() (ascending bool, err error) {
	n, ascending := OpID(len(r.into)-1), true
	last := Dep{From: -1, To: -1}
	for i := range r.deps {
		d := &r.deps[i]
		if d.From < 0 || d.From >= d.To || d.To >= n || uint(d.Cause) > uint(len(r.causes)) {
			return false, r.refuse(d)
		}
		ascending = ascending && (d.To > last.To || d.To == last.To && d.From > last.From)
		last.From, last.To = d.From, d.To
		r.into[d.To+1]++
		r.out[d.From+1]++
	}
	return ascending, nil
}

// refuse returns the error for an invalid dependency.
func (r *rows) refuse(d *Dep) error {
	n := len(r.into) - 1
	switch {
	case d.From < 0 || d.To < 0 || int(d.From) >= n || int(d.To) >= n:
		return fmt.Errorf("dependency %v -> %v names an operation outside the graph of %d", d.From, d.To, n)
	case d.From >= d.To:
		return fmt.Errorf("dependency %v -> %v goes against program order", d.From, d.To)
	}
	return fmt.Errorf("dependency %v -> %v has cause %d of %d", d.From, d.To, d.Cause, len(r.causes))
}

// renumber numbers the causes in the order of deps, which are sorted by now. Graphs with the same
// dependencies are then equal, whatever order the dependencies were added in.
func renumber(deps []Dep, causes []Range) []Range {
	var c Causes
	for i := range deps {
		if d := &deps[i]; d.Cause != 0 {
			d.Cause = c.ID(causes[d.Cause-1])
		}
	}
	return c.Ranges()
}

// compareDeps orders dependencies by To, then From.
func compareDeps(a, b Dep) int {
	return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.From, b.From))
}

// mergeDeps merges neighbours with the same ends into one dependency with all their reasons and the first
// cause.
func mergeDeps(deps []Dep) []Dep {
	kept := deps[:0]
	for _, d := range deps {
		if n := len(kept); n > 0 && kept[n-1].From == d.From && kept[n-1].To == d.To {
			last := &kept[n-1]
			last.Hazard |= d.Hazard
			if last.Cause == 0 {
				last.Cause = d.Cause
			}
			continue
		}
		kept = append(kept, d)
	}
	return kept
}
