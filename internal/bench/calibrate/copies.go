package calibrate

import "github.com/reprise-gpu/reprise/device"

// Sizes in bytes for slopes of copies, and the maximum.
const (
	fewBytes  = 1 << 20
	manyBytes = 5 << 20
	mostBytes = 256 << 20
)

// link holds the buffers for the host link: a pair for each direction.
type link struct{ in, out, hostIn, hostOut device.Ptr }

func (l *link) into(n int) device.Work {
	return &device.Copy{Dst: l.in, Src: l.hostIn, Bytes: int64(n)}
}
func (l *link) outOf(n int) device.Work {
	return &device.Copy{Dst: l.hostOut, Src: l.out, Bytes: int64(n)}
}

// copies measures the host link: from pinned memory, in each direction and in both at once, and from pageable memory.
func (s *session) copies() error {
	mark := len(s.undo)
	var l link
	var err error
	for _, p := range []*device.Ptr{&l.in, &l.out} {
		if *p, err = s.alloc(mostBytes); err != nil {
			return err
		}
	}
	for _, p := range []*device.Ptr{&l.hostIn, &l.hostOut} {
		if *p, err = s.allocHost(mostBytes); err != nil {
			return err
		}
	}
	in, err := s.bytes(func(n int) error { return s.times(s.a, 1, l.into(n)) })
	if err != nil {
		return err
	}
	out, err := s.bytes(func(n int) error { return s.times(s.a, 1, l.outOf(n)) })
	if err != nil {
		return err
	}
	both, err := s.bytes(func(n int) error { return s.bothWays(&l, n) })
	if err != nil {
		return err
	}
	s.link(in.per(1), out.per(1), both.per(2))
	for _, c := range []struct {
		name string
		work device.Work
	}{
		{"copy_in_latency_ns", l.into(4)},
		{"copy_out_latency_ns", l.outOf(4)},
		{"copy_on_latency_ns", &device.Memset{Dst: l.in, Width: 4, Count: 1}},
		{"host_call_latency_ns", &device.HostCall{Func: func() error { return nil }, Label: "nothing"}},
	} {
		e, err := s.slope(fewTasks, manyTasks, mostTasks, func(n int) (float64, error) {
			return s.paced(func() error { return s.times(s.a, n, c.work) })
		})
		if err != nil {
			return err
		}
		s.measure(c.name, e.minus(s.of("stream_gap_ns")))
	}
	return s.release(mark, s.pageable(l.in))
}

// link sets the bandwidths in GB/s, which equals bytes per ns. The profile has one figure for both directions, which
// gets their mean.
func (s *session) link(in, out, both Estimate) {
	s.note("copy to the device, pinned, GB/s", in)
	s.note("copy to the host, pinned, GB/s", out)
	s.note("copies in both directions, pinned, GB/s", both)
	s.measure("link_gbps", Estimate{(in.Value + out.Value) / 2, max(in.Spread, out.Spread)})
	if both.Value > 0.98*(in.Value+out.Value) {
		both.Value = 0 // the directions do not slow each other down
	}
	s.measure("duplex_gbps", both)
}

// bytes measures the ns per byte of a copy on the device.
func (s *session) bytes(enqueue func(n int) error) (Estimate, error) {
	return s.slope(fewBytes, manyBytes, mostBytes, func(n int) (float64, error) {
		return s.paced(func() error { return enqueue(n) })
	})
}

// bothWays copies n bytes in each direction at once.
func (s *session) bothWays(l *link, n int) error {
	mark := len(s.undo)
	fork, err := s.event()
	if err != nil {
		return err
	}
	join, err := s.event()
	if err != nil {
		return err
	}
	return s.release(mark, first(
		func() error { return s.dev.Record(fork, s.a) },
		func() error { return s.dev.Wait(s.b, fork) },
		func() error { return s.times(s.a, 1, l.into(n)) },
		func() error { return s.times(s.b, 1, l.outOf(n)) },
		func() error { return s.dev.Record(join, s.b) },
		func() error { return s.dev.Wait(s.a, join) },
	))
}

// pageable measures copies from and to pageable memory.
func (s *session) pageable(p device.Ptr) error {
	buffer := make([]byte, mostBytes)
	for _, c := range []struct {
		name string
		copy func(n int) error
	}{
		{"copy to the device, pageable, GB/s", func(n int) error { return s.dev.Write(p, buffer[:n]) }},
		{"copy to the host, pageable, GB/s", func(n int) error { return s.dev.Read(buffer[:n], p) }},
	} {
		e, err := s.slope(fewBytes, manyBytes, mostBytes, func(n int) (float64, error) {
			start := s.now()
			err := c.copy(n)
			return s.now() - start, err
		})
		if err != nil {
			return err
		}
		s.note(c.name, e.per(1))
	}
	return nil
}
