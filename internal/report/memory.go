package report

import (
	"cmp"
	"slices"

	"github.com/reprise-gpu/reprise/internal/timeline"
	"github.com/reprise-gpu/reprise/ir"
)

// live returns the bytes of device memory in use over time. Temporaries are in use from the begin of the first operation
// that accesses them to the end of the last one. All other buffers are always in use.
func live(t *timeline.Timeline) [][2]int64 {
	g := t.Schedule.Graph
	first, last := make([]int64, len(g.Buffers)), make([]int64, len(g.Buffers))
	for b := range last {
		last[b] = -1
	}
	var scratch [2]ir.Access
	for i := range t.Spans {
		s := &t.Spans[i]
		for _, a := range s.Of().Accesses(&scratch) {
			if last[a.Buffer] < 0 {
				first[a.Buffer] = s.Begin
			}
			first[a.Buffer], last[a.Buffer] = min(first[a.Buffer], s.Begin), max(last[a.Buffer], s.End)
		}
	}
	always, changes := int64(0), [][2]int64{}
	for b := range g.Buffers {
		buf := &g.Buffers[b]
		switch {
		case buf.Place.Kind != ir.OnDevice:
		case buf.Role != ir.Temporary:
			always += buf.Size()
		case last[b] >= 0:
			changes = append(changes, [2]int64{first[b], buf.Size()}, [2]int64{last[b], -buf.Size()})
		}
	}
	slices.SortFunc(changes, func(a, b [2]int64) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	return sums(always, changes)
}

// sums returns the running sum of the changes, one for each time.
func sums(at int64, changes [][2]int64) [][2]int64 {
	all := [][2]int64{{0, at}}
	for _, c := range changes {
		at += c[1]
		if n := len(all); all[n-1][0] == c[0] {
			all[n-1][1] = at
		} else {
			all = append(all, [2]int64{c[0], at})
		}
	}
	return all
}
