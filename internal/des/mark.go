package des

import (
	"slices"

	"github.com/reprise-gpu/reprise/device/model"
)

// Mark is the set of tasks of an engine that had not ended at some time, including tasks that they expand to later
// (see Detach).
type Mark struct {
	last TaskID     // latest task at that time
	left int        // number of marked tasks that have not ended
	end  model.Time // latest end of a marked task so far
}

// Mark returns a mark of the tasks that have not ended. The caller must call TryReach until it succeeds.
func (e *Engine) Mark() *Mark {
	m := &Mark{last: e.Next() - 1, left: e.live, end: e.last}
	if m.left > 0 {
		e.marks = append(e.marks, m)
	}
	return m
}

// TryReach runs the clock until all marked tasks have ended, even if tasks were added since. It returns the time of
// their latest end, or the latest end before the mark if all had ended. It fails as TryWait does.
func (e *Engine) TryReach(m *Mark) (model.Time, bool) {
	for m.left > 0 {
		t := e.nextEvent()
		if t == never || e.stopped() {
			return m.end, false
		}
		e.step(t)
	}
	e.marks = slices.DeleteFunc(e.marks, func(other *Mark) bool { return other == m })
	return m.end, true
}

// count updates the marks when a task ends.
func (e *Engine) count(r *record) {
	for _, m := range e.marks {
		if r.counts <= m.last {
			m.left--
			m.end = max(m.end, r.span.End)
		}
	}
}

// join makes a task count for marks as the earlier task that expanded to it.
func (r *record) join(id, as TaskID) {
	r.counts = as
	for _, m := range r.on.marks {
		if as <= m.last && id > m.last {
			m.left++
		}
	}
}
