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

// rows is linear for kernels that take whole rows of matrices n x width.
func rows(kernel string, blocks, threads, n, width int) (Shape, error) {
	if err := checkMatrix(kernel, n, width); err != nil {
		return Shape{}, err
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

// Window is a square window that a kernel moves over an image in strides.
type Window struct {
	Rows, Cols, Channels int // of the image
	Diameter, Stride     int
}

// Out is the extent of what the kernel makes of the image.
func (w Window) Out() (rows, cols int) { return w.Rows / w.Stride, w.Cols / w.Stride }

// shape is a two-dimensional shape over the places of the window, each with depth
// results: side x side threads a block, and along each axis as many blocks as cover
// it, if those are not more than blocks.
func (w Window) shape(kernel string, blocks, side, depth int) (Shape, error) {
	if w.Diameter < 1 || w.Stride < 1 {
		return Shape{}, fmt.Errorf("%s: a window of diameter %d and stride %d: both are at least 1", kernel, w.Diameter, w.Stride)
	}
	if err := checkMatrix(kernel, w.Rows, w.Cols*w.Channels); err != nil {
		return Shape{}, err
	}
	rows, cols := w.Out()
	if err := checkMatrix(kernel, rows, cols*depth); err != nil {
		return Shape{}, err
	}
	shape, err := plane(kernel, blocks, side, rows, cols)
	if err != nil {
		return Shape{}, err
	}
	shape.Grid.X, shape.Grid.Y = tiles(blocks, side, rows), tiles(blocks, side, cols)
	return shape, nil
}

// PaddedWindow is a square window that a kernel moves over images in strides. It exceeds the images by Pad pixels on
// each side. Data are ordered by channel, image, row and column.
type PaddedWindow struct {
	Channels, Images, Rows, Cols int
	Side, Stride, Pad            int
}

// Out is the extent of what the kernel makes of an image.
func (w PaddedWindow) Out() (rows, cols int) {
	return (w.Rows+2*w.Pad-w.Side)/w.Stride + 1, (w.Cols+2*w.Pad-w.Side)/w.Stride + 1
}

// columns checks the window and returns the extent of a matrix with a column for each place of the window.
func (w PaddedWindow) columns(kernel string) (rows, places int, err error) {
	if w.Channels < 1 || w.Images < 1 || w.Rows < 1 || w.Cols < 1 || w.Side < 1 || w.Stride < 1 || w.Pad < 0 {
		return 0, 0, fmt.Errorf("%s: a window %+v: each is at least 1, Pad at least 0", kernel, w)
	}
	if w.Side > min(w.Rows, w.Cols)+2*w.Pad {
		return 0, 0, fmt.Errorf("%s: a window with side %d does not fit on %d x %d pixels with a padding of %d", kernel, w.Side, w.Rows, w.Cols, w.Pad)
	}
	if err := checkMatrix(kernel, w.Channels*w.Images*w.Rows, w.Cols); err != nil {
		return 0, 0, err
	}
	high, wide := w.Out()
	if err := checkMatrix(kernel, w.Channels*w.Images*high, wide); err != nil {
		return 0, 0, err
	}
	return w.Channels * w.Side * w.Side, w.Images * high * wide, nil
}

// summed is planes for kernels that add several matrices of channels x places.
func summed(kernel string, blocks, threads, parts, channels, places int) (Shape, error) {
	if parts < 1 {
		return Shape{}, fmt.Errorf("%s: %d parts: at least 1 is needed", kernel, parts)
	}
	if err := checkMatrix(kernel, parts*channels, places); err != nil {
		return Shape{}, err
	}
	return planes(kernel, blocks, threads, channels, places)
}

// planes is a shape over the places of several planes: along x as many blocks of at most that many threads as cover the
// places, if those are not more than blocks, and along y the planes.
func planes(kernel string, blocks, threads, planes, places int) (Shape, error) {
	if err := checkMatrix(kernel, planes, places); err != nil {
		return Shape{}, err
	}
	shape, err := linear(kernel, blocks, threads, places)
	if err != nil {
		return Shape{}, err
	}
	threads = max(1, min(threads, (places+warpSize-1)/warpSize*warpSize))
	shape.Block.X = uint32(threads)
	shape.Grid.X, shape.Grid.Y = tiles(blocks, threads, places), uint32(max(1, min(planes, maxGridY)))
	return shape, nil
}

// tiles is how many blocks of that side cover an axis, at most blocks.
func tiles(blocks, side, extent int) uint32 {
	return uint32(max(1, min(blocks, (extent+side-1)/side)))
}

// checkMatrix checks that the elements of a matrix can be counted in 32 bits.
func checkMatrix(kernel string, rows, cols int) error {
	switch {
	case rows < 0 || cols < 0:
		return fmt.Errorf("%s: a matrix of %d x %d elements: neither may be negative", kernel, rows, cols)
	case cols > 0 && rows > math.MaxInt32/cols:
		return fmt.Errorf("%s: %d x %d elements exceed the kernel's 32-bit index: split the data", kernel, rows, cols)
	}
	return nil
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
