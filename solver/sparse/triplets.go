package sparse

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Triplets collects the elements of a matrix in any order. Several values of one element are added.
type Triplets struct {
	rows, cols int
	list       []triplet
}

type triplet struct {
	row, col int32
	val      float64
}

// NewTriplets returns an empty collection for a matrix of the given size.
func NewTriplets(rows, cols int) *Triplets { return &Triplets{rows: rows, cols: cols} }

// Add adds v to element (i, j), counted from 0. It panics if the matrix has no such element.
func (t *Triplets) Add(i, j int, v float64) {
	if i < 0 || i >= t.rows || j < 0 || j >= t.cols {
		panic(fmt.Sprintf("BUG: element (%d, %d) of a matrix of %d x %d", i, j, t.rows, t.cols))
	}
	t.list = append(t.list, triplet{int32(i), int32(j), v})
}

// CSR returns the matrix. It keeps added zeros, because callers may rely on the structure of the matrix.
func (t *Triplets) CSR() (*CSR, error) {
	if len(t.list) > math.MaxInt32 {
		return nil, fmt.Errorf("%d entries: a matrix holds at most %d", len(t.list), math.MaxInt32)
	}
	byPlace := func(x, y triplet) int {
		return cmp.Or(cmp.Compare(x.row, y.row), cmp.Compare(x.col, y.col))
	}
	if !slices.IsSortedFunc(t.list, byPlace) {
		slices.SortStableFunc(t.list, byPlace) // stable, so that values are added in the given order
	}
	a := &CSR{Rows: t.rows, Cols: t.cols, Ptr: make([]int32, t.rows+1), Col: make([]int32, 0, len(t.list)), Val: make([]float64, 0, len(t.list))}
	for i, e := range t.list {
		if i > 0 && byPlace(t.list[i-1], e) == 0 {
			a.Val[len(a.Val)-1] += e.val
			continue
		}
		a.Col, a.Val = append(a.Col, e.col), append(a.Val, e.val)
		a.Ptr[e.row+1]++
	}
	for i := range a.Rows {
		a.Ptr[i+1] += a.Ptr[i]
	}
	return a, nil
}
