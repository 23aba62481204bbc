package graphexec

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/ir"
)

// TestTheDeviceAndTheHostFindTheSameIntegers computes what the kernel until_word does with
// integers around the ends of their range and around values that are none.
func TestTheDeviceAndTheHostFindTheSameIntegers(t *testing.T) {
	values := []float64{0, 1, -1, 2.5, -2.5, 7, math.MinInt32, math.MaxInt32, math.MaxUint32, math.MaxUint32 + 0.5, 1e300, -1e300, math.Inf(1), math.Inf(-1)}
	words := []uint32{0, 1, 2, 3, 6, 7, 8, math.MaxInt32, 1 << 31, 1<<31 + 1, math.MaxUint32 - 2, math.MaxUint32 - 1, math.MaxUint32}
	for _, elem := range []ir.Type{ir.I32, ir.U32} {
		for is := Below; is <= Below|Equal|Above; is++ {
			if comparisons[is] == "" {
				continue
			}
			for _, v := range values {
				p := &predicate{Until: Until{Is: is, Value: v}, elem: elem}
				entry, test := p.kernel()
				require.Equal(t, untilWord, entry)
				low, span, inside := binary.LittleEndian.Uint32(test), binary.LittleEndian.Uint32(test[4:]), binary.LittleEndian.Uint32(test[8:])
				for _, w := range words {
					x := float64(w)
					if elem == ir.I32 {
						x = float64(int32(w))
					}
					want := x < v && is&Below != 0 || x == v && is&Equal != 0 || x > v && is&Above != 0
					require.Equal(t, want, (w-low <= span) == (inside != 0), "on the device: %v %v is %v %v", elem, x, is, v)
					found := p.look(binary.LittleEndian.AppendUint32(nil, w))
					require.Equal(t, want, found == met, "on the host: %v %v is %v %v", elem, x, is, v)
				}
			}
		}
	}
}
