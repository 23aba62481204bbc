package kernels

import (
	"fmt"
	"math"

	"github.com/reprise-gpu/reprise/ir"
)

// Product is a product of matrices for the gemm kernels: c[M][N] is the product of a[K][M], transposed, and b[K][N].
// Each sum over K is split into parts of Depth terms, which go to matrices of their own.
type Product struct{ M, N, K, Depth int }

// Parts returns the number of matrices that the product writes.
func (p Product) Parts() int { return (p.K + p.Depth - 1) / p.Depth }

// shape is the shape of a kernel with a block of that many threads for each rows x cols elements.
func (p Product) shape(kernel string, rows, cols, threads int) (Shape, error) {
	if p.M < 1 || p.N < 1 || p.K < 1 || p.Depth < 1 {
		return Shape{}, fmt.Errorf("%s: a product of %d x %d x %d elements in parts of %d: each is at least 1", kernel, p.M, p.N, p.K, p.Depth)
	}
	grid := ir.Dim3{X: tiles(math.MaxInt32, cols, p.N), Y: tiles(math.MaxInt32, rows, p.M), Z: uint32(p.Parts())}
	if grid.Y > maxGridY || grid.Z > maxGridY {
		return Shape{}, fmt.Errorf("%s: a grid of %d x %d x %d blocks: use at most %d along y and z", kernel, grid.X, grid.Y, grid.Z, maxGridY)
	}
	for _, m := range [][2]int{{p.K + maxStaged, p.M}, {p.K + maxStaged, p.N}, {p.Parts() * p.M, p.N}} {
		if err := checkMatrix(kernel, m[0], m[1]); err != nil {
			return Shape{}, err
		}
	}
	return Shape{Grid: grid, Block: ir.Dim3{X: uint32(threads), Y: 1, Z: 1}}, nil
}

// maxStaged is the greatest number of rows of a and b that a block stages, and by which its index exceeds K.
const maxStaged = 64
