package ranks_test

import (
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/internal/ranks"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// histogram adds x[i] to sums[i%256], where SHIFT is the binary logarithm of the size of TYPE.
const histogram = `.version 6.0
.target sm_60
.address_size 64

.visible .entry histogram(.param .u64 x, .param .u64 sums, .param .u32 n)
{
	.reg .pred %p<2>;
	.reg .u32 %r<7>;
	.reg .u64 %rd<7>;
	.reg .TYPE %x<2>;
	ld.param.u64 %rd1, [x];
	ld.param.u64 %rd2, [sums];
	ld.param.u32 %r1, [n];
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mov.u32 %r4, %tid.x;
	mad.lo.u32 %r5, %r2, %r3, %r4;
	setp.ge.u32 %p1, %r5, %r1;
	@%p1 bra DONE;
	and.b32 %r6, %r5, 255;
	mul.wide.u32 %rd3, %r5, SIZE;
	mul.wide.u32 %rd4, %r6, SIZE;
	add.u64 %rd5, %rd1, %rd3;
	add.u64 %rd6, %rd2, %rd4;
	ld.global.TYPE %x1, [%rd5];
	red.global.add.TYPE [%rd6], %x1;
DONE:
	ret;
}
`

// A sum of negative zeros is a negative zero, also if it starts in private copies. Half of the elements are sums of small whole
// numbers, which are exact in any order, and of both zeros.
func TestSumsOfNegativeZeros(t *testing.T) {
	const n, bins = 2048, 256
	zero := math.Copysign(0, -1)
	for _, elem := range []ir.Type{ir.F32, ir.F64} {
		size := int(elem.Size())
		text := strings.NewReplacer("TYPE", elem.String(), "SIZE", []string{"4", "8"}[size/8]).Replace(histogram)
		encode := func(count int, f func(i int) float64) (out []byte) {
			for i := range count {
				if size == 4 {
					out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(f(i))))
				} else {
					out = binary.LittleEndian.AppendUint64(out, math.Float64bits(f(i)))
				}
			}
			return out
		}
		p := &program{
			name: "histogram", steps: 2,
			build: func(tr *tracer.Tracer) []tracer.Buffer {
				x, sums := tr.Alloc("x", elem, n, ir.InOut), tr.Alloc("sums", elem, bins, ir.InOut)
				tr.Launch(tr.Module("histogram.ptx", text).Kernel("histogram"), tracer.Linear(n/64, 64), x, sums, n)
				return []tracer.Buffer{x, sums}
			},
			contents: func(b int) []byte {
				if b == 1 {
					return encode(bins, func(i int) float64 { return []float64{zero, zero, 0, 5}[i%4] })
				}
				return encode(n, func(i int) float64 { return []float64{zero, float64(i%7 - 3), zero, float64(i / 256)}[i%4] })
			},
		}
		want := p.alone(t)
		require.Equal(t, encode(1, func(int) float64 { return zero }), want[1][:size], "on one device")
		for _, shape := range []*machine.Machine{uneven(t), mixed(t)} {
			for _, streams := range []bool{false, true} {
				got := p.distributed(t, shape, ranks.Options{Streams: streams})
				assert.Equal(t, want[1], got[1], "%v on %v", elem, shape)
			}
		}
	}
}

// mixed is a machine whose devices have different weights.
func mixed(t *testing.T) *machine.Machine {
	m, err := machine.Uniform(2, 2, "h200")
	require.NoError(t, err)
	m.Ranks[1].Devices = append([]machine.Device(nil), m.Ranks[1].Devices...)
	m.Ranks[1].Devices[1].Profile = other(t)
	return m
}
