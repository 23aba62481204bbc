package calibrate

// slots measures how long a slot is empty between two blocks, and how much longer for each warp. Empty blocks that
// take all shared memory run one at a time on each multiprocessor, so that n of them on each take n turns.
func (s *session) slots() error {
	one, err := s.turn(1)
	if err != nil {
		return err
	}
	warps := int(s.threads()) / lanesPerWarp
	many, err := s.turn(warps)
	if err != nil {
		return err
	}
	each := many.minus(one).times(1 / float64(warps-1))
	s.measure("warp_latency_ns", each)
	s.measure("block_latency_ns", one.minus(each))
	return nil
}

// turn returns the ns from the start of an empty block to the start of the next in its slot.
func (s *session) turn(warps int) (Estimate, error) {
	return s.slope(fewTasks, manyTasks, mostTurns, func(n int) (float64, error) {
		l, err := s.launch("empty", uint32(n*s.info.Multiprocessors), uint32(warps*lanesPerWarp))
		if err != nil {
			return 0, err
		}
		l.Shared = uint32(s.info.MaxShared)
		return s.paced(func() error { return s.times(s.a, 1, l) })
	})
}

// slot returns the ns of an empty block with that number of warps in its slot.
func (s *session) slot(warps int) float64 {
	return s.of("block_latency_ns").Value + float64(warps)*s.of("warp_latency_ns").Value
}

// flush measures how much longer a kernel that stores a word takes than an empty one.
func (s *session) flush() error {
	var took [2]Estimate
	for i, name := range []string{"empty", "store"} {
		params := []any{s.out}[:i]
		l, err := s.launch(name, 1, lanesPerWarp, params...)
		if err != nil {
			return err
		}
		took[i], err = s.slope(fewNodes, manyNodes, mostNodes, func(n int) (float64, error) { return s.pacedGraph(l, 1, n) })
		if err != nil {
			return err
		}
	}
	s.measure("flush_latency_ns", took[1].minus(took[0]))
	return nil
}
