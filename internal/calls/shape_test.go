package calls

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/ir"
)

// TestShapesHaveHashesOfTheirOwn takes extents around all powers of two that CUDA allows, where exclusive or of shifted
// extents would collide.
func TestShapesHaveHashesOfTheirOwn(t *testing.T) {
	around := func(most uint32) (list []uint32) {
		for p := uint32(1); p <= most && p != 0; p *= 2 {
			for _, v := range []uint32{p - 1, p, p + 1} {
				if v > 0 && v <= most {
					list = append(list, v)
				}
			}
		}
		return list
	}
	seen := map[Hash]Shape{}
	add := func(s Shape) {
		h := s.AddTo(1)
		if other, ok := seen[h]; ok {
			require.Equal(t, other, s)
		}
		seen[h] = s
	}
	one := ir.Dim3{X: 1, Y: 1, Z: 1}
	for x := uint32(1); x < 1<<31; x *= 2 {
		for _, y := range around(1<<16 - 1) {
			for _, z := range around(1<<16 - 1) {
				add(Shape{Grid: ir.Dim3{X: x, Y: y, Z: z}, Block: one})
			}
		}
	}
	for x := uint32(1); x <= 1024; x *= 2 {
		for y := uint32(1); y <= 1024; y *= 2 {
			for _, z := range around(64) {
				for _, shared := range append(around(228<<10), 0) {
					add(Shape{Grid: one, Block: ir.Dim3{X: x, Y: y, Z: z}, Shared: shared})
				}
			}
		}
	}
}
