package des

import "github.com/reprise-gpu/reprise/device/model"

// Piece is an interval of time attributed to one limit.
type Piece struct {
	Task  TaskID // the limited task; NoTask if only the host took the time
	Limit Limit
	Took  model.Time
}

// CriticalPath attributes the time between two instants to limits. The pieces are in order of time, do not overlap
// and add up to the whole interval.
//
// The path is found backwards from the end: the host's return from its wait; the task that ended last, split by its
// limits; the gap before that task; the task that it waited for; and so on, until a task that waited only for the
// host to enqueue it. All time before that belongs to the host. Argument last is the task that ended last, or NoTask.
// Function get returns the record of a task, or nil if it is unknown.
func CriticalPath(p *model.Profile, from, to model.Time, last TaskID, get func(TaskID) *Record) []Piece {
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

// walk collects pieces backwards in time.
type walk struct {
	from, at model.Time
	pieces   []Piece // in reverse order
}

// back attributes the time from t to the current position to a limit, and moves the position to t.
func (w *walk) back(task TaskID, l Limit, t model.Time) {
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
