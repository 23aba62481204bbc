package kernels

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/ir"
)

// requireLinear checks that a shape function passes blocks and threads through,
// refuses what no GPU takes, and names the kernel when it does.
func requireLinear(t *testing.T, kernel string, shape func(blocks, threads, n int) (Shape, error)) {
	t.Helper()
	for _, n := range []int{0, 1, 700_000_000} {
		got, err := shape(448, 256, n)
		require.NoError(t, err)
		assert.Equal(t, Shape{Grid: ir.Dim3{X: 448, Y: 1, Z: 1}, Block: ir.Dim3{X: 256, Y: 1, Z: 1}}, got)
	}
	for _, bad := range [][3]int{
		{0, 32, 8}, {-1, 32, 8}, {math.MaxInt32 + 1, 32, 8},
		{8, 0, 8}, {8, -32, 8}, {8, 1056, 8},
		{8, 32, -1}, {8, 32, math.MaxInt32}, {8, 32, math.MaxInt32 - 8*32 + 1},
	} {
		_, err := shape(bad[0], bad[1], bad[2])
		assert.ErrorContains(t, err, kernel+": ", "blocks, threads, n = %v", bad)
	}
	_, err := shape(8, 32, math.MaxInt32-8*32)
	assert.NoError(t, err, "the last index the grid can step past")
}

// requireWarps is requireLinear for kernels that shuffle within whole warps.
func requireWarps(t *testing.T, kernel string, shape func(blocks, threads, n int) (Shape, error)) {
	t.Helper()
	requireLinear(t, kernel, shape)
	_, err := shape(8, 48, 100)
	assert.EqualError(t, err, kernel+": 48 threads per block: its warp shuffles need a multiple of 32")
}

// requireRows is requireLinear for kernels that take rows of n x width matrices.
func requireRows(t *testing.T, kernel string, shape func(blocks, threads, n, width int) (Shape, error)) {
	t.Helper()
	requireLinear(t, kernel, func(blocks, threads, n int) (Shape, error) { return shape(blocks, threads, n, 1) })
	_, err := shape(8, 32, 10_737_418, 200)
	assert.NoError(t, err, "the last matrix that 31 bits count")
	_, err = shape(8, 32, 10_737_419, 200)
	assert.EqualError(t, err, kernel+": 10737419 x 200 elements exceed the kernel's 32-bit index: split the data")
}

// requirePlane checks a shape function over images.
func requirePlane(t *testing.T, kernel string, shape func(blocks, side, rows, cols int) (Shape, error)) {
	t.Helper()
	for _, size := range [][2]int{{0, 0}, {1, 1}, {16000, 16000}, {0, 7}} {
		got, err := shape(16, 8, size[0], size[1])
		require.NoError(t, err)
		got.Shared = 0
		assert.Equal(t, Shape{Grid: ir.Dim3{X: 16, Y: 16, Z: 1}, Block: ir.Dim3{X: 8, Y: 8, Z: 1}}, got)
	}
	for _, bad := range [][4]int{
		{0, 8, 9, 9}, {65536, 8, 9, 9},
		{16, 0, 9, 9}, {16, 33, 9, 9},
		{16, 8, -1, 9}, {16, 8, 9, -1},
		{16, 8, math.MaxInt32, 1}, {16, 8, 1, math.MaxInt32}, {16, 8, 46341, 46341},
	} {
		_, err := shape(bad[0], bad[1], bad[2], bad[3])
		assert.ErrorContains(t, err, kernel+": ", "blocks, side, rows, cols = %v", bad)
	}
}

func TestShapeErrorsNameTheRemedy(t *testing.T) {
	_, err := SquareShape(0, 32, 8)
	assert.EqualError(t, err, "square: 0 blocks: use 1 to 2147483647")
	_, err = SquareShape(8, 2048, 8)
	assert.EqualError(t, err, "square: 2048 threads per block: use 1 to 1024")
	_, err = SquareShape(8, 32, -1)
	assert.EqualError(t, err, "square: n is -1: it must not be negative")
	_, err = SquareShape(8, 32, math.MaxInt32)
	assert.EqualError(t, err, "square: n = 2147483647 with 256 threads along it overflows the kernel's 32-bit index: launch fewer threads or split the data")
	_, err = SobelShape(8, 33, 9, 9)
	assert.EqualError(t, err, "sobel: blocks of 33 x 33 threads: use a side of 1 to 32")
	_, err = SobelShape(8, 8, 50000, 50000)
	assert.EqualError(t, err, "sobel: 50000 x 50000 pixels exceed the kernel's 32-bit index: split the image")
}

// requireWindow checks the refusals of a shape function over the places of a window
// with one channel and stride 1.
func requireWindow(t *testing.T, kernel string, shape func(blocks, side, rows, cols int) (Shape, error)) {
	t.Helper()
	_, err := shape(528, 8, 46340, 46340)
	assert.NoError(t, err)
	for _, bad := range [][4]int{
		{0, 8, 9, 9}, {65536, 8, 9, 9},
		{16, 0, 9, 9}, {16, 33, 9, 9},
		{16, 8, -1, 9}, {16, 8, 9, -1},
		{16, 8, math.MaxInt32, 1}, {16, 8, 1, math.MaxInt32}, {16, 8, 46341, 46341},
	} {
		_, err := shape(bad[0], bad[1], bad[2], bad[3])
		assert.ErrorContains(t, err, kernel+": ", "blocks, side, rows, cols = %v", bad)
	}
}

func TestWindowsHaveADiameterAndAStride(t *testing.T) {
	for _, w := range []Window{{9, 9, 1, 0, 1}, {9, 9, 1, 3, 0}} {
		_, err := MeanPoolingShape(8, 4, w)
		assert.ErrorContains(t, err, "mean_pooling: a window of diameter")
		_, err = Conv2DShape(8, 4, w, 1)
		assert.ErrorContains(t, err, "both are at least 1")
	}
}

// requirePaddedWindow checks a shape function over the places of a padded window with side 3.
func requirePaddedWindow(t *testing.T, kernel string, shape func(blocks, threads int, w PaddedWindow) (Shape, error)) {
	t.Helper()
	for _, c := range []struct {
		w             PaddedWindow
		x, y, threads uint32
	}{
		{PaddedWindow{64, 1, 56, 56, 3, 1, 1}, 13, 64, 256},
		{PaddedWindow{64, 1, 57, 56, 3, 2, 1}, 4, 64, 256},
		{PaddedWindow{512, 1, 7, 7, 3, 1, 1}, 1, 512, 64},
		{PaddedWindow{1, 1, 1, 1, 3, 1, 1}, 1, 1, 32},
		{PaddedWindow{3, 1, 400, 400, 3, 1, 1}, 448, 3, 256},
		{PaddedWindow{70000, 1, 2, 2, 3, 1, 1}, 1, 65535, 32},
	} {
		got, err := shape(448, 256, c.w)
		require.NoError(t, err)
		assert.Equal(t, Shape{Grid: ir.Dim3{X: c.x, Y: c.y, Z: 1}, Block: ir.Dim3{X: c.threads, Y: 1, Z: 1}}, got, "%+v", c.w)
	}
	for _, w := range []PaddedWindow{
		{0, 1, 9, 9, 3, 1, 1}, {1, 0, 9, 9, 3, 1, 1}, {1, 1, 0, 9, 3, 1, 1}, {1, 1, 9, 0, 3, 1, 1}, {1, 1, 9, 9, 0, 1, 1},
		{1, 1, 9, 9, 3, 0, 1}, {1, 1, 9, 9, 3, 1, -1}, {46341, 1, 215, 216, 3, 1, 1},
	} {
		_, err := shape(8, 32, w)
		assert.ErrorContains(t, err, kernel+": ", "%+v", w)
	}
	for _, bad := range [][2]int{{0, 32}, {8, 0}, {8, 1025}} {
		_, err := shape(bad[0], bad[1], PaddedWindow{1, 1, 9, 9, 3, 1, 1})
		assert.ErrorContains(t, err, kernel+": ", "blocks, threads = %v", bad)
	}
}

func TestWindowsFitOnTheirImages(t *testing.T) {
	_, err := Im2colShape(8, 32, PaddedWindow{1, 1, 9, 4, 7, 1, 1})
	assert.EqualError(t, err, "im2col: a window with side 7 does not fit on 9 x 4 pixels with a padding of 1")
	_, err = Im2colShape(8, 32, PaddedWindow{1, 1, 9, 5, 7, 1, 1})
	assert.NoError(t, err)
}

// requireSummed checks a shape function over the sum of several matrices.
func requireSummed(t *testing.T, kernel string, shape func(blocks, threads, parts, channels, places int) (Shape, error)) {
	t.Helper()
	got, err := shape(448, 256, 9, 64, 3136)
	require.NoError(t, err)
	assert.Equal(t, Shape{Grid: ir.Dim3{X: 13, Y: 64, Z: 1}, Block: ir.Dim3{X: 256, Y: 1, Z: 1}}, got)
	_, err = shape(8, 32, 0, 1, 1)
	assert.EqualError(t, err, kernel+": 0 parts: at least 1 is needed")
	_, err = shape(8, 32, 2, 32768, 32768)
	assert.EqualError(t, err, kernel+": 65536 x 32768 elements exceed the kernel's 32-bit index: split the data")
	_, err = shape(8, 32, 1, -1, 5)
	assert.ErrorContains(t, err, kernel+": ")
	_, err = shape(0, 32, 1, 5, 5)
	assert.ErrorContains(t, err, kernel+": 0 blocks")
}
