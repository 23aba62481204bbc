package sparse

import (
	"fmt"
	"math"
)

// CSR is a matrix in compressed sparse rows. The values of row i are Val[Ptr[i]:Ptr[i+1]], in the columns
// Col[Ptr[i]:Ptr[i+1]], which are strictly ascending. Indices have 32 bits, as kernels require.
type CSR struct {
	Rows, Cols int
	Ptr, Col   []int32
	Val        []float64
}

// Row returns the columns and values of row i, which share a's memory.
func (a *CSR) Row(i int) ([]int32, []float64) {
	lo, hi := a.Ptr[i], a.Ptr[i+1]
	return a.Col[lo:hi], a.Val[lo:hi]
}

// At returns the element in row i and column j, in time linear in the length of the row.
func (a *CSR) At(i, j int) float64 {
	cols, vals := a.Row(i)
	for k, c := range cols {
		if int(c) == j {
			return vals[k]
		}
	}
	return 0
}

// Mul sets y to a times x.
func (a *CSR) Mul(y, x []float64) {
	for i := range a.Rows {
		sum := 0.0
		cols, vals := a.Row(i)
		for k, c := range cols {
			sum += vals[k] * x[c]
		}
		y[i] = sum
	}
}

// Diagonal returns the elements (i, i).
func (a *CSR) Diagonal() []float64 {
	d := make([]float64, min(a.Rows, a.Cols))
	for i := range d {
		d[i] = a.At(i, i)
	}
	return d
}

// Transpose returns the transposed matrix, by a counting sort of the elements by column: count the elements of each column,
// add up the counts to the starts of the rows of the result, then copy each element to the next free place of its row.
// The rows of a are read in order, so the columns of the result ascend.
func (a *CSR) Transpose() *CSR {
	t := &CSR{Rows: a.Cols, Cols: a.Rows, Ptr: make([]int32, a.Cols+1), Col: make([]int32, len(a.Col)), Val: make([]float64, len(a.Val))}
	for _, c := range a.Col {
		t.Ptr[c+1]++
	}
	for i := range t.Rows {
		t.Ptr[i+1] += t.Ptr[i]
	}
	next := append([]int32(nil), t.Ptr...)
	for i := range a.Rows {
		cols, vals := a.Row(i)
		for k, c := range cols {
			t.Col[next[c]], t.Val[next[c]] = int32(i), vals[k]
			next[c]++
		}
	}
	return t
}

// Check returns an error if a is not a valid CSR matrix, whatever its values. Call it for matrices not made by this
// package: a kernel would use a wrong index unchecked.
func (a *CSR) Check() error {
	switch {
	case a.Rows < 0 || a.Cols < 0 || a.Rows > math.MaxInt32 || a.Cols > math.MaxInt32:
		return fmt.Errorf("a matrix of %d x %d: each extent is 0 to %d", a.Rows, a.Cols, math.MaxInt32)
	case len(a.Ptr) != a.Rows+1:
		return fmt.Errorf("a matrix of %d rows has %d row pointers: it takes %d", a.Rows, len(a.Ptr), a.Rows+1)
	case len(a.Col) != len(a.Val):
		return fmt.Errorf("%d columns for %d values: there is one for each", len(a.Col), len(a.Val))
	case a.Ptr[0] != 0 || int(a.Ptr[a.Rows]) != len(a.Val):
		return fmt.Errorf("row pointers from %d to %d for %d entries: they go from 0 to that number", a.Ptr[0], a.Ptr[a.Rows], len(a.Val))
	}
	for i := range a.Rows {
		if a.Ptr[i+1] < a.Ptr[i] || int(a.Ptr[i+1]) > len(a.Val) {
			return fmt.Errorf("row %d ends at entry %d, before it begins or past the last", i, a.Ptr[i+1])
		}
		last := int32(-1)
		cols, _ := a.Row(i)
		for _, c := range cols {
			if c <= last || int(c) >= a.Cols {
				return fmt.Errorf("row %d has column %d after %d: columns ascend and are less than %d", i, c, last, a.Cols)
			}
			last = c
		}
	}
	return nil
}
