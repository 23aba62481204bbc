package solver

import "github.com/reprise-gpu/reprise/solver/sparse"

// byColour returns the rows ordered by colour, and the end of each colour. Two rows of one colour have no element in
// each other's columns.
//
// The colouring is greedy (Y. Saad, "Iterative Methods for Sparse Linear Systems", 2003, section 3.3.3): each row, in
// order, gets the lowest colour that no neighbour before it has. Neighbours are the columns of the row and of the same
// row of the transposed matrix. Stencils on grids get two colours, and any matrix at most one more than the maximum
// number of neighbours. taken marks the colours of neighbours by the row that marked them, so that it need not be
// cleared; all takes time in proportion to the elements. A counting sort by colour follows.
func byColour(a *sparse.CSR) (order []int32, ends []int) {
	t := a.Transpose()
	colour := make([]int, a.Rows)
	var taken []int // by colour: 1 + the last row whose neighbour has that colour
	var sizes []int
	for i := range a.Rows {
		for _, m := range []*sparse.CSR{a, t} {
			cols, _ := m.Row(i)
			for _, j := range cols {
				if int(j) < i {
					taken[colour[j]] = i + 1
				}
			}
		}
		c := 0
		for c < len(taken) && taken[c] == i+1 {
			c++
		}
		if c == len(taken) {
			taken, sizes = append(taken, 0), append(sizes, 0)
		}
		colour[i] = c
		sizes[c]++
	}
	starts := make([]int, len(sizes))
	end := 0
	for c, n := range sizes {
		starts[c] = end
		end += n
		ends = append(ends, end)
	}
	order = make([]int32, a.Rows)
	for i, c := range colour {
		order[starts[c]] = int32(i)
		starts[c]++
	}
	return order, ends
}
