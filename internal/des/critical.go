package des

// Piece is a stretch of time put down to one limit, in a task or before it.
type Piece struct {
	Task  TaskID // NoTask when the host alone is to blame
	Limit Limit
	Took  Time
}

// CriticalPath says where the time from one instant to another went, the first
// piece first: each instant belongs to exactly one piece, so they add up. Going
// back from the end, it is the host's return from its wait; the task that ended
// last, by what limited it; the gap before that task, and the task it waited for,
// and so on, until a task that waited only for the host to enqueue it. All before
// that is the host's. get finds the record of a task, nil when it is not known;
// last is the task that ended last, NoTask without one.
func (p *Profile) CriticalPath(from, to Time, last TaskID, get func(TaskID) *Record) []Piece {
	w := walk{from: from, at: to}
	r := find(last, get)
	if r == nil {
		w.back(NoTask, HostCalls, from)
		return w.path()
	}
	w.back(NoTask, Synchronize, r.Span.End)
	for {
		for l := limits; l > 0; l-- {
			w.back(r.ID, l-1, w.at-r.Spent[l-1])
		}
		before := find(r.After, get)
		if before == nil {
			w.back(NoTask, Submit, w.at-p.SubmitLatency)
			w.back(NoTask, HostCalls, from)
			return w.path()
		}
		w.back(r.ID, r.Why, before.Span.End)
		r = before
	}
}

func find(id TaskID, get func(TaskID) *Record) *Record {
	if id == NoTask {
		return nil
	}
	return get(id)
}

// walk goes back in time.
type walk struct {
	from, at Time
	pieces   []Piece // the last first
}

// back puts the time since t down to a limit.
func (w *walk) back(task TaskID, l Limit, t Time) {
	if t = max(t, w.from); t < w.at {
		w.pieces = append(w.pieces, Piece{task, l, w.at - t})
		w.at = t
	}
}

func (w *walk) path() []Piece {
	for i, j := 0, len(w.pieces)-1; i < j; i, j = i+1, j-1 {
		w.pieces[i], w.pieces[j] = w.pieces[j], w.pieces[i]
	}
	return w.pieces
}
