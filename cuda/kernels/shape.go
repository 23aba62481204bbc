package kernels

import (
	"fmt"
	"math"

	"github.com/reprise-gpu/reprise/ir"
)

// Limits that every GPU since compute capability 3.0 shares.
const (
	warpSize       = 32
	maxThreads     = 1024
	maxGridY       = 65535 // x goes to 2^31-1
	maxSharedBytes = 48 << 10
)

// Shape is what a launch needs beside its arguments.
type Shape struct {
	Grid, Block ir.Dim3
	Shared      uint32 // dynamic shared memory, bytes
}

// linear is a one-dimensional shape over n elements.
func linear(kernel string, blocks, threads, n int) (Shape, error) {
	if threads < 1 || threads > maxThreads {
		return Shape{}, fmt.Errorf("%s: %d threads per block: use 1 to %d", kernel, threads, maxThreads)
	}
	if err := checkAxis(kernel, "blocks", "n", blocks, threads, n, math.MaxInt32); err != nil {
		return Shape{}, err
	}
	return Shape{
		Grid:  ir.Dim3{X: uint32(blocks), Y: 1, Z: 1},
		Block: ir.Dim3{X: uint32(threads), Y: 1, Z: 1},
	}, nil
}

// warps is linear for kernels whose shuffles name all 32 lanes of a warp.
func warps(kernel string, blocks, threads, n int) (Shape, error) {
	if threads%warpSize != 0 {
		return Shape{}, fmt.Errorf("%s: %d threads per block: its warp shuffles need a multiple of %d", kernel, threads, warpSize)
	}
	return linear(kernel, blocks, threads, n)
}

// plane is a two-dimensional shape over rows x cols pixels: blocks x blocks of
// side x side threads.
func plane(kernel string, blocks, side, rows, cols int) (Shape, error) {
	if side < 1 || side*side > maxThreads {
		return Shape{}, fmt.Errorf("%s: blocks of %d x %d threads: use a side of 1 to 32", kernel, side, side)
	}
	if err := checkAxis(kernel, "blocks per side", "rows", blocks, side, rows, maxGridY); err != nil {
		return Shape{}, err
	}
	if err := checkAxis(kernel, "blocks per side", "cols", blocks, side, cols, maxGridY); err != nil {
		return Shape{}, err
	}
	if cols > 0 && rows > math.MaxInt32/cols {
		return Shape{}, fmt.Errorf("%s: %d x %d pixels exceed the kernel's 32-bit index: split the image", kernel, rows, cols)
	}
	return Shape{
		Grid:  ir.Dim3{X: uint32(blocks), Y: uint32(blocks), Z: 1},
		Block: ir.Dim3{X: uint32(side), Y: uint32(side), Z: 1},
	}, nil
}

// checkAxis checks one axis of a shape: the grid's extent, and that the index
// of its last thread can step past the end without overflow.
func checkAxis(kernel, what, extent string, blocks, threads, n, maxBlocks int) error {
	switch {
	case blocks < 1 || blocks > maxBlocks:
		return fmt.Errorf("%s: %d %s: use 1 to %d", kernel, blocks, what, maxBlocks)
	case n < 0:
		return fmt.Errorf("%s: %s is %d: it must not be negative", kernel, extent, n)
	case n > math.MaxInt32-blocks*threads:
		return fmt.Errorf("%s: %s = %d with %d threads along it overflows the kernel's 32-bit index: launch fewer threads or split the data",
			kernel, extent, n, blocks*threads)
	}
	return nil
}
