package until

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/ir"
)

var comparisons = []ir.Comparison{ir.Below, ir.Equal, ir.Above, ir.AtMost, ir.AtLeast, ir.NotEqual}

// TestTheDeviceAndTheHostGoOnWithTheSameNumbers computes what compare in until.cu does.
func TestTheDeviceAndTheHostGoOnWithTheSameNumbers(t *testing.T) {
	inf := math.Inf(1)
	values := []float64{0, math.Copysign(0, -1), 5e-324, -5e-324, 1, 1.5, -1, math.Nextafter(1, 2), math.Nextafter(1, 0), math.MaxFloat32, math.MaxFloat64, -math.MaxFloat64, inf, -inf}
	for _, is := range comparisons {
		for _, v := range values {
			p := &Test{ir.F64, is, v}
			entry, test := p.Kernel()
			require.Equal(t, "until_f64", entry)
			low, high := math.Float64frombits(binary.LittleEndian.Uint64(test)), math.Float64frombits(binary.LittleEndian.Uint64(test[8:]))
			for _, x := range append(values, math.NaN()) {
				met := x < v && is&ir.Below != 0 || x == v && is&ir.Equal != 0 || x > v && is&ir.Above != 0
				goesOn := !met && !math.IsNaN(x)
				on := x >= low && x <= high || math.IsNaN(high) && x != low && !math.IsNaN(x)
				require.Equal(t, goesOn, on, "on the device: %v is %v %v", x, is, v)
				require.Equal(t, goesOn, p.Look(binary.LittleEndian.AppendUint64(nil, math.Float64bits(x))) == GoOn, "on the host: %v is %v %v", x, is, v)
			}
		}
	}
}

// TestTheDeviceAndTheHostFindTheSameIntegers computes what the kernel until_word does with
// integers around the ends of their range and around values that are none.
func TestTheDeviceAndTheHostFindTheSameIntegers(t *testing.T) {
	values := []float64{0, 1, -1, 2.5, -2.5, 7, math.MinInt32, math.MaxInt32, math.MaxUint32, math.MaxUint32 + 0.5, 1e300, -1e300, math.Inf(1), math.Inf(-1)}
	words := []uint32{0, 1, 2, 3, 6, 7, 8, math.MaxInt32, 1 << 31, 1<<31 + 1, math.MaxUint32 - 2, math.MaxUint32 - 1, math.MaxUint32}
	for _, elem := range []ir.Type{ir.I32, ir.U32} {
		for _, is := range comparisons {
			for _, v := range values {
				p := &Test{elem, is, v}
				entry, test := p.Kernel()
				require.Equal(t, "until_word", entry)
				ends := func(uint32) bool { return false }
				if test != nil {
					low, span := binary.LittleEndian.Uint32(test), binary.LittleEndian.Uint32(test[4:])
					ends = func(w uint32) bool { return w-low <= span }
				}
				for _, w := range words {
					x := float64(w)
					if elem == ir.I32 {
						x = float64(int32(w))
					}
					want := x < v && is&ir.Below != 0 || x == v && is&ir.Equal != 0 || x > v && is&ir.Above != 0
					require.Equal(t, want, ends(w), "on the device: %v %v is %v %v", elem, x, is, v)
					found := p.Look(binary.LittleEndian.AppendUint32(nil, w))
					require.Equal(t, want, found == Met, "on the host: %v %v is %v %v", elem, x, is, v)
				}
			}
		}
	}
}
