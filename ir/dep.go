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

// Dep says that To must wait for From, and why. Cause is the bytes behind the
// first memory hazard; it is empty when the only reason is Ordered.
type Dep struct {
	From, To OpID
	Hazard   Hazard
	Cause    Range
}

// rows holds the dependencies in compressed rows, in both directions.
type rows struct {
	deps []Dep   // by To, then From
	into []int32 // deps[into[v]:into[v+1]] end at v
	outs []OpID  // successors, by From, then To
	out  []int32 // outs[out[v]:out[v+1]] are v's successors
}

// buildRows sorts and merges deps, which it takes over.
func buildRows(n int, deps []Dep) (rows, error) {
	for _, d := range deps {
		if d.From < 0 || d.To < 0 || int(d.From) >= n || int(d.To) >= n {
			return rows{}, fmt.Errorf("dependency %v -> %v names an operation outside the graph of %d", d.From, d.To, n)
		}
		if d.From >= d.To {
			return rows{}, fmt.Errorf("dependency %v -> %v goes against program order", d.From, d.To)
		}
	}
	if !ascending(deps) {
		slices.SortStableFunc(deps, compareDeps)
		deps = mergeDeps(deps)
	}
	if len(deps) == 0 {
		deps = nil // a graph without dependencies equals one parsed without any
	}
	r := rows{deps: deps, into: make([]int32, n+1), out: make([]int32, n+1)}
	for _, d := range r.deps {
		r.into[d.To+1]++
		r.out[d.From+1]++
	}
	for v := range n {
		r.into[v+1] += r.into[v]
		r.out[v+1] += r.out[v]
	}
	r.outs = make([]OpID, len(r.deps))
	next := slices.Clone(r.out[:n])
	for _, d := range r.deps { // ascending To, so every row ends up ascending
		r.outs[next[d.From]] = d.To
		next[d.From]++
	}
	return r, nil
}

// ascending reports whether deps are sorted and all different, as those of an analysis
// are. Then nothing is written to them, and graphs may share them.
func ascending(deps []Dep) bool {
	for i := 1; i < len(deps); i++ {
		if compareDeps(deps[i-1], deps[i]) >= 0 {
			return false
		}
	}
	return true
}

func compareDeps(a, b Dep) int {
	return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.From, b.From))
}

// mergeDeps folds neighbours with the same ends into one with all their reasons.
func mergeDeps(deps []Dep) []Dep {
	kept := deps[:0]
	for _, d := range deps {
		if n := len(kept); n > 0 && kept[n-1].From == d.From && kept[n-1].To == d.To {
			last := &kept[n-1]
			last.Hazard |= d.Hazard
			if last.Cause.Empty() {
				last.Cause = d.Cause
			}
			continue
		}
		kept = append(kept, d)
	}
	return kept
}
