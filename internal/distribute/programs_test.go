package distribute_test

import (
	_ "embed"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

//go:embed testdata/kernels.ptx
var kernels string

// record traces a program on a device that runs nothing.
func record(t testing.TB, name string, build func(*tracer.Tracer, *tracer.Module)) *ir.Graph {
	tr := tracer.New(null.New(), name, tracer.Deferred)
	build(tr, tr.Module("kernels.ptx", kernels))
	trace, err := tr.Finish()
	require.NoError(t, err)
	return trace.Graph
}

// layout is the layout of a machine of equal devices.
func layout(t testing.TB, ranks, devices int) *distribute.Layout {
	m, err := machine.Uniform(ranks, devices, "h200")
	require.NoError(t, err)
	return distribute.LayoutOf(m)
}

// wave is two steps of a stencil on an n x n grid.
func wave(n int) func(*tracer.Tracer, *tracer.Module) {
	return func(tr *tracer.Tracer, m *tracer.Module) {
		k := m.Kernel("stencil")
		u := tr.Alloc("u", ir.I32, int64(n*n), ir.InOut)
		v := tr.Alloc("v", ir.I32, int64(n*n), ir.InOut)
		blocks := uint32((n + 7) / 8)
		shape := tracer.Shape{Grid: ir.Dim3{X: blocks, Y: blocks, Z: 1}, Block: ir.Dim3{X: 8, Y: 8, Z: 1}}
		tr.Launch(k, shape, u, v, n)
		tr.Launch(k, shape, v, u, n)
	}
}
