package sim_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/ptx/access"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// The kernels of testdata/kernels are written as people write them, compiled by
// nvcc, and compared here with what the CPU computes in another way: exactly for
// integers, in float64 and with a stated tolerance for the rest.

// gpu is a simulated device with one file of testdata/kernels loaded.
type gpu struct {
	*sim.Device
	t      testing.TB
	module device.Module
	tree   *ptx.Module
	stream device.Stream
}

// onEachBuild runs f once for each .ptx made from the source stem.cu.
func onEachBuild(t *testing.T, stem string, f func(t *testing.T, g *gpu)) {
	t.Helper()
	files, err := filepath.Glob("testdata/kernels/" + stem + "*.ptx")
	require.NoError(t, err)
	ran := false
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".ptx")
		if of, _, _ := strings.Cut(name, "."); of != stem {
			continue
		}
		ran = true
		t.Run(name, func(t *testing.T) { f(t, load(t, name)) })
	}
	require.True(t, ran, "no PTX of %s.cu", stem)
}

// load opens a device and loads testdata/kernels/name.ptx. A race or a read of what was
// never written fails the test.
func load(t testing.TB, name string) *gpu {
	t.Helper()
	file := name + ".ptx"
	text, err := os.ReadFile("testdata/kernels/" + file)
	require.NoError(t, err)
	return loadWith(t, sim.Options{Race: sim.RaceOn}, file, string(text))
}

func loadWith(t testing.TB, o sim.Options, file, text string) *gpu {
	t.Helper()
	g := loadFaulty(t, o, file, text)
	t.Cleanup(func() {
		for _, f := range g.Findings() {
			t.Error(f)
		}
	})
	return g
}

// loadFaulty is loadWith for a module that is expected to race.
func loadFaulty(t testing.TB, o sim.Options, file, text string) *gpu {
	t.Helper()
	o.Workers = workers
	d, err := sim.New(o)
	require.NoError(t, err)
	g := &gpu{Device: d, t: t}
	g.tree, err = ptx.Parse(file, text)
	require.NoError(t, err)
	g.module, err = d.LoadModule(file, text)
	require.NoError(t, err)
	g.stream, err = d.CreateStream(0)
	require.NoError(t, err)
	return g
}

// shape is the extents of a launch.
type shape struct {
	grid, block device.Dim3
	shared      uint32 // dynamic, bytes
	cooperative bool
}

// line is a one-dimensional launch.
func line(blocks, threads int) shape {
	return shape{grid: device.Dim3{X: uint32(blocks), Y: 1, Z: 1}, block: device.Dim3{X: uint32(threads), Y: 1, Z: 1}}
}

// plane is a two-dimensional launch.
func plane(bx, by, tx, ty int) shape {
	return shape{grid: device.Dim3{X: uint32(bx), Y: uint32(by), Z: 1}, block: device.Dim3{X: uint32(tx), Y: uint32(ty), Z: 1}}
}

// together is a cooperative launch of the shape.
func (s shape) together() shape {
	s.cooperative = true
	return s
}

// over is the same block in another grid.
func (s shape) over(x, y int) shape {
	s.grid = device.Dim3{X: uint32(x), Y: uint32(y), Z: 1}
	return s
}

// cover is how many blocks of size b it takes to have n threads; at least one, since
// a grid may not be empty.
func cover(n, b int) int { return max(1, (n+b-1)/b) }

// launch enqueues a kernel. Arguments are arrays, fixed-size Go numbers, or
// structs of them; each must have its parameter's size.
func (g *gpu) launch(kernel string, s shape, args ...any) {
	g.t.Helper()
	f, err := g.Function(g.module, kernel)
	require.NoError(g.t, err)
	l := &device.Launch{Function: f, Grid: s.grid, Block: s.block, Shared: s.shared, Params: g.params(kernel, args), Label: kernel, Cooperative: s.cooperative}
	require.NoError(g.t, g.Submit(g.stream, l))
}

// fails launches a kernel that must fault, and returns the fault.
func (g *gpu) fails(kernel string, s shape, args ...any) error {
	g.t.Helper()
	g.launch(kernel, s, args...)
	err := g.Synchronize(g.stream)
	require.Error(g.t, err)
	return err
}

func (g *gpu) params(kernel string, args []any) []byte {
	f := g.tree.Func(kernel)
	block := make([]byte, f.ParamBytes())
	infos := access.Signature(g.tree, f)
	require.Len(g.t, args, len(infos), "arguments of %s", kernel)
	for i, p := range infos {
		arg := args[i]
		if a, ok := arg.(interface{ address() device.Ptr }); ok {
			arg = uint64(a.address())
		}
		b, err := binary.Append(nil, binary.LittleEndian, arg)
		require.NoError(g.t, err)
		require.Len(g.t, b, int(p.Size), "argument %d of %s", i, kernel)
		copy(block[p.Offset:], b)
	}
	return block
}

// array is device memory that holds elements of one type.
type array[T any] struct {
	g  *gpu
	at device.Ptr
	n  int
}

func (a array[T]) address() device.Ptr { return a.at }

// up copies values to new device memory.
func up[T any](g *gpu, v []T) array[T] {
	g.t.Helper()
	b := bytesOf(v)
	p, err := g.Alloc(int64(len(b)))
	require.NoError(g.t, err)
	if len(b) > 0 {
		require.NoError(g.t, g.Write(p, b))
	}
	return array[T]{g, p, len(v)}
}

// variable fills a variable of the module.
func variable[T any](g *gpu, name string, v []T) {
	g.t.Helper()
	p, size, err := g.Global(g.module, name)
	require.NoError(g.t, err)
	b := bytesOf(v)
	require.Len(g.t, b, int(size), name)
	require.NoError(g.t, g.Write(p, b))
}

// zeros is n zero elements.
func zeros[T any](g *gpu, n int) array[T] {
	g.t.Helper()
	return up(g, make([]T, n))
}

// down waits for the device and copies the array back.
func (a array[T]) down() []T {
	a.g.t.Helper()
	v := make([]T, a.n)
	require.NoError(a.g.t, a.g.SynchronizeAll())
	if b := bytesOf(v); len(b) > 0 {
		require.NoError(a.g.t, a.g.Read(b, a.at))
		if results != nil {
			results.add(b, a.g.Now())
		}
	}
	return v
}

func bytesOf[T any](v []T) []byte {
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(zero)))
}

// random is n floats in [-1, 1).
func random[T float32 | float64](n int, seed uint64) []T {
	rng := rand.New(rand.NewPCG(seed, 1))
	v := make([]T, n)
	for i := range v {
		v[i] = T(2*rng.Float64() - 1)
	}
	return v
}

// words is n words below limit; 0 is no limit.
func words(n int, limit uint32, seed uint64) []uint32 {
	rng := rand.New(rand.NewPCG(seed, 2))
	v := make([]uint32, n)
	for i := range v {
		if v[i] = rng.Uint32(); limit > 0 {
			v[i] %= limit
		}
	}
	return v
}

// within demands |got-want| <= tolerance(i) for each element; a NaN matches a NaN.
func within[T float32 | float64](t testing.TB, want []float64, got []T, tolerance func(i int) float64, what ...any) {
	t.Helper()
	require.Len(t, got, len(want), what...)
	for i, w := range want {
		x := float64(got[i])
		if x == w || math.IsNaN(x) && math.IsNaN(w) {
			continue
		}
		if d := math.Abs(x - w); !(d <= tolerance(i)) {
			require.FailNow(t, fmt.Sprintf("element %d of %d is %v, want %v: off by %.3g, allowed %.3g", i, len(want), x, w, d, tolerance(i)), what...)
		}
	}
}

// always is the same tolerance for every element.
func always(tolerance float64) func(int) float64 { return func(int) float64 { return tolerance } }
