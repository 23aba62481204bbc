package sim

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
)

// history holds the tasks that have ended since StartTimeline.
type history struct {
	on    bool
	from  model.Time
	first des.TaskID
	last  des.TaskID // the last task that has ended
	tasks []known    // indexed by id - first
	use   []Usage
}

type known struct {
	record   des.Record
	kind     string
	name     string
	launched *Launched
	ended    bool
}

// StartTimeline drops the previous time line and starts a new one. The device must be idle. It does nothing on a
// closed device.
func (d *Device) StartTimeline() {
	d.settled()
	if d.closed {
		return
	}
	d.history = history{on: true, from: d.host, first: d.engine.Next(), last: des.NoTask, tasks: d.history.tasks[:0]}
	d.engine.OnShare(d.share)
}

// of returns the entry of a task, or nil if the task is not recorded.
func (h *history) of(id des.TaskID) *known {
	i := int(id - h.first)
	if !h.on || i < 0 {
		return nil
	}
	for len(h.tasks) <= i {
		h.tasks = append(h.tasks, known{})
	}
	return &h.tasks[i]
}

func (h *history) add(r *des.Record) {
	k := h.of(r.ID)
	if k == nil {
		return
	}
	k.record, k.ended = *r, true
	k.record.Data = nil
	k.kind, k.name = describe(r.Data)
	if last := h.get(h.last); last == nil || r.Span.End >= last.Span.End {
		h.last = r.ID
	}
}

func (h *history) get(id des.TaskID) *des.Record {
	if k := h.known(id); k != nil {
		return &k.record
	}
	return nil
}

func (h *history) known(id des.TaskID) *known {
	if i := int(id - h.first); id != des.NoTask && i >= 0 && i < len(h.tasks) && h.tasks[i].ended {
		return &h.tasks[i]
	}
	return nil
}

// Step is an interval of a time line that has one cause.
type Step struct {
	Work       int64  // ID of the work, 0 for the host
	Before     bool   // the gap before the work, not the work itself
	Kind, Name string // as in Span; "" for the host
	Limit      string // exact limit: "fp64 pipe", "graph edge"
	Cause      string // group of the limit: compute, bandwidth, latency, transfer, launch, sync, queue, host, declared
	Took       int64  // ps
}

// Work is one piece of work of a time line.
type Work struct {
	ID         int64 // from 1
	Kind, Name string
	Transfer   bool  // over the host link, by a copy engine
	Begin, End int64 // ps since StartTimeline; Begin is when the work was first served
	Took       int64 // ps from its earliest possible start to its end
	Limit      string
	Cause      string    // of the greatest part of Took
	Spent      []Spent   // the parts of Took, without empty ones
	Launched   *Launched // nil unless it is a launch
}

// Spent is a part of the time of one piece of work.
type Spent struct {
	Limit, Cause string
	Took         int64 // ps
}

// spentOf returns the parts of a task's time that are not empty.
func spentOf(s *des.Spent) (parts []Spent) {
	for l, took := range s {
		if took > 0 {
			limit := des.Limit(l)
			parts = append(parts, Spent{limit.String(), limit.Cause().String(), int64(took)})
		}
	}
	return parts
}

// Timeline attributes the host's time since StartTimeline along the critical path. The steps are contiguous and add
// up to the total, in ps. It also returns all work that ran since, in order of enqueuing. The device must be idle.
func (d *Device) Timeline() (total int64, steps []Step, work []Work) {
	d.settled()
	h := &d.history
	for _, p := range des.CriticalPath(d.profile, h.from, d.host, h.last, h.get) {
		s := Step{Limit: p.Limit.String(), Cause: p.Limit.Cause().String(), Took: int64(p.Took)}
		if k := h.known(p.Task); k != nil {
			s.Kind, s.Name, s.Before = k.kind, k.name, p.Limit == k.record.Why && p.Limit >= des.StreamOrder
			s.Work = int64(p.Task-h.first) + 1
		}
		steps = append(steps, s)
	}
	for i := range h.tasks {
		k := &h.tasks[i]
		if k.kind == "" || k.kind == jobKinds[nothing] {
			continue
		}
		r := &k.record
		most := r.Spent.Most()
		work = append(work, Work{
			ID: int64(i) + 1, Kind: k.kind, Name: k.name, Transfer: r.Kind == model.CopyIn || r.Kind == model.CopyOut,
			Begin: int64(r.Span.Begin - h.from), End: int64(r.Span.End - h.from), Took: int64(r.Span.End - r.Start),
			Limit: most.String(), Cause: most.Cause().String(), Spent: spentOf(&r.Spent), Launched: k.launched,
		})
	}
	return int64(d.host - h.from), steps, work
}
