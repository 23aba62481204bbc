package interp

import (
	"encoding/binary"
	"math"
	"os"
	"testing"
	"unsafe"

	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/stretchr/testify/require"
)

// device is a module loaded into a memory of its own.
type device struct {
	t   testing.TB
	mem *Memory
	mod *Module
}

func open(t testing.TB, file, src string) *device {
	t.Helper()
	m, err := ptx.Parse(file, src)
	require.NoError(t, err)
	mem := NewMemory(1 << 30)
	mod, err := LoadModule(mem, m)
	require.NoError(t, err)
	return &device{t, mem, mod}
}

// openKernels loads the kernels that nvcc compiled from testdata/kernels.cu.
func openKernels(t testing.TB) *device {
	src, err := os.ReadFile("testdata/kernels.ptx")
	require.NoError(t, err)
	return open(t, "kernels.ptx", string(src))
}

// buffer allocates and fills device memory.
func buffer[T any](d *device, name string, v []T) uint64 {
	var z T
	addr, err := d.mem.Alloc(int64(len(v))*int64(unsafe.Sizeof(z)), name)
	require.NoError(d.t, err)
	copy(contents[T](d, addr), v)
	return addr
}

// contents is the whole allocation at addr.
func contents[T any](d *device, addr uint64) []T {
	_, size, ok := d.mem.Base(addr)
	require.True(d.t, ok)
	data, err := d.mem.Bytes(addr, size)
	require.NoError(d.t, err)
	var z T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(data))), size/int64(unsafe.Sizeof(z)))
}

// params lays out a parameter block at natural alignment.
func params(args ...any) []byte {
	var b []byte
	for _, a := range args {
		n := binary.Size(a)
		for len(b)%n != 0 {
			b = append(b, 0)
		}
		b, _ = binary.Append(b, binary.LittleEndian, a)
	}
	return b
}

func (d *device) kernel(name string) *Kernel {
	k, err := d.mod.Kernel(name)
	require.NoError(d.t, err)
	return k
}

func (d *device) run(name string, l Launch) Stats {
	d.t.Helper()
	s, f := d.kernel(name).Run(d.mem, l)
	if f != nil {
		require.NoError(d.t, f)
	}
	return s
}

func random(n int, seed uint32) []float32 {
	v := make([]float32, n)
	for i := range v {
		seed = seed*1664525 + 1013904223
		v[i] = float32(seed>>8) / (1 << 24)
	}
	return v
}

func dims(x, y, z uint32) [3]uint32 { return [3]uint32{x, y, z} }

func TestSquare(t *testing.T) {
	d := openKernels(t)
	const n = 1000
	x := random(n, 1)
	xs, ys := buffer(d, "x", x), buffer(d, "y", make([]float32, n))
	d.run("square", Launch{Grid: dims(7, 1, 1), Block: dims(32, 1, 1), Params: params(xs, ys, int32(n))})
	for i, got := range contents[float32](d, ys) {
		require.Equal(t, x[i]*x[i], got)
	}
}

func TestReduceSubtractsAndAdds(t *testing.T) {
	d := openKernels(t)
	const n = 10_001
	x, y := random(n, 1), random(n, 2)
	z := buffer(d, "z", make([]float32, 1))
	d.run("reduce", Launch{Grid: dims(8, 1, 1), Block: dims(96, 1, 1),
		Params: params(buffer(d, "x", x), buffer(d, "y", y), z, int32(n))})
	var want float64
	for i := range x {
		want += float64(x[i]) - float64(y[i])
	}
	require.InDelta(t, want, contents[float32](d, z)[0], 1e-2)
}

func TestMaximumByCompareAndSwap(t *testing.T) {
	d := openKernels(t)
	const n = 5003
	x := random(n, 3)
	out := buffer(d, "out", []float32{-1000})
	d.run("maxk", Launch{Grid: dims(8, 1, 1), Block: dims(64, 1, 1), Params: params(buffer(d, "in", x), out, int32(n))})
	want := float32(-1000)
	for _, v := range x {
		want = max(want, v)
	}
	require.Equal(t, want, contents[float32](d, out)[0])
}

func TestBlurAndSobel(t *testing.T) {
	d := openKernels(t)
	const rows, cols, diameter = 37, 29, 5
	image, weights := random(rows*cols, 4), random(diameter*diameter, 5)
	img, res := buffer(d, "image", image), buffer(d, "result", make([]float32, rows*cols))
	d.run("blur", Launch{Grid: dims(3, 3, 1), Block: dims(8, 8, 1), Shared: 4 * diameter * diameter,
		Params: params(img, res, int32(rows), int32(cols), buffer(d, "kernel", weights), int32(diameter))})
	at := func(i, j int) (float64, bool) {
		if i < 0 || j < 0 || i >= rows || j >= cols {
			return 0, false
		}
		return float64(image[i*cols+j]), true
	}
	for i := range rows {
		for j := range cols {
			var want float64
			for x := -2; x <= 2; x++ {
				for y := -2; y <= 2; y++ {
					v, _ := at(i+x, j+y)
					want += v * float64(weights[(x+2)*diameter+y+2])
				}
			}
			require.InDelta(t, want, contents[float32](d, res)[i*cols+j], 1e-4, "pixel %d,%d", i, j)
		}
	}
	d.run("sobel", Launch{Grid: dims(3, 3, 1), Block: dims(8, 8, 1), Params: params(img, res, int32(rows), int32(cols))})
	sx := [3][3]float64{{-1, -2, -1}, {0, 0, 0}, {1, 2, 1}}
	for i := range rows {
		for j := range cols {
			var gx, gy float64
			for x := range 3 {
				for y := range 3 {
					v, _ := at(i+x-1, j+y-1)
					gx += v * sx[x][y]
					gy += v * sx[y][x]
				}
			}
			require.InDelta(t, math.Hypot(gx, gy), contents[float32](d, res)[i*cols+j], 1e-4, "pixel %d,%d", i, j)
		}
	}
}

func TestMathLibrary(t *testing.T) {
	d := openKernels(t)
	const n = 4096
	x := random(n, 6)
	ys := buffer(d, "y", make([]float32, n))
	d.run("expk", Launch{Grid: dims(n/128, 1, 1), Block: dims(128, 1, 1), Params: params(buffer(d, "x", x), ys, int32(n))})
	for i, got := range contents[float32](d, ys) {
		v := float64(x[i])
		want := math.Exp(v) + math.Log(v+1) + math.Sin(v)*math.Tanh(v) + math.Pow(v, float64(float32(1.3)))
		require.InEpsilon(t, want, float64(got), 1e-6)
	}
	wide := make([]float64, n)
	for i := range wide {
		wide[i] = float64(x[i]) + 0.1
	}
	yd := buffer(d, "yd", make([]float64, n))
	d.run("bs", Launch{Grid: dims(4, 1, 1), Block: dims(128, 1, 1), Params: params(buffer(d, "xd", wide), yd, int32(n))})
	for i, got := range contents[float64](d, yd) {
		d1 := math.Log(wide[i]) + 0.2
		want := math.Exp(d1)*0.5*math.Erfc(-d1/math.Sqrt2) + math.Pow(wide[i], 1.5) + math.Sin(wide[i]*1e6)
		require.InDelta(t, want, got, 1e-12)
	}
}

// Blocks run in order, since the kernel has atomics, so each sees the counts
// of all before it.
func TestSpinLockAmongLanesOfAWarp(t *testing.T) {
	d := openKernels(t)
	seen := buffer(d, "seen", make([]int32, 4))
	d.run("spinlock", Launch{Grid: dims(4, 1, 1), Block: dims(96, 1, 1), Params: params(seen)})
	require.Equal(t, []int32{96, 192, 288, 384}, contents[int32](d, seen))
	addr, size, err := d.mod.Global("counter")
	require.NoError(t, err)
	require.Equal(t, int64(4), size)
	require.Equal(t, []int32{384}, contents[int32](d, addr))
}

func TestModuleNamesWhatItLacks(t *testing.T) {
	d := openKernels(t)
	_, err := d.mod.Kernel("cube")
	require.EqualError(t, err, `interp: kernels.ptx has no kernel "cube"`)
	_, _, err = d.mod.Global("nothing")
	require.EqualError(t, err, `interp: kernels.ptx has no global variable "nothing"`)
	used := d.mem.Used()
	d.mod.Unload()
	require.Less(t, d.mem.Used(), used)
	require.Zero(t, d.mem.Used())
}

func TestKernelDescribesItsResources(t *testing.T) {
	d := openKernels(t)
	k := d.kernel("sobel")
	require.Equal(t, "sobel", k.Name())
	require.Equal(t, 72, k.SharedStatic())
	require.Equal(t, 24, k.ParamBytes())
	require.Equal(t, Param{"sobel_param_2", 16, 4}, k.Params()[2])
	require.Greater(t, k.Registers(), 12)
	require.Less(t, k.Registers(), 64)
	require.Zero(t, k.MaxThreads())
}

// .maxnreg bounds the registers, and thereby the number of blocks that fit on a
// multiprocessor.
func TestMaxRegistersAreKept(t *testing.T) {
	const head = ".version 7.8 .target sm_75 .address_size 64 .entry k() "
	const body = "{ .reg .b32 %r<64>; " +
		"mov.u32 %r1, %tid.x; ret; }"
	require.Equal(t, 8, kernelOf(t, head+body).Registers())
	require.Equal(t, 4, kernelOf(t, head+".maxnreg 4 "+body).Registers())
}

func kernelOf(t *testing.T, text string) *Kernel {
	m, err := ptx.Parse("k.ptx", text)
	require.NoError(t, err)
	mod, err := LoadModule(NewMemory(1<<20), m)
	require.NoError(t, err)
	k, err := mod.Kernel("k")
	require.NoError(t, err)
	return k
}
