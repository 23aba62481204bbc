package ranks_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/ranks"
	"github.com/reprise-gpu/reprise/internal/ranks/launches"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// overwritten is a sum that nobody reads, whose parts the next launch overwrites.
func overwritten() *program {
	const n, threads = 4096, 64
	const blocks = n / threads
	return &program{
		name:  "overwritten",
		steps: 3,
		build: func(tr *tracer.Tracer) []tracer.Buffer {
			m := tr.Module("kernels.ptx", kernels)
			x := tr.Alloc("x", ir.I32, n, ir.InOut)
			y := tr.Alloc("y", ir.I32, n, ir.InOut)
			parts := tr.Alloc("parts", ir.I32, blocks, ir.Temporary)
			unread := tr.Alloc("unread", ir.I32, 1, ir.InOut)
			line := tracer.Linear(blocks, threads)
			tr.Launch(m.Kernel("sums"), line, x, parts, n)
			tr.Launch(m.Kernel("fold"), tracer.Linear(1, 32), parts, unread, blocks)
			tr.Launch(m.Kernel("sums"), line, y, parts, n)
			tr.Launch(m.Kernel("shift"), line, parts, x, n)
			return []tracer.Buffer{x, y, unread}
		},
		contents: func(b int) []byte {
			if b == 2 {
				return words(1, 9)
			}
			return words(n, uint32(b)+1)
		},
	}
}

// A launch beside the next ones is ordered before those that overwrite what it reads, also if they are in the same segment.
func TestLaunchesBesideOthersAreAwaited(t *testing.T) {
	p := overwritten()
	want := p.alone(t)
	for _, size := range [][2]int{{1, 4}, {2, 2}, {4, 1}} {
		m, err := machine.Uniform(size[0], size[1], "h200")
		require.NoError(t, err)
		dev := null.New()
		defer dev.Close()
		tr := tracer.New(dev, p.name, tracer.Deferred)
		p.build(tr)
		trace, err := tr.Finish()
		require.NoError(t, err)
		defer trace.Close()
		plan, err := distribute.New(trace.Graph, distribute.LayoutOf(m), distribute.Options{Overlap: distribute.OverlapAll})
		require.NoError(t, err)
		require.Contains(t, plan.String(), "aside")
		last := int32(size[1])
		checkOrder(plan, launches.Of(plan, 0, size[1]), 0, last, func(later, earlier distribute.Wait) {
			require.Failf(t, "an order is not kept", "%v: round %d #%d does not follow round %d #%d\n%v", size, later.Round, later.Op, earlier.Round, earlier.Op, plan)
		})
		got := p.distributed(t, m, ranks.Options{Overlap: distribute.OverlapAll})
		for b := range want {
			require.True(t, string(want[b]) == string(got[b]), "%v: buffer %d", size, b)
		}
	}
}
