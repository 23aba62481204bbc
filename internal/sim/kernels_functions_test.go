package sim_test

import (
	"math"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"
)

func ints(n int, limit uint32, seed uint64) []int32 {
	v := make([]int32, n)
	for i, w := range words(n, limit, seed) {
		v[i] = int32(w)
	}
	return v
}

func TestStructByValue(t *testing.T) {
	type vec struct {
		X, Y, Z float64
		Tag     int32
		_       int32
	}
	g := load(t, "functions")
	const n = 70
	a := vec{X: 1.5, Y: -2, Z: 0.25, Tag: 7}
	b, want := make([]vec, n), make([]vec, n)
	for i := range b {
		f := float64(i)
		b[i] = vec{X: f, Y: 2 - f, Z: f / 4, Tag: int32(i)}
		want[i] = vec{X: a.Y*b[i].Z - a.Z*b[i].Y, Y: a.Z*b[i].X - a.X*b[i].Z, Z: a.X*b[i].Y - a.Y*b[i].X, Tag: a.Tag - b[i].Tag}
	}
	out := zeros[vec](g, n)
	g.launch("cross_all", line(3, 32), a, up(g, b), out, int32(n))
	require.Equal(t, want, out.down())
}

func TestRecursion(t *testing.T) {
	g := load(t, "functions")
	type arguments struct{ M, N uint32 }
	var in []arguments
	var want []uint32
	for n := range uint32(8) {
		in = append(in, arguments{0, n}, arguments{1, n}, arguments{2, n}, arguments{3, n % 3})
		want = append(want, n+1, n+2, 2*n+3, 1<<(n%3+3)-3) // closed forms
	}
	out := zeros[uint32](g, len(in))
	g.launch("ackermann_all", line(1, len(in)), up(g, in), out)
	require.Equal(t, want, out.down())
}

func TestAdaptiveQuadrature(t *testing.T) {
	g := load(t, "functions")
	ends := []float64{-3, -1, -0.5, -0.01, 0.01, 0.02, 0.5, 4, 4, 100}
	n := len(ends) - 1
	integral, depth := zeros[float64](g, n), zeros[int32](g, n)
	g.launch("quadrature", line(1, 32), up(g, ends), integral, depth, int32(n))
	var want []float64
	for i := range n { // the integral of 1 / (1/100 + x²) is 10 atan 10x
		want = append(want, 10*math.Atan(10*ends[i+1])-10*math.Atan(10*ends[i]))
	}
	within(t, want, integral.down(), always(1e-8))
	depths := depth.down()
	require.Zero(t, depths[7], "nothing to integrate")
	require.Greater(t, depths[0], int32(3))
}

// operations are those of the kernel's table, in its order.
var operations = []func(a, b int32) int32{
	func(a, b int32) int32 { return a + b },
	func(a, b int32) int32 { return a - b },
	func(a, b int32) int32 { return a * b },
	func(a, b int32) int32 { return max(a, b) },
}

func TestFunctionPointers(t *testing.T) {
	g := load(t, "functions")
	const n = 150
	which, a, b := ints(n, 4, 1), ints(n, 0, 2), ints(n, 0, 3)
	want := make([]int32, n)
	for i := range want {
		want[i] = operations[which[i]](a[i], b[i])
	}
	out := zeros[int32](g, n)
	g.launch("by_table", line(2, 96), up(g, which), up(g, a), up(g, b), out, int32(n))
	require.Equal(t, want, out.down())

	for k := range operations {
		for i := range want {
			want[i] = operations[k](a[i], b[i])
		}
		g.launch("by_choice", line(1, 64), int32(k), up(g, a), up(g, b), out, int32(n))
		require.Equal(t, want, out.down(), "operation %d", k)
	}
}

func TestVirtualFunctions(t *testing.T) {
	g := load(t, "functions")
	const n = 100
	kind, size := ints(n, 3, 4), random[float32](2*n, 5)
	wantArea, wantCorners := make([]float32, n), make([]int32, n)
	for i := range n {
		a, b := size[2*i], size[2*i+1]
		wantArea[i] = []float32{a * b, 3 * a * a, 0.5 * a * b}[kind[i]]
		wantCorners[i] = []int32{4, 0, 3}[kind[i]]
	}
	area, corners := zeros[float32](g, n), zeros[int32](g, n)
	g.launch("areas", line(4, 32), up(g, kind), up(g, size), area, corners, int32(n))
	require.Equal(t, wantArea, area.down())
	require.Equal(t, wantCorners, corners.down())
}

// machine runs the program as the kernel's switch does.
func machine(program []byte, a, b int32) int32 {
	steps := 0
	for pc := 0; pc < len(program) && steps < 200; steps++ {
		op := program[pc]
		pc++
		switch op {
		case 0:
			a += b
		case 1:
			a -= b
		case 2:
			a *= 3
		case 3:
			a ^= b << 1
		case 4:
			a, b = b, a
		case 5:
			a = max(a, -a)
		case 6:
			b = a % 7
		case 7:
			if a&1 != 0 {
				pc++
			}
		case 8:
			if b > 0 {
				b, pc = b-1, pc-3
			}
		case 9:
			a = int32(bits.OnesCount32(uint32(a)))
		case 10:
			a, b = a+1, b+1
		case 11:
			a++
		default:
			return a - 1000*b
		}
		pc = max(pc, 0)
	}
	return a + b
}

func TestSwitchInALoop(t *testing.T) {
	g := load(t, "functions")
	const n = 96
	input := ints(n, 0, 6)
	for seed := range uint64(10) {
		program := bytesOf(words(10, 0, seed))
		for i := range program {
			program[i] %= 13
		}
		want := make([]int32, n)
		for i := range want {
			want[i] = machine(program, input[i], int32(i))
		}
		out := zeros[int32](g, n)
		g.launch("machine", line(2, 48), up(g, program), int32(len(program)), up(g, input), out, int32(n))
		require.Equal(t, want, out.down(), "program %v", program)
	}
}
