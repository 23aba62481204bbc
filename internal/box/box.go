// Package box computes with sets of bytes that have strides, such as a column tile of a
// matrix. It knows no buffers and no programs: offsets are plain numbers.
package box

import "fmt"

// Shape is a set of bytes that begins at offset 0: runs of Run bytes, at up to two strides.
//
//	i·Stride[0] + j·Stride[1] + [0, Run)     0 <= i < Count[0], 0 <= j < Count[1]
//
//	Run 2, Count {3, 2}, Stride {4, 16}      ██··██··██······██··██··██
//	                                         │   │           │
//	                                         0   4           16
//
// A count of 0 stands for 1. A shape without counts is contiguous. See Valid for the
// canonical form, in which the runs are disjoint and ascending.
type Shape struct {
	Run           int64 // bytes
	Count, Stride [2]int64
}

// String returns the text of a shape for people, as in "runs of 16 bytes, 8 at stride 64".
func (s Shape) String() string {
	text := fmt.Sprintf("runs of %d bytes", s.Run)
	for i, n := range s.Count {
		if n > 1 {
			text += fmt.Sprintf(", %d at stride %d", n, s.Stride[i])
		}
	}
	return text
}

// Contiguous reports whether s is one run.
func (s Shape) Contiguous() bool { return s.Count[0] == 0 }

// Valid reports whether s is in canonical form. There is a run of at least one byte. An
// unused level is zero, and level 0 is used before level 1. A used level has a count of at
// least 2. Its elements are disjoint, and those of level 0 do not touch: runs that touch are
// one longer run. Level 1 does not continue level 0. The extent is below 2^62.
func (s Shape) Valid() bool {
	extent, used := s.Run, true
	if s.Run < 1 || s.Run > maxExtent {
		return false
	}
	for k, n := range s.Count {
		d := s.Stride[k]
		if n == 0 && d == 0 {
			used = false
			continue
		}
		if !used || n < 2 || d < extent || d > maxExtent/n {
			return false
		}
		extent += (n - 1) * d
	}
	return s.Contiguous() || s.Stride[0] > s.Run && s.Stride[1] != s.Count[0]*s.Stride[0]
}

// maxExtent bounds the extents of valid shapes, so that sums of an offset and an extent do
// not overflow.
const maxExtent = 1 << 62

// Extent returns the number of bytes from the first to behind the last one.
func (s Shape) Extent() int64 { return s.upTo(2) }

// upTo returns the extent of the first levels of s: of a run for 0, of all for 2.
func (s Shape) upTo(levels int) int64 {
	extent := s.Run
	for k := range levels {
		if n := s.Count[k]; n > 0 {
			extent += (n - 1) * s.Stride[k]
		}
	}
	return extent
}

// Bytes returns the number of bytes of a valid shape.
func (s Shape) Bytes() int64 { return s.Run * max(s.Count[0], 1) * max(s.Count[1], 1) }

// Box is a shape at an offset, in bytes.
type Box struct {
	Lo int64
	Shape
}

// Of returns the contiguous box [lo, hi).
func Of(lo, hi int64) Box { return Box{lo, Shape{Run: hi - lo}} }

// Hi returns the offset behind the last byte.
func (b Box) Hi() int64 { return b.Lo + b.Extent() }

// Empty reports whether b has no bytes.
func (b Box) Empty() bool { return b.Run <= 0 }

// Runs calls yield with each run [lo, hi), ascending, until it returns false.
func (b Box) Runs(yield func(lo, hi int64) bool) {
	for j := range max(b.Count[1], 1) {
		for i := range max(b.Count[0], 1) {
			if lo := b.Lo + j*b.Stride[1] + i*b.Stride[0]; !yield(lo, lo+b.Run) {
				return
			}
		}
	}
}

// canonical returns a box with the same bytes, whose shape is valid. b must satisfy the
// conditions of Valid, except that counts may be 1 and runs and levels may touch.
func (b Box) canonical() Box {
	s := &b.Shape
	for k := range s.Count {
		if s.Count[k] <= 1 {
			s.Count[k], s.Stride[k] = 0, 0
		}
	}
	if s.Count[0] == 0 {
		s.Count, s.Stride = [2]int64{s.Count[1]}, [2]int64{s.Stride[1]}
	}
	if s.Count[0] > 0 && s.Stride[0] == s.Run {
		s.Run *= s.Count[0]
		s.Count, s.Stride = [2]int64{s.Count[1]}, [2]int64{s.Stride[1]}
		return b.canonical()
	}
	if s.Count[1] > 0 && s.Stride[1] == s.Count[0]*s.Stride[0] {
		s.Count, s.Stride = [2]int64{s.Count[0] * s.Count[1]}, [2]int64{s.Stride[0]}
	}
	return b
}

// Clip returns the smallest box that it can express of the bytes of b in [lo, hi). The box
// contains all of these bytes and lies inside [lo, hi). It keeps the strides if no element
// is cut in the middle.
func (b Box) Clip(lo, hi int64) Box {
	if b.Empty() || b.Lo >= hi || b.Hi() <= lo {
		return Box{Lo: lo}
	}
	for k := 1; k >= 0; k-- {
		b = b.dropped(k, lo, hi).canonical()
	}
	if lo <= b.Lo && b.Hi() <= hi {
		return b
	}
	return Of(max(lo, b.Lo), min(hi, b.Hi()))
}

// dropped returns b without the elements of level k that lie outside [lo, hi) for each
// index of the other levels.
func (b Box) dropped(k int, lo, hi int64) Box {
	n, d := b.Count[k], b.Stride[k]
	if n == 0 {
		return b
	}
	// Of element i, the outer levels span [at, at+extent).
	extent := b.upTo(k)
	if k == 0 && b.Count[1] > 0 {
		extent += (b.Count[1] - 1) * b.Stride[1]
	}
	first := clamp(ceil(lo-b.Lo-extent+1, d), 0, n-1)
	last := clamp(floor(hi-1-b.Lo, d), first, n-1)
	b.Lo += first * d
	b.Count[k] = last - first + 1
	return b
}

func clamp(x, lo, hi int64) int64 { return max(lo, min(x, hi)) }

// floor returns a/b rounded down, for b > 0.
func floor(a, b int64) int64 {
	if q := a / b; a%b >= 0 {
		return q
	}
	return a/b - 1
}

// ceil returns a/b rounded up, for b > 0.
func ceil(a, b int64) int64 { return -floor(-a, b) }
