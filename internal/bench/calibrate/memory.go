package calibrate

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"

	"github.com/reprise-gpu/reprise/device"
)

// memory measures DRAM, L2 and the paths to them.
func (s *session) memory() error {
	return first(s.streaming, s.cacheBandwidth, s.latencies, s.atomics)
}

// l2Bytes returns the size of the L2 cache, from the base profile if the device does not report it.
func (s *session) l2Bytes() int64 { return s.file.Profile.L2Bytes }

// tile is the number of bytes that a block of the streaming kernels reads or writes.
const tile = 32 << 10

// streaming measures DRAM with kernels whose data exceed L2.
func (s *session) streaming() error {
	mark := len(s.undo)
	// The last part of the written data stays in L2. With less than three times the size of L2 that would be the
	// limit.
	tiles := int(max(4*s.l2Bytes(), 32<<20) / tile)
	p, err := s.alloc(int64(tiles) * tile)
	if err != nil {
		return err
	}
	q, err := s.alloc(int64(tiles) * tile)
	if err != nil {
		return err
	}
	const word = 3
	read := s.tiles("dram_read", s.out, p, uint32(32*word))
	write := s.tiles("dram_write", p, uint32(word))
	on := func(n int) (float64, error) {
		return s.paced(func() error { return s.times(s.a, 1, &device.Copy{Dst: q, Src: p, Bytes: int64(n) * tile}) })
	}
	if _, err := write(tiles); err != nil {
		return err
	}
	if err := s.flagged(read, tiles, false); err != nil {
		return err
	}
	if err := s.flagged(s.tiles("dram_read", s.out, p, uint32(1)), tiles, true); err != nil {
		return err
	}
	for _, k := range []struct {
		name  string
		bytes float64
		run   func(n int) (float64, error)
	}{
		{"memory read by a kernel, GB/s", tile, read},
		{"memory written by a kernel, GB/s", tile, write},
		{"memory copied, read and written, GB/s", 2 * tile, on},
	} {
		e, err := s.slope(tiles/4*3, tiles, tiles, k.run)
		if err != nil {
			return err
		}
		s.note(k.name, e.per(k.bytes))
	}
	s.dram(s.rows[len(s.rows)-3])
	return s.release(mark, nil)
}

// dram sets the bandwidth from the bytes that a kernel reads per ns. If the device does not report its peak, this is
// the peak.
func (s *session) dram(read Row) {
	e := Estimate{read.Value, read.Spread}
	if peak := s.info.MemoryGBps; peak > 0 {
		s.measure("memory_share", e.times(1/peak))
		return
	}
	s.measure("memory_gbps", e)
	s.measure("memory_share", Estimate{Value: 1})
}

// tiles runs a streaming kernel over n tiles.
func (s *session) tiles(name string, params ...any) func(n int) (float64, error) {
	return func(n int) (float64, error) {
		l, err := s.launch(name, uint32(n), 256, params...)
		if err != nil {
			return 0, err
		}
		return s.paced(func() error { return s.times(s.a, 1, l) })
	}
}

// flagged runs a kernel that sets a flag in out if it reads a wrong value.
func (s *session) flagged(run func(n int) (float64, error), n int, want bool) error {
	if err := s.dev.Write(s.out, make([]byte, 4)); err != nil {
		return err
	}
	if _, err := run(n); err != nil {
		return err
	}
	var flag [4]byte
	if err := s.dev.Read(flag[:], s.out); err != nil {
		return err
	}
	if got := flag[0] != 0; got != want {
		return fmt.Errorf("%s read other bytes than were written; it cannot be calibrated", s.info.ID)
	}
	return nil
}

// chunk is the number of bytes that a block of the L2 kernel reads at a time.
const chunk = 16 << 10

// cacheBandwidth measures the bandwidth of L2 to all multiprocessors and to a few.
func (s *session) cacheBandwidth() error {
	mark := len(s.undo)
	chunks := uint32(1)
	for int64(2*chunks)*chunk <= s.l2Bytes()/4 {
		chunks *= 2
	}
	p, err := s.alloc(int64(chunks) * chunk)
	if err != nil {
		return err
	}
	const one = 0x3f800000 // 1 as a float
	if err := s.times(s.a, 1, &device.Memset{Dst: p, Value: one, Width: 4, Count: int64(chunks) * chunk / 4}); err != nil {
		return err
	}
	rate := func(blocks uint32) (Estimate, error) {
		run := s.spun("l2_read", blocks, blockThreads, func(n int) []any { return []any{s.out, p, uint32(n), chunks - 1} })
		if err := s.flagged(run, manyPasses, false); err != nil {
			return Estimate{}, err
		}
		e, err := s.slope(fewPasses, manyPasses, mostTurns, run)
		return e.per(float64(blocks) * 4 * chunk), err
	}
	few := uint32(min(4, s.info.Multiprocessors))
	one4, err := rate(few)
	if err != nil {
		return err
	}
	s.measure("sm_gbps", one4.times(1/float64(few)))
	all, err := rate(uint32(2 * s.info.Multiprocessors))
	if err != nil {
		return err
	}
	if all.Value > 0.97*s.of("sm_gbps").Value*float64(s.info.Multiprocessors) {
		all.Value = 0 // L2 is no bottleneck: all multiprocessors together reach the sum
	}
	s.measure("l2_gbps", all)
	return s.release(mark, nil)
}

const (
	fewPasses  = 2
	manyPasses = 6
)

// latencies measures the latency of loads from L1, L2 and DRAM, by chains of addresses that a single thread follows.
func (s *session) latencies() error {
	mark := len(s.undo)
	const (
		lines  = 8192
		stride = 256 // more than a line, because a device may fetch two
		short  = 4   // lines, few enough for any L1
	)
	p, err := s.alloc(lines * stride)
	if err != nil {
		return err
	}
	flush, err := s.alloc(max(2*s.l2Bytes(), 1<<20) + 1<<20)
	if err != nil {
		return err
	}
	flushed := &device.Memset{Dst: flush, Width: 4, Count: max(2*s.l2Bytes(), 1<<20) / 4}
	for _, c := range []struct {
		name, kernel string
		lines        int
		lo, hi, most int // in 64 steps
		before       device.Work
	}{
		{"l1_cycles", "chase_l1", short, 16, 80, mostTurns, device.Nothing{}},
		{"l2_cycles", "chase_l2", lines, 8, 24, lines / 64, device.Nothing{}},
		{"dram_cycles", "chase_l2", lines, 8, 24, lines / 64, flushed},
	} {
		if err := s.dev.Write(p, chain(p, c.lines, stride)); err != nil {
			return err
		}
		chase := s.spun(c.kernel, 1, s.threads(), func(n int) []any { return []any{s.out, uint32(n), p} })
		e, err := s.slope(c.lo, c.hi, c.most, func(n int) (float64, error) {
			if err := s.times(s.a, 1, c.before); err != nil {
				return 0, err
			}
			return chase(n)
		})
		if err != nil {
			return err
		}
		s.measure(c.name, e.times(1/(64*s.cycle)))
	}
	return s.release(mark, nil)
}

// chain returns the content of memory at p in which each line holds the address of another, in one random cycle.
func chain(p device.Ptr, lines, stride int) []byte {
	b := make([]byte, lines*stride)
	order := rand.New(rand.NewPCG(1, 2)).Perm(lines)
	for i, at := range order {
		next := order[(i+1)%lines]
		binary.LittleEndian.PutUint64(b[at*stride:], uint64(p)+uint64(next*stride))
	}
	return b
}

// atomics measures the rate of atomic updates in L2. Each warp updates a single word, so that the updates are
// serialized and a slice does one per cycle.
func (s *session) atomics() error {
	mark := len(s.undo)
	const (
		blocks, warps = 64, 8
		line          = 128
		lo, hi        = 8, 40
	)
	p, err := s.alloc(blocks * warps * hi * line)
	if err != nil {
		return err
	}
	e, err := s.slope(lo, hi, hi, s.spun("atomics", blocks, warps*lanesPerWarp, func(n int) []any { return []any{p, uint32(n)} }))
	if err != nil {
		return err
	}
	s.measure("l2_slices", e.per(blocks*warps*lanesPerWarp*s.cycle))
	return s.release(mark, s.checkAtomics(p, blocks*warps*hi, line))
}

// checkAtomics checks that no update is lost: whole warps have updated every word.
func (s *session) checkAtomics(p device.Ptr, words, stride int) error {
	b := make([]byte, words*stride)
	if err := s.dev.Read(b, p); err != nil {
		return err
	}
	last := binary.LittleEndian.Uint32(b[(words-1)*stride:])
	if last == 0 || last%lanesPerWarp != 0 {
		return fmt.Errorf("%s lost atomic updates: a word that whole warps add to holds %d; it cannot be calibrated", s.info.ID, last)
	}
	return nil
}
