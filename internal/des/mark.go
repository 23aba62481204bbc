package des

import "slices"

// Mark is the tasks that an engine had not ended at some time, and what they unfold into later: see Detach.
type Mark struct {
	last TaskID // that there was
	left int    // tasks not ended
	end  Time   // of the latest that has
}

// Mark marks the tasks that have not ended. TryReach must succeed for it in the end.
func (e *Engine) Mark() *Mark {
	m := &Mark{last: e.Next() - 1, left: e.live, end: e.last}
	if m.left > 0 {
		e.marks = append(e.marks, m)
	}
	return m
}

// TryReach runs the clock until all marked tasks have ended, whatever was added since, and returns when that was, or the
// latest end before the mark. It fails as TryWait does.
func (e *Engine) TryReach(m *Mark) (Time, bool) {
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

// count notes in the marks that a task has ended.
func (e *Engine) count(r *record) {
	for _, m := range e.marks {
		if r.counts <= m.last {
			m.left--
			m.end = max(m.end, r.span.End)
		}
	}
}

// join has a task count as an earlier one, which has unfolded into it.
func (r *record) join(id, as TaskID) {
	r.counts = as
	for _, m := range r.on.marks {
		if as <= m.last && id > m.last {
			m.left++
		}
	}
}
