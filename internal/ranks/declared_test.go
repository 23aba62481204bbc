package ranks_test

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/blockmap"
	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/ranks"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// gatherPTX has the kernel y[i] = x[index[i]] + 1. The grid may have one or two dimensions.
const gatherPTX = `
.version 7.8
.target sm_75
.address_size 64
.visible .entry gather(.param .u64 y, .param .u64 x, .param .u64 index)
{
	.reg .b32 %r<12>;
	.reg .b64 %rd<12>;
	ld.param.u64 %rd1, [y];
	ld.param.u64 %rd2, [x];
	ld.param.u64 %rd3, [index];
	mov.u32 %r1, %ctaid.y;
	mov.u32 %r2, %nctaid.x;
	mov.u32 %r3, %ctaid.x;
	mad.lo.s32 %r4, %r1, %r2, %r3;
	mov.u32 %r5, %ntid.x;
	mov.u32 %r6, %tid.x;
	mad.lo.s32 %r7, %r4, %r5, %r6;
	mul.wide.s32 %rd4, %r7, 4;
	add.s64 %rd5, %rd3, %rd4;
	ld.global.u32 %r8, [%rd5];
	mul.wide.s32 %rd6, %r8, 4;
	add.s64 %rd7, %rd2, %rd6;
	ld.global.u32 %r9, [%rd7];
	add.s32 %r9, %r9, 1;
	add.s64 %rd8, %rd1, %rd4;
	st.global.u32 [%rd8], %r9;
	ret;
}
`

// The gathers are over 4096 elements, with indices at most 8 elements away.
const (
	gathered = 4096
	band     = 8
)

// gathers is two gathers, there and back, by blocks of 64 threads. halo is the declared number of elements on either
// side of a block, -1 for no declaration.
func gathers(halo int64, grid ir.Dim3) *program {
	return &program{
		name: "gathers", steps: 3,
		build: func(tr *tracer.Tracer) []tracer.Buffer {
			k := tr.Module("gather.ptx", gatherPTX).Kernel("gather")
			x, y := tr.Alloc("x", ir.I32, gathered, ir.InOut), tr.Alloc("y", ir.I32, gathered, ir.InOut)
			index := tr.Alloc("index", ir.I32, gathered, ir.Input)
			from := func(b tracer.Buffer) any {
				if halo < 0 {
					return b
				}
				_, layers, _ := blockmap.Outermost(grid)
				return tracer.PerBlock{Buffer: b, Bytes: 4 * gathered / layers, Before: 4 * halo, After: 4 * halo}
			}
			shape := tracer.Shape{Grid: grid, Block: ir.Dim3{X: 64, Y: 1, Z: 1}}
			tr.Launch(k, shape, y, from(x), index)
			tr.Launch(k, shape, x, from(y), index)
			return []tracer.Buffer{x, y, index}
		},
		contents: func(b int) []byte {
			data := words(gathered, uint32(b+1))
			if b == 2 {
				for i := range gathered {
					away := int(binary.LittleEndian.Uint32(data[4*i:])%(2*band+1)) - band
					binary.LittleEndian.PutUint32(data[4*i:], uint32(min(max(i+away, 0), gathered-1)))
				}
			}
			return data
		},
	}
}

var (
	line  = ir.Dim3{X: 64, Y: 1, Z: 1}
	plane = ir.Dim3{X: 2, Y: 32, Z: 1}
)

// Gathers with declared bytes give those of one device. Only halos are sent: of the whole buffer without a declaration.
func TestDeclaredGathers(t *testing.T) {
	for _, grid := range []ir.Dim3{line, plane} {
		for _, size := range [][2]int{{1, 4}, {2, 2}} {
			m, err := machine.Uniform(size[0], size[1], "h200")
			require.NoError(t, err)
			for _, halo := range []int64{-1, band} {
				p := gathers(halo, grid)
				want := p.alone(t)
				for _, tiles := range []bool{false, true} {
					got := p.distributed(t, m, ranks.Options{Tiles: tiles})
					for b := range want {
						require.True(t, string(want[b]) == string(got[b]), "buffer %d of grid %v on %v with halo %d, tiles %t", b, grid, size, halo, tiles)
					}
				}
			}
			all, halos := sent(t, gathers(-1, grid), m), sent(t, gathers(band, grid), m)
			assert.Equal(t, int64(2*3*2*4*band), halos, "two gathers, and three borders with a halo on either side")
			assert.GreaterOrEqual(t, all, int64(2*3*4*gathered), "each device gets what the others have written")
		}
	}
}

// sent returns the bytes that are transferred in a repeated step.
func sent(t *testing.T, p *program, m *machine.Machine) (n int64) {
	plan := planOf(t, p, m)
	for _, x := range plan.Patterns {
		n += x.Bytes
	}
	return n
}

func planOf(t *testing.T, p *program, m *machine.Machine) *distribute.Plan {
	tr := tracer.New(null.New(), p.name, tracer.Deferred)
	p.build(tr)
	trace, err := tr.Finish()
	require.NoError(t, err)
	plan, err := distribute.New(trace.Graph, distribute.LayoutOf(m), distribute.Options{})
	require.NoError(t, err)
	return plan
}

func TestWhyNamesDeclaredBuffers(t *testing.T) {
	m, err := machine.Uniform(1, 4, "h200")
	require.NoError(t, err)
	assert.Contains(t, planOf(t, gathers(band, line), m).Why(), "%0 gather: split, because its chunks along x write different bytes, with the accesses to @x declared\n")
	assert.NotContains(t, planOf(t, gathers(-1, line), m).Why(), "declared")
}

// Chunks are checked by the numbers that their blocks have in the whole grid: a block in the middle of a chunk, whose device
// holds the bytes, is found.
func TestUndeclaredAccessInAChunk(t *testing.T) {
	for _, grid := range []ir.Dim3{line, plane} {
		p := gathers(0, grid)
		inner := p.contents
		p.contents = func(b int) []byte {
			data := inner(b)
			if b == 2 {
				for i := range gathered { // each element itself, but for one in the middle of the third quarter
					binary.LittleEndian.PutUint32(data[4*i:], uint32(i))
				}
				binary.LittleEndian.PutUint32(data[4*2560:], 2559)
			}
			return data
		}
		errs := onRanks(t, p, 1, 4)
		require.ErrorContains(t, errs[0], "undeclared access: bytes ")
		require.ErrorContains(t, errs[0], "gather")
	}
}

// A block that touches bytes that are not declared, and that its device does not hold, is told to declare them.
func TestWrongDeclarationIsFoundOnRanks(t *testing.T) {
	errs := onRanks(t, gathers(band-2, line), 1, 2)
	require.ErrorContains(t, errs[0], "kernel gather (%0 gather (ranks/declared_test.go:")
	require.ErrorContains(t, errs[0], "the launch declares which bytes it touches, and a device may hold no others: declare all")
}

// onRanks runs a step of a program.
func onRanks(t *testing.T, p *program, number, devices int) []error {
	m, err := machine.Uniform(number, devices, "h200")
	require.NoError(t, err)
	return onMachine(t, m, func(r *ranks.Rank) error {
		tr := r.Record(p.name)
		buffers := p.build(tr)
		trace, err := tr.Finish()
		if err != nil {
			return err
		}
		plan, err := r.Compile(context.Background(), trace, ranks.Options{})
		if err != nil {
			return err
		}
		defer plan.Close()
		for i, b := range buffers {
			if err := plan.Write(b.Range(), p.contents(i)); err != nil {
				return err
			}
		}
		return plan.Run(context.Background(), 1)
	})
}
