package tenants

import (
	"context"
	"slices"
	"time"

	"github.com/reprise-gpu/reprise/device"
)

// contexts gives the device to one tenant after another, as a device does with the contexts of several processes. The
// device is drained in between. A context keeps the device while it has work, at most for a slice.
//
//	│ tenant 0 ── │ switch │ tenant 1 ── │ switch │ tenant 0 (2nd slice) │ …
//
// The operations of the program are cut into parts that fit into a slice. An operation that is longer is a part of its
// own.
type contexts struct {
	*host
	stream  device.Stream
	mark    *mark
	cuts    []int           // part i is the operations from cuts[i] to cuts[i+1]
	took    []time.Duration // time of each part, alone on the device
	tenants []*turns
	now     int           // the tenant that has the device; -1 before the first
	keeps   bool          // it had more work when its last part ended
	began   time.Duration // its turn
	used    time.Duration // time of what it has submitted in its turn
	running bool
	idle    bool // nothing waits or runs
}

// turns is the requests of a tenant.
type turns struct {
	work    *work
	waiting []*request
	part    int // of the first request
}

func newContexts(h *host, works []*work) (_ service, err error) {
	s := &contexts{host: h, now: -1, idle: true, began: -h.stack.Turn}
	for _, w := range works {
		s.tenants = append(s.tenants, &turns{work: w})
	}
	if s.stream, err = h.dev.CreateStream(0); err != nil {
		return nil, err
	}
	if s.mark, err = h.newMark(); err == nil {
		err = s.cut()
	}
	if err != nil {
		return nil, device.Join(err, s.close())
	}
	return s, nil
}

// cut runs the program of the first tenant and cuts it into parts.
func (s *contexts) cut() error {
	w := s.tenants[0].work
	if s.stack.Slice == 0 {
		s.cuts, s.took = []int{0, len(w.ops)}, []time.Duration{0}
		return nil
	}
	begin, end, err := twoEvents(s.dev)
	if err != nil {
		return err
	}
	s.cuts, s.took = []int{0}, []time.Duration{0}
	for i, op := range w.ops {
		t, err := s.timed(op, begin, end)
		if err != nil {
			return device.Join(err, s.dev.DestroyEvent(begin), s.dev.DestroyEvent(end))
		}
		last := len(s.took) - 1
		if s.took[last] > 0 && s.took[last]+t > s.stack.Slice {
			s.cuts, s.took = append(s.cuts, i), append(s.took, 0)
			last++
		}
		s.took[last] += t
	}
	s.cuts = append(s.cuts, len(w.ops))
	return device.Join(s.dev.DestroyEvent(begin), s.dev.DestroyEvent(end))
}

func twoEvents(dev device.Device) (a, b device.Event, err error) {
	if a, err = dev.CreateEvent(); err != nil {
		return 0, 0, err
	}
	if b, err = dev.CreateEvent(); err != nil {
		err = device.Join(err, dev.DestroyEvent(a))
	}
	return a, b, err
}

// timed runs an operation alone and returns its time between events.
func (s *contexts) timed(op device.Work, begin, end device.Event) (time.Duration, error) {
	err := s.dev.Record(begin, s.stream)
	if err == nil {
		err = s.dev.Submit(s.stream, op)
	}
	if err == nil {
		err = s.dev.Record(end, s.stream)
	}
	if err == nil {
		err = s.dev.Synchronize(s.stream)
	}
	if err != nil {
		return 0, err
	}
	return s.dev.Elapsed(begin, end)
}

func (s *contexts) enqueue(r *request) {
	t := s.tenants[r.tenant]
	t.waiting = append(t.waiting, r)
}

func (s *contexts) busy() bool {
	return slices.ContainsFunc(s.tenants, func(t *turns) bool { return len(t.waiting) > 0 })
}

func (s *contexts) launch() (time.Duration, error) {
	if s.running || !s.busy() {
		return never, nil
	}
	if s.idle {
		if err := s.sleep(s.stack.Base[Time]); err != nil {
			return never, err
		}
	}
	if err := s.turn(); err != nil {
		return never, err
	}
	t := s.tenants[s.now]
	s.running, s.idle = true, false
	s.used += s.took[t.part]
	for _, op := range t.work.ops[s.cuts[t.part]:s.cuts[t.part+1]] {
		if err := s.dev.Submit(s.stream, op); err != nil {
			return never, err
		}
	}
	return never, s.set(s.mark, s.stream)
}

// turn selects the tenant that has the device next, and waits for the switch if it is another.
func (s *contexts) turn() error {
	if s.now >= 0 && s.keeps && s.used+s.took[s.tenants[s.now].part] <= s.stack.Slice {
		return nil
	}
	last := s.now
	for s.now = (s.now + 1) % len(s.tenants); len(s.tenants[s.now].waiting) == 0; {
		s.now = (s.now + 1) % len(s.tenants)
	}
	if last >= 0 && last != s.now {
		if err := device.Join(s.sleepTo(s.began+s.stack.Turn), s.sleep(s.stack.Switch)); err != nil {
			return err
		}
	}
	s.began, s.used = s.dev.Now(), 0
	return nil
}

func (s *contexts) await(ctx context.Context, until time.Duration) error {
	if !s.running {
		return s.host.await(ctx, until)
	}
	if err := s.host.await(ctx, until, s.mark); err != nil {
		return err
	}
	if _, ok := s.reached(s.mark); !ok {
		return nil
	}
	s.running = false
	t := s.tenants[s.now]
	if t.part++; t.part < len(s.took) {
		s.keeps = true
		return nil
	}
	r := t.waiting[0]
	t.part, t.waiting = 0, t.waiting[1:]
	s.keeps, s.idle = len(t.waiting) > 0, !s.busy()
	r.end(s.dev.Now())
	return nil
}

func (s *contexts) close() error { return device.Join(s.drop(s.mark), destroyStream(s.dev, s.stream)) }
