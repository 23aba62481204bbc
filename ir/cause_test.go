package ir_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/reprise-gpu/reprise/ir"
)

// A number stands for its range, however many ranges have been added since. A range that is added again soon
// gets the same number.
func TestCausesLeadBackToTheirRanges(t *testing.T) {
	var c ir.Causes
	assert.Zero(t, c.ID(ir.Range{Buffer: 3, Lo: 8, Hi: 8}))
	const n = 20_000 // more than it remembers
	of := func(i int) ir.Range { return ir.Range{Buffer: ir.BufferID(i % 3), Lo: int64(i), Hi: int64(i) + 4} }
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = c.ID(of(i))
		assert.Equal(t, ids[i], c.ID(of(i)))
	}
	for i, id := range ids {
		assert.Equal(t, of(i), c.Ranges()[id-1])
	}
	assert.Len(t, c.Ranges(), n)
}

// The tiles of a program that visits them repeatedly get one number each, whatever their size.
func TestCausesRememberTiles(t *testing.T) {
	for size := int64(4); size <= 1<<20; size *= 2 {
		var c ir.Causes
		const tiles, rounds = 32, 100
		for range rounds {
			for i := range int64(tiles) {
				c.ID(ir.Range{Lo: i * size, Hi: (i + 1) * size})
			}
		}
		assert.Less(t, len(c.Ranges()), tiles*rounds/10, "tiles of %d bytes", size) // two may be in each other's way
	}
}

func TestDependenciesNameKnownCauses(t *testing.T) {
	g := &ir.Graph{Ops: make([]ir.Op, 2)}
	for _, id := range []int32{-1, 2} {
		_, err := g.WithDeps(ir.Analyzed, []ir.Dep{{From: 0, To: 1, Hazard: ir.RAW, Cause: id}}, []ir.Range{{Hi: 4}})
		assert.ErrorContains(t, err, "dependency %0 -> %1 has cause")
	}
}
