package sim

import (
	"fmt"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
)

// stream is a FIFO: each task depends on the previous one.
type stream struct {
	handle   device.Stream
	priority int32
	used     bool
	tail     des.TaskID   // the last task, if used is set
	waits    []des.TaskID // additional dependencies of the next task
	gone     bool         // destroyed; command lists that use the stream check it
	blocking bool         // ordered with the legacy stream
	busy     bool         // a blocking stream with work that the legacy stream does not follow yet
	epoch    int64        // the last task of the legacy stream that it follows, as a count
	fences   int64        // number of the device's fences that it follows
}

// event holds the mark of its last record.
type event struct {
	recorded, done bool
	task           des.TaskID // of the last record
	stream         *stream    // stream of the last record
	at             model.Time // time at which it completed
	gone           bool
}

// CreateStream creates a FIFO.
func (d *Device) CreateStream(priority int) (device.Stream, error) {
	if err := d.enter(d.profile.Host.Create); err != nil {
		return 0, err.In("CreateStream")
	}
	return d.newStream(priority).handle, nil
}

func (d *Device) newStream(priority int) *stream {
	s := &stream{priority: clampPriority(priority)}
	s.handle = d.streams.Add(s)
	return s
}

func clampPriority(p int) int32 { return int32(min(max(p, greatestPriority), leastPriority)) }

// SetPriority sets the priority of later work in the stream, clamped like that of CreateStream.
func (d *Device) SetPriority(h device.Stream, priority int) error {
	s, bad := d.streams.Get(h)
	if err := first(d.enter(0), bad); err != nil {
		return err.In("SetPriority")
	}
	s.priority = clampPriority(priority)
	return nil
}

// DestroyStream destroys the stream. Work in progress continues.
func (d *Device) DestroyStream(h device.Stream) error {
	if err := d.enter(d.profile.Host.Create); err != nil {
		return err.In("DestroyStream")
	}
	s, err := d.streams.Remove(h)
	if err == nil {
		s.gone = true
	}
	return err.In("DestroyStream")
}

// Submit enqueues one piece of work.
func (d *Device) Submit(h device.Stream, w device.Work) error {
	s, bad := d.streams.Get(h)
	if err := first(d.enter(0), bad); err != nil {
		return err.In("Submit")
	}
	j, err := d.lowerOnce(w)
	if err != nil {
		return err.In("Submit")
	}
	d.submit(s, j)
	return nil
}

func (d *Device) submit(s *stream, j *job) {
	d.host = des.Plus(d.host, d.cost(j))
	d.enqueue(s, j, d.profile.StreamGap, des.StreamOrder)
}

// arrival returns the earliest start of work that the host enqueues now.
func (d *Device) arrival() model.Time { return d.host + d.profile.SubmitLatency }

// enqueue appends a task to a stream.
func (d *Device) enqueue(s *stream, data any, gap model.Time, why des.Limit) {
	d.passFence(s)
	d.joinLegacy(s)
	d.append(s, data, gap, why)
}

func (d *Device) append(s *stream, data any, gap model.Time, why des.Limit) {
	d.deps = d.deps[:0]
	if s.used {
		d.deps = append(d.deps, s.tail)
	}
	d.deps = append(d.deps, s.waits...)
	s.waits = s.waits[:0]
	s.used = true
	priority := s.priority
	if j, ok := data.(*job); ok && j.hasPriority {
		priority = j.priority
	}
	s.tail = d.add(des.Task{Arrival: d.arrival(), Gap: gap, Why: why, Priority: priority, Deps: d.deps, Data: data}, place{stream: s.handle})
}

// Synchronize waits until the stream is empty.
func (d *Device) Synchronize(h device.Stream) error {
	s, bad := d.streams.Get(h)
	if err := first(d.enter(0), bad); err != nil {
		return err.In("Synchronize")
	}
	done := d.host
	var room front
	tasks := d.appendFront(room[:0], s)
	for _, t := range tasks {
		done = max(done, d.endOf(t))
	}
	d.waited(done)
	d.races.hostWaited(tasks...)
	return d.answer("Synchronize")
}

// Query returns NotReady while the stream has work that has not ended.
func (d *Device) Query(h device.Stream) error {
	s, bad := d.streams.Get(h)
	if err := first(d.enter(d.profile.Host.Query), bad); err != nil {
		return err.In("Query")
	}
	var room front
	return d.query(fmt.Sprintf("stream %d", h), d.appendFront(room[:0], s)...).In("Query")
}

// query lets the device catch up with the host and returns NotReady unless the tasks have ended. Each query costs
// virtual time, so a loop that polls terminates.
func (d *Device) query(what string, tasks ...des.TaskID) *device.Error {
	d.catchUp()
	if err := d.poison(); err != nil {
		return err
	}
	for _, t := range tasks {
		if !d.engine.Ended(t) {
			return &device.Error{Code: device.NotReady, Detail: what + " has work under way; query again or synchronize"}
		}
	}
	d.races.hostWaited(tasks...)
	return nil
}

// SynchronizeAll waits for all work.
func (d *Device) SynchronizeAll() error {
	if err := d.enter(0); err != nil {
		return err.In("SynchronizeAll")
	}
	_ = d.drain()
	return d.answer("SynchronizeAll")
}

// CreateEvent creates an event without a record.
func (d *Device) CreateEvent() (device.Event, error) {
	if err := d.enter(d.profile.Host.Create); err != nil {
		return 0, err.In("CreateEvent")
	}
	return d.events.Add(&event{}), nil
}

// DestroyEvent destroys the event. Existing waits on it remain.
func (d *Device) DestroyEvent(h device.Event) error {
	if err := d.enter(d.profile.Host.Create); err != nil {
		return err.In("DestroyEvent")
	}
	e, err := d.events.Remove(h)
	if err == nil {
		e.gone = true
	}
	return err.In("DestroyEvent")
}

// Record sets the event to the present end of the stream.
func (d *Device) Record(eh device.Event, sh device.Stream) error {
	e, badE := d.events.Get(eh)
	s, badS := d.streams.Get(sh)
	if err := first(d.enter(0), badE, badS); err != nil {
		return err.In("Record")
	}
	d.record(e, s)
	return nil
}

// record enqueues a marker. There is no gap before it, because it runs nothing.
func (d *Device) record(e *event, s *stream) {
	d.host = des.Plus(d.host, d.profile.Host.EventRecord)
	d.enqueue(s, e, 0, des.StreamOrder)
	e.mark(s.tail, s)
}

// mark makes a task the event's last record.
func (e *event) mark(id des.TaskID, s *stream) {
	e.recorded, e.done = true, false
	e.task, e.stream = id, s
}

// Wait makes later work of the stream wait for the event.
func (d *Device) Wait(sh device.Stream, eh device.Event) error {
	s, badS := d.streams.Get(sh)
	e, badE := d.events.Get(eh)
	if err := first(d.enter(0), badS, badE); err != nil {
		return err.In("Wait")
	}
	d.wait(s, e)
	return nil
}

// wait makes the event's task a dependency of the stream's next task. A marker between the two adds the extra latency
// of a wait across streams. In the legacy stream the wait is a task of its own, which other streams can follow.
func (d *Device) wait(s *stream, e *event) {
	d.host = des.Plus(d.host, d.profile.Host.EventWait)
	if !e.recorded || e.stream == s {
		return
	}
	d.joinLegacy(s)
	d.follow(s, e.task)
	if s == d.legacy {
		d.append(s, nil, 0, des.StreamOrder)
	}
}

// follow makes a task outside of the stream a dependency of its next task.
func (d *Device) follow(s *stream, t des.TaskID) {
	d.deps = append(d.deps[:0], t)
	gap := max(0, d.profile.EventGap-d.profile.StreamGap)
	s.waits = append(s.waits, d.add(des.Task{Arrival: d.arrival(), Gap: gap, Why: des.EventWait, Deps: d.deps}, place{stream: s.handle}))
}

// QueryEvent returns NotReady while the event's last record has not completed. It returns nil for an event that was
// never recorded.
func (d *Device) QueryEvent(h device.Event) error {
	e, bad := d.events.Get(h)
	if err := first(d.enter(d.profile.Host.Query), bad); err != nil {
		return err.In("QueryEvent")
	}
	if !e.recorded {
		return nil
	}
	return d.query(fmt.Sprintf("event %d", h), e.task).In("QueryEvent")
}

// SynchronizeEvent waits until the event's last record has completed.
func (d *Device) SynchronizeEvent(h device.Event) error {
	e, bad := d.events.Get(h)
	if err := first(d.enter(0), bad); err != nil {
		return err.In("SynchronizeEvent")
	}
	if !e.recorded {
		return nil
	}
	task := e.task // another caller may record the event again
	d.waited(d.endOf(task))
	d.races.hostWaited(task)
	return d.answer("SynchronizeEvent")
}

// Elapsed returns the virtual time between two completed records.
func (d *Device) Elapsed(start, end device.Event) (time.Duration, error) {
	a, badA := d.events.Get(start)
	b, badB := d.events.Get(end)
	if err := first(d.enter(d.profile.Host.Query), badA, badB); err != nil {
		return 0, err.In("Elapsed")
	}
	d.catchUp()
	if err := first(d.poison(), a.ready(start), b.ready(end)); err != nil {
		return 0, err.In("Elapsed")
	}
	d.races.hostWaited(a.task, b.task)
	return duration(b.at) - duration(a.at), nil
}

func (e *event) ready(h device.Event) *device.Error {
	switch {
	case !e.recorded:
		return &device.Error{Code: device.InvalidHandle, Detail: fmt.Sprintf("event %d was never recorded", h)}
	case !e.done:
		return &device.Error{Code: device.NotReady, Detail: fmt.Sprintf("event %d has not completed; synchronize first", h)}
	}
	return nil
}

// ended is called by the engine for every task that has ended.
func (d *Device) ended(r *des.Record) {
	d.history.add(r)
	d.traceTask(r.Data, r.Span)
	d.races.ended(r.ID)
	d.releaseHeld()
	if r.Span.End == des.LastTime && d.fault == nil {
		d.fault = timeIsOver(r.Data)
	}
	switch v := r.Data.(type) {
	case *event:
		if v.task == r.ID { // not recorded again since
			v.done, v.at = true, r.Span.End
		}
	case *job:
		if v.once && d.races == nil { // with race detection, a finding may still refer to the job
			d.spare = append(d.spare, v)
		}
	}
}
