package calibrate

import (
	"encoding/binary"
	"fmt"

	"github.com/reprise-gpu/reprise/internal/unit"
)

// Iterations for slopes of kernels, and the maximum.
const (
	fewTurns  = 2
	manyTurns = 6
	mostTurns = 20_000
)

const (
	clockTurns   = 128
	lanesPerWarp = 32
)

// spun returns a function that measures the device time of a kernel with n iterations.
func (s *session) spun(name string, grid, block uint32, params func(n int) []any) func(n int) (float64, error) {
	return func(n int) (float64, error) {
		l, err := s.launch(name, grid, block, params(n)...)
		if err != nil {
			return 0, err
		}
		return s.paced(func() error { return s.times(s.a, 1, l) })
	}
}

// turns returns the parameters of a rate kernel.
func (s *session) turns(n int) []any {
	return []any{s.out, uint32(n), uint32(1), uint32(1), uint32(1), uint32(1)}
}

// threads returns the block size for measurements of one multiprocessor.
func (s *session) threads() uint32 { return uint32(min(blockThreads, s.info.MaxThreads)) }

// clock measures the clock of the multiprocessors: the cycles of a chain of instructions, divided by its time. It
// also checks that the device computes and keeps time.
func (s *session) clock() error {
	if err := s.checkRate(&rates[0], 1); err != nil {
		return err
	}
	busy, err := s.slope(64, 320, 1<<20, func(n int) (float64, error) {
		return s.spun("rate_fp32", 1, 32, s.turns)(n)
	})
	if err != nil {
		return err
	}
	if s.iteration = busy.Value; s.iteration <= 0 {
		return fmt.Errorf("the clock of %s stands still: %d multiply-adds more take no longer; only a device that keeps time can be calibrated", s.info.ID, 256*steps*chains)
	}
	cycles := map[int]float64{}
	e, err := s.repeat(func() (float64, error) {
		ns := map[int]float64{}
		for _, n := range []int{clockTurns, 4 * clockTurns} {
			var err error
			if ns[n], err = s.spun("clock", 1, 1, func(n int) []any { return []any{s.out, uint32(n), float32(1)} })(n); err != nil {
				return 0, err
			}
			var b [8]byte
			if err := s.dev.Read(b[:], s.out); err != nil {
				return 0, err
			}
			cycles[n] = float64(binary.LittleEndian.Uint64(b[:]))
		}
		const lo, hi = clockTurns, 4 * clockTurns
		return (cycles[hi] - cycles[lo]) / (ns[hi] - ns[lo]) * 1000, nil
	})
	if err != nil {
		return err
	}
	s.measure("clock_mhz", e)
	s.cycle = 1000 / s.of("clock_mhz").Value
	return nil
}

// starts measures the rate at which blocks start.
func (s *session) starts() error {
	e, err := s.slope(1<<13, 1<<14, 1<<22, func(n int) (float64, error) {
		l, err := s.launch("empty", uint32(n), 32)
		if err != nil {
			return 0, err
		}
		return s.paced(func() error { return s.times(s.a, 1, l) })
	})
	s.measure("blocks_per_cycle", e.per(s.cycle))
	return err
}

// units measures the throughput of each unit of a multiprocessor with a single block, which runs on one
// multiprocessor.
func (s *session) units() error {
	for i := range rates {
		k := &rates[i]
		e, err := s.slope(fewTurns, manyTurns, mostTurns, s.spun("rate_"+k.unit.String(), 1, s.threads(), s.turns))
		if err != nil {
			return err
		}
		if err := s.checkRate(k, manyTurns); err != nil {
			return err
		}
		perStep := s.perWarp(e, steps*chains)
		if k.unit == unit.Integer {
			s.alu = perStep.Value / float64(k.count)
		}
		s.lanes(k.unit, perStep.minus(Estimate{Value: float64(k.alu) * s.alu}).times(1/float64(k.count)))
	}
	return first(s.branches, s.tensor)
}

// perWarp returns the ns per warp instruction on a multiprocessor, from the time of an iteration.
func (s *session) perWarp(iteration Estimate, instructions float64) Estimate {
	warps := float64(s.threads()) / lanesPerWarp
	return iteration.times(1 / (instructions * warps))
}

func (s *session) lanes(u unit.Unit, perWarp Estimate) {
	s.measure("lanes_"+u.String(), perWarp.per(lanesPerWarp*s.cycle))
}

// checkRate runs a rate kernel and checks its result.
func (s *session) checkRate(k *rate, n int) error {
	return s.check("rate_"+k.unit.String(), s.turns(n), func(thread uint32) uint32 { return k.sum(thread, uint32(n*steps)) })
}

func (s *session) check(name string, params []any, want func(thread uint32) uint32) error {
	l, err := s.launch(name, 1, s.threads(), params...)
	if err != nil {
		return err
	}
	got := make([]byte, 4*s.threads())
	if err := first(func() error { return s.dev.Write(s.out, make([]byte, outBytes)) }, func() error { return s.dev.Submit(s.a, l) },
		func() error { return s.dev.Read(got, s.out) }); err != nil {
		return err
	}
	for t := range s.threads() {
		if v := binary.LittleEndian.Uint32(got[4*t:]); v != want(t) {
			return fmt.Errorf("%s does not compute: thread %d of kernel %s left %d instead of %d; only a device that executes kernels can be calibrated",
				s.info.ID, t, name, v, want(t))
		}
	}
	return nil
}

// branches measures taken branches: one per iteration of the shortest loop.
func (s *session) branches() error {
	params := func(n int) []any { return []any{s.out, uint32(n)} }
	const turns = steps * chains // as many instructions as in an iteration of the other kernels
	e, err := s.slope(fewTurns*turns, manyTurns*turns, mostTurns*turns, s.spun("rate_branch", 1, s.threads(), params))
	if err != nil {
		return err
	}
	s.lanes(unit.Branch, s.perWarp(e, 1))
	return s.check("rate_branch", params(turns), func(uint32) uint32 { return turns })
}

// tensor measures matrix products if the device has a unit for them. A profile counts products of 16 by 8 by 16;
// those of the kernel are twice as large.
func (s *session) tensor() error {
	if s.info.ComputeMajor < 7 {
		return nil
	}
	e, err := s.slope(1, 3, mostTurns, s.spun("rate_tensor", 1, s.threads(), s.turns))
	if err != nil {
		return err
	}
	s.lanes(unit.Tensor, s.perWarp(e, 2*tensorSteps*tensorChains))
	return s.check("rate_tensor", s.turns(1), func(t uint32) uint32 { return tensorSum(t, tensorSteps) })
}
