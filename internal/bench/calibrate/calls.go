package calibrate

import (
	"github.com/reprise-gpu/reprise/device"
)

// batch is the number of calls that are measured together: enough for a clock with a resolution of a microsecond, and
// fewer than a driver queues before it blocks.
const batch = 64

// call measures the host time of one call; f makes n calls.
func (s *session) call(f func(n int) error) (Estimate, error) {
	return s.repeat(func() (float64, error) {
		if err := s.dev.SynchronizeAll(); err != nil {
			return 0, err
		}
		start := s.now()
		err := f(batch)
		return (s.now() - start) / batch, err
	})
}

// calls measures the host's time in driver calls.
func (s *session) calls() error {
	empty, err := s.launch("empty", 1, 32)
	if err != nil {
		return err
	}
	mark := len(s.undo)
	host, err := s.allocHost(batch)
	if err != nil {
		return err
	}
	if err := s.submissions(empty, host); err != nil {
		return err
	}
	for _, c := range []struct {
		name string
		f    func() error
	}{
		{"call_event_record_ns", func() error { return s.dev.Record(s.begin, s.a) }},
		{"call_event_wait_ns", func() error { return s.dev.Wait(s.b, s.begin) }},
		{"call_synchronize_ns", func() error { return s.dev.Synchronize(s.a) }},
		{"call_query_ns", func() error { _, err := s.dev.Elapsed(s.begin, s.begin); return err }},
	} {
		e, err := s.call(func(n int) error {
			for range n {
				if err := c.f(); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		s.measure(c.name, e)
	}
	if err := first(s.allocations, s.creations, s.modules); err != nil {
		return err
	}
	return s.release(mark, nil)
}

// submissions measures calls that enqueue work.
func (s *session) submissions(empty *device.Launch, host device.Ptr) error {
	for _, c := range []struct {
		name string
		work device.Work
	}{
		{"call_launch_ns", empty},
		{"call_memcpy_ns", &device.Copy{Dst: s.spare, Src: host, Bytes: 4}},
		{"call_memset_ns", &device.Memset{Dst: s.spare, Width: 4, Count: 1}},
		{"call_host_call_ns", &device.HostCall{Func: func() error { return nil }, Label: "nothing"}},
	} {
		e, err := s.call(func(n int) error { return s.times(s.a, n, c.work) })
		if err != nil {
			return err
		}
		s.measure(c.name, e)
	}
	return nil
}

func (s *session) allocations() error {
	e, err := s.made(func() (func() error, error) {
		p, err := s.dev.Alloc(1 << 20)
		return func() error { return s.dev.Free(p) }, err
	})
	s.measure("call_alloc_ns", e)
	return err
}

// creations measures calls that create objects. The profile has a single figure for them, which gets the value of a
// graph's node, the most frequent one.
func (s *session) creations() error {
	e, err := s.made(func() (func() error, error) {
		h, err := s.dev.CreateEvent()
		return func() error { return s.dev.DestroyEvent(h) }, err
	})
	if err != nil {
		return err
	}
	s.note("create event, ns", e)
	e, err = s.made(func() (func() error, error) {
		h, err := s.dev.CreateStream(0)
		return func() error { return s.dev.DestroyStream(h) }, err
	})
	if err != nil {
		return err
	}
	s.note("create stream, ns", e)
	g, err := s.dev.CreateGraph()
	if err != nil {
		return err
	}
	empty, err := s.launch("empty", 1, 32)
	if err != nil {
		return err
	}
	e, err = s.made(func() (func() error, error) {
		_, err := s.dev.AddNode(g, nil, empty)
		return nil, err
	})
	if err != nil {
		return err
	}
	s.measure("call_create_ns", e)
	return s.dev.DestroyGraph(g)
}

func (s *session) modules() error {
	text := modulePTX(s.info.ComputeMajor, s.info.ComputeMinor)
	e, err := s.repeat(func() (float64, error) {
		start := s.now()
		m, err := s.dev.LoadModule("calibrate.ptx", text)
		if err != nil {
			return 0, err
		}
		took := s.now() - start
		return took, s.dev.UnloadModule(m)
	})
	s.measure("call_load_module_ns", e)
	return err
}

// made measures the creation of an object. make returns a function that destroys it, or nil, which is not measured.
func (s *session) made(make func() (func() error, error)) (Estimate, error) {
	return s.repeat(func() (float64, error) {
		var undo []func() error
		start := s.now()
		for range batch {
			f, err := make()
			if err != nil {
				return 0, err
			}
			if f != nil {
				undo = append(undo, f)
			}
		}
		took := s.now() - start
		return took / batch, first(undo...)
	})
}
