package distribute

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/box"
)

// Each cell of a frame has as many bytes as places, and each byte is in one cell. Ranges of cells have the bytes of these
// cells, and boxes that the frame was made for have the bytes of their places.
func TestFramesMoveBytes(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 5))
	for range 2000 {
		pitch, rows := 1+r.Int64N(9), 1+r.Int64N(9)
		size := pitch*rows - r.Int64N(pitch)
		var boxes []box.Box
		for range r.IntN(5) {
			boxes = append(boxes, randomBox(r, pitch, size))
		}
		f := newFrame(pitch, size, boxes)
		var at []int64 // by place: a byte of the cell
		seen := map[int64]bool{}
		for i := range len(f.Rows) - 1 {
			for j := range len(f.Cols) - 1 {
				height := f.Rows[i+1] - f.Rows[i]
				lo := f.Rows[i]*pitch + f.Cols[j]*height
				require.Len(t, at, int(lo))
				cell := bytesOf(f, lo, lo+(f.Cols[j+1]-f.Cols[j])*height)
				require.Len(t, cell, int((f.Cols[j+1]-f.Cols[j])*height))
				for _, b := range cell {
					require.False(t, seen[b], "byte %d has two places", b)
					seen[b] = true
				}
				at = append(at, cell...)
			}
		}
		require.Len(t, at, int(pitch*rows))
		for _, b := range boxes {
			var got []int64
			last := int64(-1)
			for _, s := range f.Places(b) {
				require.Greater(t, s.Lo, last, "places ascend and do not touch")
				last = s.Hi
				require.ElementsMatch(t, at[s.Lo:s.Hi], bytesOf(f, s.Lo, s.Hi))
				got = append(got, at[s.Lo:s.Hi]...)
			}
			want := map[int64]bool{}
			b.Runs(func(lo, hi int64) bool {
				for ; lo < hi; lo++ {
					want[lo] = true
				}
				return true
			})
			require.Len(t, got, len(want))
			for _, x := range got {
				require.True(t, want[x], "box %+v, place of byte %d", b, x)
			}
		}
	}
}

// randomBox returns a box inside a buffer that is contiguous or has the stride pitch.
func randomBox(r *rand.Rand, pitch, size int64) box.Box {
	for {
		lo := r.Int64N(size)
		if pitch < 2 || r.IntN(2) == 0 {
			return box.Of(lo, lo+1+r.Int64N(size-lo))
		}
		run := 1 + r.Int64N(pitch-1)
		b := box.Box{Lo: lo, Shape: box.Shape{Run: run, Count: [2]int64{2 + r.Int64N(4)}, Stride: [2]int64{pitch}}}
		if lo%pitch+run <= pitch && b.Hi() <= size {
			return b
		}
	}
}

// bytesOf returns the bytes of places.
func bytesOf(f *Frame, lo, hi int64) (list []int64) {
	for _, b := range f.Boxes(lo, hi) {
		b.Runs(func(lo, hi int64) bool {
			for ; lo < hi; lo++ {
				list = append(list, lo)
			}
			return true
		})
	}
	return list
}
