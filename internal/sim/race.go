package sim

import (
	"fmt"
	"strings"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/internal/interp"
)

// Race selects whether a device detects races.
type Race uint8

const (
	RaceOff Race = iota
	// RaceOn detects unordered operations that access the same bytes, and kernels that read uninitialised memory. It
	// costs up to three times the host time of running kernels. Virtual time does not change. See Device.Findings.
	RaceOn
)

// races detects conflicting accesses that are not ordered. Order comes from the dependencies passed to the engine and
// from waits of the host. The order in which the engine happens to run tasks is irrelevant.
type races struct {
	order  *order
	memory *interp.Memory
	record interp.Record
	report report
}

func newRaces(mode Race, m *interp.Memory, o *order) *races {
	if mode == RaceOff {
		return nil
	}
	m.TrackInitialised()
	r := &races{order: o, memory: m, record: interp.Record{Races: true}}
	o.readers = append(o.readers, r)
	return r
}

// place is where work was enqueued.
type place struct {
	stream device.Stream
	exec   device.GraphExec
	node   device.Node
	in     *scope // the body of a conditional node, or nil
}

func (p place) String() string {
	switch {
	case p.in != nil:
		body := "the body"
		if len(p.in.of.job.choice.bodies) > 1 {
			body = fmt.Sprintf("body %d", p.in.body)
		}
		return fmt.Sprintf("node %d of %s of %v", p.node, body, p.in.of.at)
	case p.node != 0:
		return fmt.Sprintf("node %d of graph instance %d in stream %d", p.node, p.exec, p.stream)
	case p.stream != 0:
		return fmt.Sprintf("stream %d", p.stream)
	}
	return "the host"
}

// add adds a task to the engine and, if races are detected, to the order.
func (d *Device) add(t des.Task, at place) des.TaskID {
	id := d.engine.Add(t)
	if jobOf(t.Data).notices() {
		d.noticeable++
	}
	if d.races != nil {
		d.races.order.add(id, t.Deps, &operation{on: d, job: jobOf(t.Data), where: at})
	}
	return id
}

// hostWaited records that the host has waited for tasks.
func (r *races) hostWaited(ids ...des.TaskID) {
	if r == nil {
		return
	}
	for _, id := range ids {
		r.order.waited(id)
	}
	r.order.settle()
}

// drained records that the host has waited for the work of the device before task end.
func (r *races) drained(d *Device, end des.TaskID) {
	if r == nil {
		return
	}
	r.order.drained(d, end)
}

// closed returns the races of a closed device: only its findings.
func (r *races) closed(d *Device) *races {
	if r == nil {
		return nil
	}
	r.drained(d, d.engine.Next())
	r.order.leave(r)
	return &races{order: &order{}, report: r.report}
}

// ended is called for every task that has ended.
func (r *races) ended(id des.TaskID) {
	if r != nil {
		r.order.ended(id)
	}
}

// freed drops an allocation. The host has waited for all work before.
func (r *races) freed(base uint64) {
	if r != nil {
		delete(r.order.shadows, base)
	}
}

// recordFor returns the record for a launch to fill, or nil if races are not detected.
func (r *races) recordFor() *interp.Record {
	if r == nil {
		return nil
	}
	return &r.record
}

// launched adds the accesses of a kernel. Hazards are empty if the result came from the memo: they were reported
// before.
func (r *races) launched(id des.TaskID, touched []interp.Recorded, hazards []interp.Hazard) {
	op := r.order.of(id)
	for i := range hazards {
		r.report.hazard(r.memory, op, &hazards[i])
	}
	for i := range touched {
		a := &touched[i]
		var list []touch
		if len(a.Written) > 0 {
			list = append(list, touch{by: op, way: writes, spans: a.Written, sites: a.Sites})
		}
		for _, k := range a.Atomic {
			list = append(list, touch{by: op, way: atomics, atomic: k.Kind, spans: k.Spans, sites: a.Sites})
		}
		if len(a.Read) > 0 {
			list = append(list, touch{by: op, way: reads, spans: a.Read, sites: a.Sites})
		}
		for j := range list {
			r.enter(a.Base, &list[j])
			if list[j].way != reads {
				r.initialised(list[j].spans)
			}
		}
	}
}

func (r *races) initialised(spans []interp.Span) {
	for _, s := range spans {
		r.memory.Initialise(s.Lo, s.Hi-s.Lo)
	}
}

// span adds an access to n bytes at an address, by work other than a kernel.
func (r *races) span(op *operation, w way, addr uint64, n int64, base uint64) {
	if n > 0 {
		r.spans(op, w, []interp.Span{{Lo: addr, Hi: addr + uint64(n)}}, base)
	}
}

// spans adds an access to several spans of one allocation.
func (r *races) spans(op *operation, w way, spans []interp.Span, base uint64) {
	if op != nil && len(spans) > 0 {
		r.enter(base, &touch{by: op, way: w, spans: spans})
	}
}

func (r *races) enter(base uint64, t *touch) { r.pieces(base, t, r.enterPiece) }

func (r *races) enterPiece(base uint64, t *touch) {
	s := r.order.shadowOf(base)
	s.enter(t, func(c conflict) { r.report.race(r.memory, base, c) })
}

// reuse reports whether a stored result may be reused. If bytes that it depends on are uninitialised, the launch is
// run again to find the instructions that read them.
func (r *races) reuse(touched []interp.Recorded) bool {
	if r == nil {
		return true
	}
	for i := range touched {
		for _, s := range touched[i].Exposed {
			if _, bad := r.memory.Uninitialised(s.Lo, s.Hi-s.Lo); bad {
				return false
			}
		}
	}
	return true
}

// note adds the accesses of a job other than a launch.
func (d *Device) note(id des.TaskID, j *job) {
	r := d.races
	if r == nil {
		return
	}
	op := r.order.of(id)
	switch j.kind {
	case copyBytes:
		d.noteCopy(op, j)
	case memset:
		rows, _ := j.rows()
		r.spans(op, writes, rows, d.baseOf(j.dst))
		r.initialised(rows)
	case upload:
		r.memory.Initialise(j.dst, uint64(j.bytes))
	case download:
		if gap, bad := r.memory.Uninitialised(j.src, uint64(j.bytes)); bad {
			r.report.download(r.memory, j, gap)
		}
	case hostCall:
		for _, u := range j.uses {
			base := d.baseOf(uint64(u.Ptr))
			if u.Write {
				r.span(op, writes, uint64(u.Ptr), u.Bytes, base)
			}
			if u.Read {
				r.span(op, reads, uint64(u.Ptr), u.Bytes, base)
			}
		}
	}
}

// noteCopy adds the accesses of a copy.
func (d *Device) noteCopy(op *operation, j *job) {
	r := d.races
	to, from := j.rows()
	r.spans(op, reads, from, d.baseOf(j.src))
	r.spans(op, writes, to, d.baseOf(j.dst))
	switch {
	case from == nil:
		r.initialised(to)
	case to != nil:
		for i := range to {
			r.memory.CopyInitialised(to[i].Lo, from[i].Lo, to[i].Hi-to[i].Lo)
		}
	}
}

// rows returns the spans that a copy or a memset accesses, row by row. They are nil for host memory that is unknown
// to the device; no other work accesses that.
func (j *job) rows() (dst, src []interp.Span) {
	b := j.box
	if b == nil {
		b = &box{width: j.bytes, height: 1, depth: 1}
	}
	add := func(to []interp.Span, base uint64, off int64) []interp.Span {
		if base == 0 || b.width == 0 {
			return to
		}
		return append(to, interp.Span{Lo: base + uint64(off), Hi: base + uint64(off+b.width)})
	}
	b.each(func(to, from int64) { dst, src = add(dst, j.dst, to), add(src, j.src, from) })
	return dst, src
}

// baseOf returns the start of the allocation, of either kind, that holds an address.
func (d *Device) baseOf(addr uint64) uint64 {
	base, _, _ := d.memory.Base(addr)
	return base
}

// Findings returns the races and reads of uninitialised memory found so far, without duplicates, in the order in
// which they were found. They remain available after Close. Findings that are not warnings are also in the error of
// the first waiting call after they were found; see RaceError.
func (d *Device) Findings() []Finding {
	d.settled()
	if d.races == nil {
		return nil
	}
	return append([]Finding(nil), d.races.report.findings...)
}

// RaceError is the error of a call that waits for the device if races were found since the last one. The call has
// done its work and the device stays usable. No later call returns the same findings. Only the simulated device
// returns this error; a driver does not detect races.
type RaceError struct {
	Call     string
	Findings []Finding
}

func (e *RaceError) Error() string {
	lines := make([]string, len(e.Findings))
	for i := range e.Findings {
		lines[i] = e.Findings[i].String()
	}
	return e.Call + ": " + strings.Join(lines, "\n")
}

// answer returns the result of a call that has waited: the fault, or else the error of a host call, or else the
// findings that no call has returned yet.
func (d *Device) answer(call string) error {
	if err := d.poison(); err != nil {
		return err.In(call)
	}
	return d.unreported(call)
}

func (d *Device) unreported(call string) error {
	if failed := d.failed; failed != nil {
		d.failed = nil
		return failed.In(call)
	}
	if d.races == nil {
		return nil
	}
	if fresh := d.races.report.fresh(); len(fresh) > 0 {
		return &RaceError{call, fresh}
	}
	return nil
}
