package calibrate

import "github.com/reprise-gpu/reprise/device"

// Numbers of pieces of work for slopes, and the maximum per stream: drivers block when a thousand are queued.
const (
	fewTasks  = 8
	manyTasks = 72
	mostTasks = 500
)

// gaps measures the time between consecutive pieces of work. Measurements show the sum of a gap and the kernel after
// it: its ramp and its block. The ramp is measured with many independent kernels that each fill the device:
// their gaps overlap with other kernels.
func (s *session) gaps() error {
	empty, err := s.launch("empty", 1, 32)
	if err != nil {
		return err
	}
	ramp, err := s.ramp()
	if err != nil {
		return err
	}
	s.measure("kernel_ramp_ns", ramp)
	if err := s.flush(); err != nil {
		return err
	}
	ramp.Value += s.slot(1) // of an empty kernel of one warp
	for _, g := range []struct {
		name    string
		lo, hi  int
		most    int
		enqueue func(n int) (float64, error)
	}{
		{"stream_gap_ns", fewTasks, manyTasks, mostTasks, func(n int) (float64, error) {
			return s.paced(func() error { return s.times(s.a, n, empty) })
		}},
		{"event_gap_ns", fewTasks, manyTasks, mostTasks, func(n int) (float64, error) {
			return s.paced(func() error { return s.toAndFro(n, empty) })
		}},
		{"graph_edge_gap_ns", fewNodes, manyNodes, mostNodes, func(n int) (float64, error) {
			return s.pacedGraph(empty, 1, n)
		}},
		{"graph_root_gap_ns", fewTasks, manyTasks, mostTasks, func(n int) (float64, error) { return s.graphsInARow(n, empty) }},
	} {
		e, err := s.slope(g.lo, g.hi, g.most, g.enqueue)
		if err != nil {
			return err
		}
		s.measure(g.name, e.minus(ramp))
	}
	return s.submit(empty, ramp)
}

// ramp measures the time from one empty kernel that fills the device to the next.
func (s *session) ramp() (Estimate, error) {
	const branches = 32
	blocks := uint32(2 * s.info.Multiprocessors) // with half the threads that a multiprocessor holds
	full, err := s.launch("empty", blocks, s.threads())
	if err != nil {
		return Estimate{}, err
	}
	e, err := s.slope(2, 6, 50, func(n int) (float64, error) { return s.pacedGraph(full, branches, n) })
	if err != nil {
		return e, err
	}
	return e.times(1.0 / branches).minus(Estimate{Value: s.slot(int(s.threads()) / lanesPerWarp)}), nil
}

// pacedGraph returns the device time of a graph.
func (s *session) pacedGraph(work device.Work, chains, length int) (float64, error) {
	return s.withGraph(work, chains, length, func(x device.GraphExec, _ []device.Node) (float64, error) {
		return s.paced(func() error { return s.dev.LaunchGraph(x, s.a) })
	})
}

// graphsInARow returns the device time of n consecutive graphs of one node.
func (s *session) graphsInARow(n int, work device.Work) (float64, error) {
	return s.withGraph(work, 1, 1, func(x device.GraphExec, _ []device.Node) (float64, error) {
		return s.paced(func() error {
			for range n {
				if err := s.dev.LaunchGraph(x, s.a); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// toAndFro enqueues n launches that alternate between two streams, each after an event of the previous one. It begins
// and ends in stream a.
func (s *session) toAndFro(n int, work device.Work) error {
	mark := len(s.undo)
	there, err := s.event()
	if err != nil {
		return err
	}
	back, err := s.event()
	if err != nil {
		return err
	}
	at, other, event, next := s.a, s.b, there, back
	hop := func() error {
		return first(func() error { return s.dev.Record(event, at) }, func() error { return s.dev.Wait(other, event) })
	}
	for range n {
		if err := first(hop, func() error { return s.dev.Submit(other, work) }); err != nil {
			return err
		}
		at, other, event, next = other, at, next, event
	}
	if at == s.b {
		err = hop()
	}
	return s.release(mark, err)
}

// submit measures the time until work reaches the device: the time of a launch and a wait, less all known parts.
func (s *session) submit(empty device.Work, ramp Estimate) error {
	e, err := s.repeat(func() (float64, error) {
		var took []float64
		for range batch {
			if err := s.dev.SynchronizeAll(); err != nil {
				return 0, err
			}
			start := s.now()
			if err := first(func() error { return s.dev.Submit(s.a, empty) }, func() error { return s.dev.Synchronize(s.a) }); err != nil {
				return 0, err
			}
			took = append(took, s.now()-start)
		}
		return estimate(took).Value, nil
	})
	known := s.of("call_launch_ns").Value + s.of("call_synchronize_ns").Value + ramp.Value
	s.measure("submit_latency_ns", e.minus(Estimate{Value: known}))
	return err
}
