package interp

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func newSketch() *sketch {
	s := &sketch{}
	s.allocate()
	return s
}

// contents is a sketch in an order that only its set decides.
func (s *sketch) contents() (int, []touchedLine) {
	var lines []touchedLine
	for _, i := range s.used {
		lines = append(lines, s.table[i])
	}
	slices.SortFunc(lines, func(a, b touchedLine) int { return int(int64(a.line) - int64(b.line)) })
	return s.level, lines
}

// The estimate is exact for small sets, and within five standard errors of 2 %
// for large ones.
func TestSketchCountsDistinctSectors(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{1, 100, 2000, 50_000, 400_000} {
		s, want := newSketch(), map[uint64]bool{}
		for range n {
			sector := 1<<28 + r.Uint64N(uint64(4*n))
			s.add(sector, accessKind(r.IntN(3)), 0, false)
			want[sector] = true
		}
		var all tally
		_, lines := s.contents()
		for i := range lines {
			all.add(&lines[i])
		}
		got := all.others * float64(int(1)<<s.level)
		if len(want) < sketchLines {
			require.InDelta(t, len(want), got, 0, "%d accesses", n)
		}
		require.InEpsilon(t, len(want), got, 0.1, "%d accesses", n)
		require.LessOrEqual(t, len(lines), sketchLines)
	}
}

// What engines saw of a launch gives the same sketch however the launch was
// shared out among them.
func TestSketchesMergeToTheSameInAnyOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, n := range []int{500, 30_000} {
		whole := newSketch()
		parts := []*sketch{newSketch(), newSketch(), {}, newSketch()}
		for range n {
			sector, kind, tag, half := r.Uint64N(1<<20), accessKind(r.IntN(3)), uint8(r.IntN(8)), r.IntN(2) == 0
			whole.add(sector, kind, tag, half)
			if i := r.IntN(4); i != 2 {
				parts[i].add(sector, kind, tag, half)
			} else {
				parts[0].add(sector, kind, tag, half)
			}
		}
		for range 3 {
			r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
			merged := &sketch{}
			for _, p := range parts {
				merged.merge(p, false)
			}
			wantLevel, want := whole.contents()
			level, got := merged.contents()
			require.Equal(t, wantLevel, level)
			require.Equal(t, want, got)
		}
	}
}

// The share of a block in L1: a line contains only the sectors that were requested.
func TestL1HoldsSectorsUntilTheBlockEnds(t *testing.T) {
	var c l1
	c.resize(1 << 10)
	require.Len(t, c.lines, 8)
	c.invalidate()
	require.False(t, c.lookup(100))
	require.True(t, c.lookup(100))
	require.False(t, c.lookup(101), "another sector of the same line")
	require.True(t, c.lookup(101))
	require.True(t, c.lookup(100))
	c.invalidate()
	require.False(t, c.lookup(100))
	c.resize(0)
	require.False(t, c.lookup(100))
	require.False(t, c.lookup(100), "no cache")
}

// The extent of an array is estimated from some of the blocks in three cases: each block
// touches its own part, all touch the same part, and both together.
func TestExtentsOfMeasuredBlocks(t *testing.T) {
	d := openKernels(t)
	const n = 1 << 18
	x, y := buffer(d, "x", make([]float32, n)), buffer(d, "y", make([]float32, n))
	l := Launch{Grid: dims(n/256, 1, 1), Block: dims(256, 1, 1), Params: params(float32(2), x, y, int32(n))}
	s := d.run("axpy", l)
	require.InEpsilon(t, 4*n, s.Extents[0].Read, 0.01)
	require.InEpsilon(t, 4*n, s.Extents[1].Read, 0.01)
	require.InEpsilon(t, 4*n, s.Extents[1].Written, 0.01)
	require.Zero(t, s.Extents[0].Written)
	require.InDelta(t, 1, s.Growth, 0.01)
	require.InEpsilon(t, 4*n, s.Extents[0].Together, 0.01, "all blocks are resident")
	require.InEpsilon(t, 4*256, s.Extents[0].Span*4*n, 0.2, "a block has 1 KiB of it")
	l.Resident = 64
	require.InEpsilon(t, 4*256*64, d.run("axpy", l).Extents[0].Together, 0.01)
	for _, blocks := range []int32{1, 3, 200} { // the others find nothing to do
		l.Params = params(float32(2), x, y, 256*blocks)
		s = d.run("axpy", l)
		require.InEpsilon(t, 4*256*blocks, s.Extents[0].Read, 0.01)
		require.InEpsilon(t, 4*256*blocks, s.Extents[1].Written, 0.01)
	}
}
