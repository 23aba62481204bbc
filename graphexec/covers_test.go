package graphexec

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/reprise-gpu/reprise/ir"
)

// TestCovers checks the accesses of a launch with another grid. They must be within the planned accesses, with the same
// modes: a write in place of a read would not be ordered with other reads.
func TestCovers(t *testing.T) {
	at := func(b ir.BufferID, lo, hi int64, mode ir.Mode) ir.Access {
		return ir.Access{Range: ir.Range{Buffer: b, Lo: lo, Hi: hi}, Mode: mode}
	}
	for _, known := range []ir.Mode{ir.Read, ir.Write, ir.ReadWrite} {
		for _, mode := range []ir.Mode{ir.Read, ir.Write, ir.ReadWrite} {
			inOrder := known == mode || known == ir.ReadWrite
			assert.Equal(t, inOrder, covers(at(1, 8, 64, known), at(1, 8, 64, mode)), "%v for %v", known, mode)
			assert.Equal(t, inOrder, covers(at(1, 8, 64, known), at(1, 16, 24, mode)), "%v for %v", known, mode)
			for _, beyond := range []ir.Access{at(1, 7, 64, mode), at(1, 8, 65, mode), at(2, 16, 24, mode), at(1, 64, 72, mode)} {
				assert.False(t, covers(at(1, 8, 64, known), beyond), "%v for %v", known, beyond)
			}
		}
	}
}
