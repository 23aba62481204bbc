package sim_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// sparse is a matrix in compressed rows.
type sparse struct {
	rows          int
	start, column []int32
	value         []float64
}

// randomSparse has rows of very different lengths, many of them empty.
func randomSparse(rows, columns int, seed uint64) sparse {
	rng := rand.New(rand.NewPCG(seed, 3))
	m := sparse{rows: rows, start: make([]int32, 1, rows+1)}
	for range rows {
		if n := rng.IntN(4); n > 0 {
			for range rng.IntN(n * n * 12) {
				m.column = append(m.column, int32(rng.IntN(columns)))
				m.value = append(m.value, float64(float32(2*rng.Float64()-1)))
			}
		}
		m.start = append(m.start, int32(len(m.column)))
	}
	return m
}

func (m sparse) row(r int) (column []int32, value []float64) {
	return m.column[m.start[r]:m.start[r+1]], m.value[m.start[r]:m.start[r+1]]
}

// times is the product with x, and for each row a bound of its rounding errors in
// units of the last place.
func (m sparse) times(x []float32) (y, bound []float64) {
	y, bound = make([]float64, m.rows), make([]float64, m.rows)
	for r := range m.rows {
		column, value := m.row(r)
		for i, c := range column {
			p := value[i] * float64(x[c])
			y[r] += p
			bound[r] += math.Abs(p) * float64(len(column)+1)
		}
	}
	return y, bound
}

func singles(v []float64) []float32 {
	out := make([]float32, len(v))
	for i := range v {
		out[i] = float32(v[i])
	}
	return out
}

func doubles(v []float32) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		out[i] = float64(v[i])
	}
	return out
}

func TestSparseMatrixTimesVector(t *testing.T) {
	g := load(t, "spmv")
	for _, rows := range []int{1, 40, 500} {
		m := randomSparse(rows, 211, uint64(rows))
		x := random[float32](211, 1)
		want, bound := m.times(x)
		start, column := up(g, m.start), up(g, m.column)
		tolerance := func(unit float64) func(int) float64 { return func(i int) float64 { return unit * bound[i] } }

		y32 := func(kernel string, s shape) {
			y := zeros[float32](g, rows)
			g.launch(kernel, s, int32(rows), start, column, up(g, singles(m.value)), up(g, x), y)
			within(t, want, y.down(), tolerance(0x1p-24), "%s, %d rows", kernel, rows)
		}
		y32("csr_scalar_f32", line(cover(rows, 128), 128))
		y32("csr_vector_f32", line(3, 64))

		y64 := func(kernel string, s shape) {
			y := zeros[float64](g, rows)
			g.launch(kernel, s, int32(rows), start, column, up(g, m.value), up(g, doubles(x)), y)
			within(t, want, y.down(), tolerance(0x1p-52), "%s, %d rows", kernel, rows)
		}
		y64("csr_scalar_f64", line(cover(rows, 96), 96))
		y64("csr_vector_f64", line(2, 96))
	}
}

// Rows by a counter, for fewer and for more blocks than rows need, with numbers of rows
// that are no multiple of the eight a warp takes.
func TestSparseMatrixByACounter(t *testing.T) {
	k, _ := kernels.Lookup("spmv3")
	g := loadWith(t, sim.Options{Race: sim.RaceOn}, k.File, k.PTX)
	for _, rows := range []int{1, 7, 8, 9, 500} {
		m := randomSparse(rows, 97, uint64(rows))
		x := random[float32](97, 3)
		value := make([]int32, len(m.value))
		for i := range value {
			value[i] = int32(i%7) - 3
			m.value[i] = float64(value[i])
		}
		want, bound := m.times(x)
		start, column, weights, vector := up(g, m.start), up(g, m.column), up(g, value), up(g, x)
		for _, s := range []shape{line(1, 32), line(cover(rows, 96), 96), line(3, 1024)} {
			counter, y := up(g, []int32{0}), zeros[float32](g, rows)
			g.launch("spmv3", s, counter, start, column, weights, vector, y, int32(rows))
			within(t, want, y.down(), func(i int) float64 { return 0x1p-24 * bound[i] }, "%d rows, %v", rows, s.grid)
			require.GreaterOrEqual(t, counter.down()[0], int32(rows))
		}
	}
}

func TestSparseMatrixInColumns(t *testing.T) {
	g := load(t, "spmv")
	const rows = 300
	m := randomSparse(rows, 100, 9)
	x := random[float32](100, 2)
	width := 0
	for r := range rows {
		width = max(width, int(m.start[r+1]-m.start[r]))
	}
	column, value := make([]int32, width*rows), make([]float32, width*rows)
	for r := range rows {
		c, v := m.row(r)
		for k := range width {
			column[k*rows+r] = -1
			if k < len(c) {
				column[k*rows+r], value[k*rows+r] = c[k], float32(v[k])
			}
		}
	}
	want, bound := m.times(x)
	y := zeros[float32](g, rows)
	g.launch("ell", line(cover(rows, 128), 128), int32(rows), int32(width), up(g, column), up(g, value), up(g, x), y)
	within(t, want, y.down(), func(i int) float64 { return 0x1p-24 * bound[i] })
}
