// Package blockmap returns the bytes that layers of the blocks of a launch are declared to touch; see ir.Map.
package blockmap

import (
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// Outermost returns the outermost axis of a grid with more than one block, 0 for x, the number of blocks on it, and the
// number of blocks of a layer of it.
func Outermost(d ir.Dim3) (axis int, count, blocks int64) {
	switch x, y := int64(d.X), int64(d.Y); {
	case d.Z > 1:
		return 2, int64(d.Z), x * y
	case d.Y > 1:
		return 1, y, x
	default:
		return 0, x, 1
	}
}

// Find returns the declaration for an argument, nil if there is none.
func Find(maps []ir.Map, arg int) *ir.Map {
	if i := slices.IndexFunc(maps, func(m ir.Map) bool { return m.Arg == arg }); i >= 0 {
		return &maps[i]
	}
	return nil
}

// Bytes returns the bytes [lo, hi) that layers [first, end) may touch, counted from the argument.
func Bytes(m *ir.Map, first, end int64) (lo, hi int64) {
	last := (m.Size+m.Before)/m.Step + 1 // from this layer on, none has bytes; the product does not overflow
	lo = max(0, min(first, last)*m.Step-m.Before)
	hi = min(m.Size, min(end, last)*m.Step+m.After)
	return min(lo, m.Size), max(min(lo, m.Size), hi)
}
