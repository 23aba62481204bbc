package kernels_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/ptx/access"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/solver/internal/kernels"
	"github.com/reprise-gpu/reprise/tracer"
)

// gpu runs kernels on a simulated device that detects races and reads of memory that was never written.
type gpu struct {
	*tracer.Tracer
	t    *testing.T
	elem ir.Type
	rng  *rand.Rand
}

// onEach runs f in both precisions.
func onEach(t *testing.T, f func(*gpu)) {
	for _, elem := range []ir.Type{ir.F64, ir.F32} {
		t.Run(elem.String(), func(t *testing.T) {
			dev, err := sim.New(sim.Options{Race: sim.RaceOn})
			require.NoError(t, err)
			g := &gpu{tracer.New(dev, "kernels", tracer.Eager), t, elem, rand.New(rand.NewPCG(1, 0))}
			f(g)
			trace, err := g.Finish()
			require.NoError(t, err)
			assert.Empty(t, dev.Findings())
			require.NoError(t, trace.Close())
			require.NoError(t, dev.Close())
		})
	}
}

// small returns n whole numbers small enough that all sums of products are exact in both
// precisions, so that results can be compared for equality whatever the order of additions.
func (g *gpu) small(n int) []float64 {
	data := make([]float64, n)
	for i := range data {
		data[i] = float64(g.rng.IntN(17) - 8)
	}
	return data
}

func (g *gpu) vector(data []float64) tracer.Buffer {
	g.t.Helper()
	b := g.Alloc("v", g.elem, int64(len(data)), ir.InOut)
	if g.elem == ir.F64 {
		require.NoError(g.t, tracer.Write(b, data))
		return b
	}
	single := make([]float32, len(data))
	for i, v := range data {
		single[i] = float32(v)
	}
	require.NoError(g.t, tracer.Write(b, single))
	return b
}

// output is a vector of which no element may be read before it is written.
func (g *gpu) output(n int) tracer.Buffer { return g.Alloc("out", g.elem, int64(n), ir.Output) }

func (g *gpu) ints(data []int32) tracer.Buffer {
	g.t.Helper()
	b := g.Alloc("i", ir.I32, int64(len(data)), ir.InOut)
	require.NoError(g.t, tracer.Write(b, data))
	return b
}

func (g *gpu) read(b tracer.Buffer) []float64 {
	g.t.Helper()
	data := make([]float64, b.Len())
	if g.elem == ir.F64 {
		require.NoError(g.t, tracer.Read(data, b))
		return data
	}
	single := make([]float32, b.Len())
	require.NoError(g.t, tracer.Read(single, b))
	for i, v := range single {
		data[i] = float64(v)
	}
	return data
}

func (g *gpu) launch(module, kernel string, blocks, threads uint32, args ...any) {
	g.t.Helper()
	g.launchShape(module, kernel, tracer.Linear(blocks, threads), args...)
}

func (g *gpu) launchShape(module, kernel string, shape tracer.Shape, args ...any) {
	g.t.Helper()
	g.Launch(g.Module(kernels.Source(module, g.elem)).Kernel(kernel), shape, args...)
	g.Synchronize()
	require.NoError(g.t, g.Err())
}

func sum(data []float64) (s float64) {
	for _, v := range data {
		s += v
	}
	return s
}

// each is the vector of f of each index.
func each(n int, f func(i int) float64) []float64 {
	data := make([]float64, n)
	for i := range data {
		data[i] = f(i)
	}
	return data
}

func dot(x, y []float64) float64 {
	return sum(each(len(x), func(i int) float64 { return x[i] * y[i] }))
}

// Shapes of every kind: fewer threads than elements and more, blocks with nothing to do.
var shapes = []struct {
	n, blocks, threads int
}{{1, 1, 32}, {33, 1, 64}, {300, 3, 128}, {300, 2, 32}, {70, 4, 256}, {1000, 1, 1024}}

func TestVector(t *testing.T) {
	for _, module := range []string{"vector", "vector.parts"} {
		t.Run(module, func(t *testing.T) { testVector(t, module) })
	}
}

func testVector(t *testing.T, module string) {
	onEach(t, func(g *gpu) {
		for _, s := range shapes {
			n := s.n
			w, x, y, z := g.small(n), g.small(n), g.small(n), g.small(n)
			a, b := g.small(1)[0], g.small(1)[0]
			scalar := func(v float64) tracer.Buffer { return g.vector([]float64{v}) }
			// check launches a kernel and compares a vector, and the sums of what its blocks left.
			check := func(kernel string, out tracer.Buffer, want []float64, partial tracer.Buffer, sums []float64, args ...any) {
				g.t.Helper()
				g.launch(module, kernel, uint32(s.blocks), uint32(s.threads), append(args, n)...)
				if want != nil {
					assert.Equal(g.t, want, g.read(out), "%s of %v", kernel, s)
				}
				for k, v := range sums {
					assert.Equal(g.t, v, sum(g.read(partial.Slice(int64(k*s.blocks), int64((k+1)*s.blocks)))), "sum %d of %s of %v", k, kernel, s)
				}
			}
			none := tracer.Buffer{}
			one, two := g.output(s.blocks), g.output(2*s.blocks)
			first, second := two.Slice(0, int64(s.blocks)), two.Slice(int64(s.blocks), int64(2*s.blocks))
			check("dot", none, nil, one, []float64{dot(x, y)}, g.vector(x), g.vector(y), one)

			v := g.vector(y)
			check("axpy", v, each(n, func(i int) float64 { return y[i] + a*x[i] }), none, nil, scalar(a), g.vector(x), v)
			v = g.vector(z)
			check("axpyd", v, each(n, func(i int) float64 { return z[i] + a*x[i]*y[i] }), none, nil, scalar(a), g.vector(x), g.vector(y), v)
			v = g.vector(y)
			check("xpay", v, each(n, func(i int) float64 { return x[i] + a*y[i] }), none, nil, g.vector(x), scalar(a), v)
			v = g.vector(z)
			check("dxpay", v, each(n, func(i int) float64 { return x[i]*y[i] + a*z[i] }), none, nil, g.vector(x), g.vector(y), scalar(a), v)
			v = g.vector(y)
			check("axpby", v, each(n, func(i int) float64 { return a*x[i] + b*y[i] }), none, nil, scalar(a), g.vector(x), scalar(b), v)
			v = g.vector(z)
			check("axpy2", v, each(n, func(i int) float64 { return z[i] + a*x[i] + b*y[i] }), none, nil, scalar(a), g.vector(x), scalar(b), g.vector(y), v)
			v = g.output(n)
			check("minus", v, each(n, func(i int) float64 { return x[i] - a*y[i] }), none, nil, g.vector(x), scalar(a), g.vector(y), v)
			v = g.vector(y)
			check("update", v, each(n, func(i int) float64 { return x[i] + b*(y[i]-a*z[i]) }), none, nil, g.vector(x), scalar(b), scalar(a), g.vector(z), v)

			after := each(n, func(i int) float64 { return z[i] - a*y[i] })
			v = g.vector(z)
			check("minus_norm", v, after, one, []float64{dot(after, after)}, scalar(a), g.vector(y), v, one)
			v = g.vector(z)
			weighted := each(n, func(i int) float64 { return x[i] * after[i] })
			check("minus_norms", v, after, two, []float64{dot(after, after), dot(weighted, after)}, scalar(a), g.vector(y), g.vector(x), v, first, second)
			after = each(n, func(i int) float64 { return x[i] - a*y[i] })
			v = g.output(n)
			check("minus_dots", v, after, two, []float64{dot(after, after), dot(after, w)}, g.vector(x), scalar(a), g.vector(y), g.vector(w), v, first, second)
		}
	})
}

// matrix is a random one in compressed rows, some of them empty and one long.
func (g *gpu) matrix(n int) (ptr, col []int32, val []float64) {
	ptr = []int32{0}
	for i := range n {
		for j := range n {
			if i == n/2 || g.rng.IntN(n) < 3 && i%5 != 0 {
				col = append(col, int32(j))
			}
		}
		ptr = append(ptr, int32(len(col)))
	}
	return ptr, col, g.small(len(col))
}

// product is that of compressed rows and a vector.
func product(ptr, col []int32, val, x []float64) []float64 {
	return each(len(ptr)-1, func(i int) (sum float64) {
		for k := ptr[i]; k < ptr[i+1]; k++ {
			sum += val[k] * x[col[k]]
		}
		return sum
	})
}

// rows returns the arguments of a matrix for a build of the kernels over rows. The bounds of the indices exclude nothing.
func (g *gpu) rows(module string, ptr, col []int32, val []float64, blocks, threads int) []any {
	args := []any{g.ints(ptr), g.ints(col), g.vector(val)}
	if strings.HasSuffix(module, ".parts") {
		n := len(ptr) - 1
		per := ((n+threads-1)/threads + blocks - 1) / blocks * threads
		args = append(args, int64(0), 0, len(col), n, n, per)
	}
	return args
}

func TestSpmv(t *testing.T) {
	for _, module := range []string{"spmv", "spmv.parts"} {
		t.Run(module, func(t *testing.T) { testSpmv(t, module) })
	}
}

func testSpmv(t *testing.T, module string) {
	onEach(t, func(g *gpu) {
		for _, s := range shapes {
			if s.n > 500 {
				continue
			}
			n := s.n
			ptr, col, val := g.matrix(n)
			x, w := g.small(n), g.small(n)
			want := product(ptr, col, val, x)
			a := append(g.rows(module, ptr, col, val, s.blocks, s.threads), g.vector(x))
			vw := g.vector(w)
			for lanes := 1; lanes <= 32; lanes *= 2 {
				run := func(kernel string, args ...any) {
					g.t.Helper()
					args = append(append([]any{}, a...), args...)
					g.launch(module, kernel, uint32(s.blocks), uint32(s.threads), append(args, lanes, n)...)
				}
				about := fmt.Sprintf("%d lanes, %v", lanes, s)
				y, one, two := g.output(n), g.output(s.blocks), g.output(2*s.blocks)
				run("spmv", y)
				assert.Equal(g.t, want, g.read(y), about)

				y = g.output(n)
				run("spmv_dot", vw, y, one)
				assert.Equal(g.t, want, g.read(y), about)
				assert.Equal(g.t, dot(w, want), sum(g.read(one)), about)

				y = g.output(n)
				run("spmv_dots", vw, y, two.Slice(0, int64(s.blocks)), two.Slice(int64(s.blocks), int64(2*s.blocks)))
				assert.Equal(g.t, want, g.read(y), about)
				assert.Equal(g.t, dot(want, want), sum(g.read(two)[:s.blocks]), about)
				assert.Equal(g.t, dot(w, want), sum(g.read(two)[s.blocks:]), about)

				y = g.output(n)
				run("residual", vw, y, one)
				r := each(n, func(i int) float64 { return w[i] - want[i] })
				assert.Equal(g.t, r, g.read(y), about)
				assert.Equal(g.t, dot(r, r), sum(g.read(one)), about)
			}
		}
	})
}

func TestSteps(t *testing.T) {
	onEach(t, func(g *gpu) {
		on, off := g.ints([]int32{running, 0, 9, 0}), g.ints([]int32{exhausted, 9, 9, 0})
		for _, s := range shapes {
			if s.n > 500 {
				continue
			}
			n := s.n
			ptr, col, val := g.matrix(n)
			u, v := g.small(n), g.small(n)
			product := product(ptr, col, val, u)
			for kernel, want := range map[string][]float64{
				"heat": each(n, func(i int) float64 { return u[i] - 2*product[i] }),
				"wave": each(n, func(i int) float64 { return 2*u[i] - v[i] - 2*product[i] }),
			} {
				for lanes := 1; lanes <= 32; lanes *= 4 {
					out, norms := g.vector(v), g.output(s.blocks)
					args := []any{g.ints(ptr), g.ints(col), g.vector(val), g.vector(u), g.vector([]float64{2}), out, norms}
					g.launch("time", kernel, uint32(s.blocks), uint32(s.threads), append(args, off, lanes, n)...)
					assert.Equal(g.t, v, g.read(out), "%s past the end", kernel)
					g.launch("time", kernel, uint32(s.blocks), uint32(s.threads), append(args, on, lanes, n)...)
					assert.Equal(g.t, want, g.read(out), "%s, %d lanes, %v", kernel, lanes, s)
					if kernel == "heat" { // those of wave are too large to be exact
						assert.Equal(g.t, dot(want, want), sum(g.read(norms)), "%s, %d lanes, %v", kernel, lanes, s)
					}
				}
			}
		}
	})
}

func TestEigen(t *testing.T) {
	onEach(t, func(g *gpu) {
		on, off := g.ints([]int32{running, 0, 9, 0}), g.ints([]int32{converged, 9, 9, 0})
		scalar := func(v float64) tracer.Buffer { return g.vector([]float64{v}) }
		for _, s := range shapes {
			n := s.n
			x, y, v := g.small(n), g.small(n), g.small(n)
			for kernel, c := range map[string]struct {
				args   []any
				next   func(i int) float64
				change func(i int, next float64) float64
			}{
				"eigen_next": {
					[]any{scalar(3), scalar(0.5), g.vector(y)},
					func(i int) float64 { return 0.5 * y[i] },
					func(i int, _ float64) float64 { return 0.5 * (y[i] - 3*x[i]) },
				},
				"rank_next": {
					[]any{scalar(0.5), scalar(2), g.vector(v), g.vector(y)},
					func(i int) float64 { return 0.5*y[i] + 2*v[i] },
					func(i int, next float64) float64 { return next - x[i] },
				},
			} {
				out, partial := g.vector(x), g.output(s.blocks)
				args := append(c.args, out, partial)
				g.launch("eigen", kernel, uint32(s.blocks), uint32(s.threads), append(args, off, n)...)
				assert.Equal(g.t, x, g.read(out), "%s past the end", kernel)
				g.launch("eigen", kernel, uint32(s.blocks), uint32(s.threads), append(args, on, n)...)
				next := each(n, c.next)
				assert.Equal(g.t, next, g.read(out), "%s of %v", kernel, s)
				change := each(n, func(i int) float64 { return c.change(i, next[i]) })
				assert.Equal(g.t, dot(change, change), sum(g.read(partial)), "%s of %v", kernel, s)
			}
		}
		value, inverse, share := g.output(1), g.output(1), g.output(1)
		g.launch("eigen", "eigen_scale", 1, 32, g.vector([]float64{9, 7}), g.vector([]float64{2, 3}), 2, value, inverse, on)
		assert.Equal(g.t, []float64{5, 0.25}, append(g.read(value), g.read(inverse)...))
		g.launch("eigen", "rank_share", 1, 32, g.vector([]float64{0.25, 0.5}), 2, scalar(0.5), share)
		assert.Equal(g.t, []float64{1 - 0.375}, g.read(share))
		g.launch("eigen", "eigen_scale", 1, 32, scalar(0), scalar(0), 1, value, inverse, on)
		state := make([]int32, 4)
		require.NoError(g.t, tracer.Read(state, on))
		assert.Equal(g.t, int32(brokenDown), state[0])
	})
}

// A relaxation of rows that do not depend on each other leaves the other rows alone.
func TestRelax(t *testing.T) {
	onEach(t, func(g *gpu) {
		for _, s := range shapes {
			if s.n > 500 {
				continue
			}
			n := s.n
			// Rows depend on odd columns and on themselves, and the even ones are relaxed, from the last.
			var col, order []int32
			ptr := []int32{0}
			for i := range n {
				for j := range n {
					if j == i || j%2 == 1 && g.rng.IntN(n) < 6 {
						col = append(col, int32(j))
					}
				}
				ptr = append(ptr, int32(len(col)))
				if i%2 == 0 {
					order = append([]int32{int32(i)}, order...)
				}
			}
			val, b, d, x := g.small(len(col)), g.small(n), g.small(n), g.small(n)
			want := each(n, func(i int) float64 {
				if i%2 == 1 {
					return x[i]
				}
				sum := 0.0
				for k := ptr[i]; k < ptr[i+1]; k++ {
					sum += val[k] * x[col[k]]
				}
				return x[i] + 3*d[i]*(b[i]-sum)
			})
			for lanes := 1; lanes <= 32; lanes *= 2 {
				v := g.vector(x)
				g.launch("spmv", "relax", uint32(s.blocks), uint32(s.threads), g.ints(ptr), g.ints(col), g.vector(val), g.ints(order),
					g.vector(b), g.vector(d), g.vector([]float64{3}), v, lanes, len(order))
				assert.Equal(g.t, want, g.read(v), "%d lanes, %v", lanes, s)
			}
		}
	})
}

// The same numbers have the same sum to the bit, whichever blocks ran first, and the
// naive sum within what rounding allows.
func TestSumsAreDeterministic(t *testing.T) {
	const n, blocks = 10_000, 7
	rng := rand.New(rand.NewPCG(2, 0))
	x := each(n, func(int) float64 { return rng.NormFloat64() * math.Exp(5*rng.NormFloat64()) })
	var first []float64
	for _, workers := range []int{1, 5, 5} {
		dev, err := sim.New(sim.Options{Workers: workers})
		require.NoError(t, err)
		g := &gpu{tracer.New(dev, "sums", tracer.Eager), t, ir.F64, rng}
		v, partial := g.vector(x), g.output(blocks)
		g.launch("vector", "dot", blocks, 256, v, v, partial, n)
		got := g.read(partial)
		if first == nil {
			first = got
			assert.InEpsilon(t, dot(x, x), sum(got), 1e-12)
		}
		assert.Equal(t, first, got, "%d workers", workers)
		trace, err := g.Finish()
		require.NoError(t, err)
		require.NoError(t, trace.Close())
		require.NoError(t, dev.Close())
	}
}

// Rows as long as the threads that share them do alone, and longer by one and by much, beside empty ones and several in
// a warp: each row must be right, regardless of the threads that compute it.
func TestLongRows(t *testing.T) {
	onEach(t, func(g *gpu) {
		for lanes := 1; lanes <= 32; lanes *= 2 {
			const n = 40
			ptr := []int32{0}
			var col []int32
			for i := range n {
				length := []int{0, 8 * lanes, 8*lanes + 1, 8*lanes + 40, 1}[g.rng.IntN(5)]
				for range length {
					col = append(col, int32(g.rng.IntN(n)))
				}
				ptr = append(ptr, ptr[i]+int32(length))
			}
			val, x := g.small(len(col)), g.small(n)
			for _, module := range []string{"spmv", "spmv.parts"} {
				y := g.output(n)
				g.launch(module, "spmv", 2, 64, append(g.rows(module, ptr, col, val, 2, 64), g.vector(x), y, lanes, n)...)
				assert.Equal(g.t, product(ptr, col, val, x), g.read(y), "%s, %d lanes", module, lanes)
			}
		}
	})
}

// What kernels may run at the same time follows from what they are found to access.
func TestAccessesAreInferred(t *testing.T) {
	want := map[string]string{
		"dot": "rrw", "axpy": "rrx", "axpyd": "rrrx", "xpay": "rrx", "dxpay": "rrrx", "axpby": "rrrx", "axpy2": "rrrrx",
		"minus": "rrrw", "minus_norm": "rrxw", "minus_norms": "rrrxww", "minus_dots": "rrrrwww", "update": "rrrrx",
		"spmv": "rrrrw", "spmv_dot": "rrrrrww", "spmv_dots": "rrrrrwww", "residual": "rrrrrww",
		"relax":    "rrrrrrrx",
		"cg_alpha": "rrwx", "cg_beta": "rrxwrwx", "chebyshev": "rrrxwwwrwx", "check": "rwrwx", "add": "rw", "divide": "rrwx", "all_ended": "rw",
		"project": "rrw", "coefficients": "rwx", "orthogonalize": "rrxw", "combine": "rrx", "scale": "rrw",
		"begin": "rxwwwx", "rotate": "rxxxxwwrwx", "solve": "rrrw",
		"eigen_scale": "rrwwx", "eigen_next": "rrrxwr", "rank_share": "rrw", "rank_next": "rrrrxwr", "heat": "rrrrrwwr", "wave": "rrrrrxwr",
		"kept_spmv": "rrrrwr", "kept_axpy": "rrxr", "kept_xpay": "rrxr", "kept_minus": "rrrwr", "kept_add": "rwr", "kept_divide": "rrwx",
		"bicgstab_alpha": "rrwx", "bicgstab_omega": "rrwx", "bicgstab_beta": "rrxrrwrwx",
	}
	letters := map[access.Access]string{access.Read: "r", access.Write: "w", access.ReadWrite: "x"}
	found := map[string]bool{}
	for _, elem := range []ir.Type{ir.F64, ir.F32} {
		for _, name := range kernels.Modules() {
			module, err := ptx.Parse(kernels.Source(name, elem))
			require.NoError(t, err)
			for _, f := range module.Funcs {
				effects := access.Infer(module, f)
				assert.Nil(t, effects.Opaque, f.Name)
				got := ""
				for _, p := range effects.Params {
					got += letters[p.Access]
				}
				assert.Equal(t, want[f.Name], got, f.Name)
				found[f.Name] = true
			}
		}
	}
	assert.Len(t, found, len(want))
}

// TestAFactorOfZeroMovesNothing takes steps of 0 times infinity, which must not change a solution.
func TestAFactorOfZeroMovesNothing(t *testing.T) {
	inf := math.Inf(1)
	onEach(t, func(g *gpu) {
		zero, one, x := g.vector([]float64{0}), g.vector([]float64{1}), g.vector([]float64{inf, -inf, math.NaN()})
		d, ptr, order := g.vector([]float64{1, inf, 0}), g.ints([]int32{0, 1, 2, 3}), g.ints([]int32{0, 1, 2})
		before := []float64{3, inf, -5}
		for kernel, launch := range map[string]func(y tracer.Buffer){
			"axpy":    func(y tracer.Buffer) { g.launch("vector", "axpy", 1, 32, zero, x, y, 3) },
			"axpyd":   func(y tracer.Buffer) { g.launch("vector", "axpyd", 1, 32, zero, d, x, y, 3) },
			"axpy2":   func(y tracer.Buffer) { g.launch("vector", "axpy2", 1, 32, zero, x, zero, x, y, 3) },
			"relax":   func(y tracer.Buffer) { g.launch("spmv", "relax", 1, 32, ptr, order, x, order, x, d, zero, y, 1, 3) },
			"combine": func(y tracer.Buffer) { g.launch("gmres", "combine", 1, 32, x, zero, y, 1, 3) },
		} {
			y := g.vector(before)
			launch(y)
			assert.Equal(g.t, before, g.read(y), kernel)
		}
		// One factor of two that is not 0 moves elements.
		y := g.vector([]float64{3, 3, 3})
		g.launch("vector", "axpy2", 1, 32, zero, d, one, g.vector([]float64{1, 2, 3}), y, 1)
		assert.Equal(g.t, []float64{4, 3, 3}, g.read(y))
		g.launch("vector", "axpy2", 1, 32, one, d, zero, g.vector([]float64{1, 2, 3}), y, 1)
		assert.Equal(g.t, []float64{5, 3, 3}, g.read(y))
	})
}
