package timeline

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// Row is a lane of the schedule, or of a body in it, with its spans in order of time.
type Row struct {
	Path  string // of the body, "" for the schedule
	Body  string // the same with names
	Lane  ir.LaneID
	Spans []int // indices in Timeline.Spans
}

// Title returns the name of a row.
func (r *Row) Title() string {
	if r.Path == "" {
		return fmt.Sprintf("lane %d", r.Lane)
	}
	return fmt.Sprintf("%s lane %d", r.Body, r.Lane)
}

// Rows returns the lanes that have spans, those of bodies last.
func (t *Timeline) Rows() (rows []Row) {
	type key struct {
		path string
		lane ir.LaneID
	}
	index := map[key]int{}
	for i := range t.Spans {
		s := &t.Spans[i]
		k := key{s.Path, s.Lane()}
		at, ok := index[k]
		if !ok {
			at = len(rows)
			index[k] = at
			rows = append(rows, Row{Path: k.path, Body: s.Body, Lane: k.lane})
		}
		rows[at].Spans = append(rows[at].Spans, i)
	}
	slices.SortFunc(rows, func(a, b Row) int { return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Lane, b.Lane)) })
	for _, r := range rows {
		slices.SortStableFunc(r.Spans, func(a, b int) int { return cmp.Compare(t.Spans[a].Begin, t.Spans[b].Begin) })
	}
	return rows
}
