package ranks_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/internal/ranks"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

var kernels = func() string {
	text, err := os.ReadFile("../distribute/testdata/kernels.ptx")
	if err != nil {
		panic(err)
	}
	return string(text)
}()

// wave is steps of a stencil on an n x n grid, two in each replay.
func wave(n, steps int) *program {
	return &program{
		name:  "wave",
		steps: steps,
		build: func(tr *tracer.Tracer) []tracer.Buffer {
			k := tr.Module("kernels.ptx", kernels).Kernel("stencil")
			u := tr.Alloc("u", ir.I32, int64(n*n), ir.InOut)
			v := tr.Alloc("v", ir.I32, int64(n*n), ir.InOut)
			blocks := uint32((n + 7) / 8)
			shape := tracer.Shape{Grid: ir.Dim3{X: blocks, Y: blocks, Z: 1}, Block: ir.Dim3{X: 8, Y: 8, Z: 1}}
			tr.Launch(k, shape, u, v, n)
			tr.Launch(k, shape, v, u, n)
			return []tracer.Buffer{u, v}
		},
		contents: func(b int) []byte { return words(n*n, uint32(b)) },
	}
}

func TestWave(t *testing.T) {
	p := wave(100, 5)
	want := p.alone(t)
	for _, size := range [][2]int{{1, 1}, {1, 4}, {4, 1}, {2, 2}, {3, 3}} {
		for _, overlap := range []distribute.Overlap{distribute.OverlapLong, distribute.OverlapAll} {
			for _, streams := range []bool{false, true} {
				t.Run(fmt.Sprintf("%dx%d/%d/%t", size[0], size[1], overlap, streams), func(t *testing.T) {
					m, err := machine.Uniform(size[0], size[1], "h200")
					require.NoError(t, err)
					got := p.distributed(t, m, ranks.Options{Overlap: overlap, Streams: streams})
					for b := range want {
						require.True(t, string(want[b]) == string(got[b]), "buffer %d", b)
					}
				})
			}
		}
	}
}

// updates makes updates of each kind by atomic operations.
func updates(n int) *program {
	types := []ir.Type{ir.I32, ir.I32, ir.U32, ir.U32, ir.U32, ir.U32, ir.F32, ir.F64, ir.U64}
	return &program{
		name:  "updates",
		steps: 3,
		build: func(tr *tracer.Tracer) (bs []tracer.Buffer) {
			args := []any{}
			for i, typ := range types {
				size := int64(4)
				if i == 0 {
					size = int64(n)
				}
				b := tr.Alloc(fmt.Sprintf("b%d", i), typ, size, ir.InOut)
				bs, args = append(bs, b), append(args, b)
			}
			m := tr.Module("kernels.ptx", kernels)
			tr.Launch(m.Kernel("updates"), tracer.Linear(uint32(n+63)/64, 64), append(args, n)...)
			tr.Launch(m.Kernel("axpy"), tracer.Linear(uint32(n+63)/64, 64), bs[0], bs[0], 2, n)
			return bs
		},
		contents: func(b int) []byte {
			switch b {
			case 0:
				return words(n, 5)
			case 4: // all
				return []byte{255, 255, 255, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
			}
			return make([]byte, 4*types[b].Size())
		},
	}
}

// Updates by atomic operations are made on copies, in any number and of any kind whose results are not used.
func TestUpdates(t *testing.T) {
	p := updates(1000)
	want := p.alone(t)
	for _, size := range [][2]int{{1, 4}, {4, 1}, {2, 3}} {
		m, err := machine.Uniform(size[0], size[1], "h200")
		require.NoError(t, err)
		for b, got := range p.distributed(t, m, ranks.Options{}) {
			require.Equal(t, want[b], got, "buffer %d", b)
		}
	}
}

// Many steps in one call, which are run as several repetitions in one graph, give the bytes of as many single ones.
func TestManySteps(t *testing.T) {
	p := wave(40, 117)
	want := p.alone(t)
	for _, size := range [][2]int{{1, 1}, {1, 4}, {2, 2}} {
		m, err := machine.Uniform(size[0], size[1], "h200")
		require.NoError(t, err)
		for _, err := range onMachine(t, m, func(r *ranks.Rank) error {
			tr := r.Record(p.name)
			bs := p.build(tr)
			trace, err := tr.Finish()
			if err != nil {
				return err
			}
			ctx := context.Background()
			plan, err := r.Compile(ctx, trace, ranks.Options{})
			if err != nil {
				return err
			}
			defer plan.Close()
			for i, b := range bs {
				if err := plan.Write(b.Range(), p.contents(i)); err != nil {
					return err
				}
			}
			for _, n := range []int{1, 70, 3, 43} {
				if err := plan.Run(ctx, n); err != nil {
					return err
				}
			}
			for i, b := range bs {
				got := make([]byte, b.Bytes())
				if err := plan.Read(ctx, got, b.Range()); err != nil {
					return err
				}
				assert.True(t, string(want[i]) == string(got), "buffer %d", i)
			}
			return plan.Close()
		}) {
			require.NoError(t, err)
		}
	}
}
