package tracer_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// matrixTrace records launches of kernels on tiles of matrices. x has 64 rows of 96 elements.
func matrixTrace(t *testing.T, record func(tr *tracer.Tracer, k func(string, ...string) *tracer.Kernel, x tracer.Buffer)) *ir.Graph {
	source, err := os.ReadFile("../internal/interp/testdata/matrix.ptx")
	require.NoError(t, err)
	tr := tracer.New(null.New(), "matrix", tracer.Deferred)
	m := tr.Module("matrix.ptx", string(source))
	record(tr, m.Kernel, tr.Alloc("x", ir.F32, 64*96, ir.InOut))
	trace, err := tr.Finish()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, trace.Close()) })
	return trace.Graph
}

// usesOf returns the accesses of the launches in the text of a graph.
func usesOf(g *ir.Graph) []string {
	return regexp.MustCompile(`uses\([^)]*\)`).FindAllString(ir.Print(g), -1)
}

var (
	tileGrid = tracer.Shape{Grid: ir.Dim3{X: 2, Y: 8, Z: 1}, Block: ir.Dim3{X: 32, Y: 8, Z: 1}}
	rowGrid  = tracer.Shape{Grid: ir.Dim3{X: 3, Y: 8, Z: 1}, Block: ir.Dim3{X: 32, Y: 8, Z: 1}}
)

// TestColumnTilesAreIndependent splits a matrix into tiles, which share no byte although their ranges overlap. A column
// depends on the tiles that it crosses.
func TestColumnTilesAreIndependent(t *testing.T) {
	g := matrixTrace(t, func(tr *tracer.Tracer, k func(string, ...string) *tracer.Kernel, x tracer.Buffer) {
		tr.Launch(k("scale"), tileGrid, x, 96, 0, 0, 64, 48)   // the left half
		tr.Launch(k("scale"), tileGrid, x, 96, 0, 48, 64, 48)  // the right half
		tr.Launch(k("scale"), tileGrid, x, 96, 32, 16, 32, 16) // a tile of the left half
		tr.Launch(k("column"), tracer.Linear(2, 32), x, 96, 48, 64)
		tr.Launch(k("scale"), rowGrid, x.Slice(96, 64*96), 96, 0, 0, 63, 96) // whole rows
	})
	assert.Equal(t, []string{
		"uses(readwrite @x[0:24384, 192 every 384])",
		"uses(readwrite @x[192:24576, 192 every 384])",
		"uses(readwrite @x[12352:24320, 64 every 384])",
		"uses(write @x[192:24388, 4 every 384])",
		"uses(readwrite @x[384:24576])",
	}, usesOf(g))
	assert.Equal(t, []string{"0-2", "1-3", "0-4", "1-4", "2-4", "3-4"}, conflicts(g))
}

// TestProductsOfTiles multiplies rows of a matrix by columns of another.
func TestProductsOfTiles(t *testing.T) {
	g := matrixTrace(t, func(tr *tracer.Tracer, k func(string, ...string) *tracer.Kernel, x tracer.Buffer) {
		a := tr.Alloc("a", ir.F32, 16*64, ir.Input)
		c := tr.Alloc("c", ir.F32, 16*96, ir.Output)
		blocks := tracer.Shape{Grid: ir.Dim3{X: 4, Y: 1, Z: 1}, Block: ir.Dim3{X: 8, Y: 8, Z: 1}}
		for row := range int64(2) {
			for column := range int64(3) {
				tr.Launch(k("product"), blocks, a.Slice(512*row, 1024), x.Slice(32*column, 64*96), c.Slice(768*row+32*column, 16*96), 64, 96)
			}
		}
	})
	assert.Empty(t, conflicts(g))
	assert.Equal(t, "uses(read @a[2048:4096], read @x[128:24448, 128 every 384], write @c[3200:6016, 128 every 384])", usesOf(g)[4])
}

// TestStridesInBodies records tiles in the body of a loop. The loop has the ranges of its body.
func TestStridesInBodies(t *testing.T) {
	g := matrixTrace(t, func(tr *tracer.Tracer, k func(string, ...string) *tracer.Kernel, x tracer.Buffer) {
		tr.Loop(x.Slice(0, 1), ir.Above, 1e6, tracer.Limits{Iterations: 5}, func() {
			tr.Launch(k("scale"), tileGrid, x, 96, 0, 0, 64, 48)
			tr.Launch(k("scale"), tileGrid, x, 96, 0, 48, 64, 48)
		})
		tr.Launch(k("column"), tracer.Linear(2, 32), x, 96, 48, 64)
	})
	assert.Equal(t, []ir.Access{{Range: ir.Range{Hi: 24576}, Mode: ir.ReadWrite}}, g.Ops[0].Uses)
	body := g.Ops[0].Control.Bodies[0]
	assert.Equal(t, g.Shapes, body.Shapes)
	assert.Empty(t, conflicts(body))
}
