package ir

import "slices"

// Map declares which bytes the blocks of a launch touch through one of its buffers. It is of use where that does not
// follow from the code, because an index is loaded from memory. A layer is all blocks with the same index on the
// outermost axis of the grid that has more than one block: a block, in a grid of one dimension. Layer i touches only
//
//	[i·Step - Before, (i+1)·Step + After)
//
// of the first Size bytes behind the argument.
type Map struct {
	Arg    int   // number of the argument, a buffer
	Size   int64 // bytes that the launch may touch, at least 1
	Step   int64 // bytes of a layer, from 1 to Size
	Before int64 // further bytes in front of those of a layer, from 0 to Size
	After  int64 // further bytes behind them, from 0 to Size
}

// Layers returns the bytes [lo, hi) that layers [first, end) may touch, counted from the argument.
func (m *Map) Layers(first, end int64) (lo, hi int64) {
	last := (m.Size+m.Before)/m.Step + 1 // from this layer on, none has bytes; the product does not overflow
	lo = max(0, min(first, last)*m.Step-m.Before)
	hi = min(m.Size, min(end, last)*m.Step+m.After)
	return min(lo, m.Size), max(min(lo, m.Size), hi)
}

// Outermost returns the outermost axis of a grid with more than one block, 0 for x, the number of blocks on it, and the
// number of blocks of a layer of it.
func Outermost(d Dim3) (axis int, count, layer int64) {
	switch x, y := int64(d.X), int64(d.Y); {
	case d.Z > 1:
		return 2, int64(d.Z), x * y
	case d.Y > 1:
		return 1, y, x
	default:
		return 0, x, 1
	}
}

// MapOf returns the declaration for an argument, nil if there is none.
func (l *Launch) MapOf(arg int) *Map {
	if i := slices.IndexFunc(l.Maps, func(m Map) bool { return m.Arg == arg }); i >= 0 {
		return &l.Maps[i]
	}
	return nil
}

// Passes returns in how many arguments a launch gets a buffer.
func (l *Launch) Passes(b BufferID) (n int) {
	for i := range l.Args {
		if l.Args[i].Kind == ArgBuffer && l.Args[i].Buffer == b {
			n++
		}
	}
	return n
}
