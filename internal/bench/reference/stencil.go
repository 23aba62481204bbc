package reference

// Grid is a row-major array of Rows x Cols elements.
type Grid struct {
	Rows, Cols int
	U          []float64
}

// at returns the element of a row and a column, or the nearest element of the border.
func (g *Grid) at(row, col int) float64 {
	row, col = min(max(row, 0), g.Rows-1), min(max(col, 0), g.Cols-1)
	return g.U[row*g.Cols+col]
}

// laplacian returns the second differences at an element, with factors cy along the rows and cx along the columns. Outside
// of the borders the grid continues with its border.
func (g *Grid) laplacian(row, col int, cy, cx float64) float64 {
	here := g.at(row, col)
	return cy*(g.at(row-1, col)+g.at(row+1, col)-2*here) + cx*(g.at(row, col-1)+g.at(row, col+1)-2*here)
}

// WaveStart returns the wave one step after u, which starts at rest: u plus half of its second differences. The factors
// are (dt/dy)^2 and (dt/dx)^2.
func WaveStart(u *Grid, cy, cx float64) *Grid {
	return u.filled(func(row, col int) float64 { return u.at(row, col) + u.laplacian(row, col, cy, cx)/2 })
}

// Wave returns the wave one step after u, where before is the wave one step before u: 2 u - before + the second
// differences of u.
func Wave(before, u *Grid, cy, cx float64) *Grid {
	return u.filled(func(row, col int) float64 {
		return 2*u.at(row, col) - before.at(row, col) + u.laplacian(row, col, cy, cx)
	})
}

// Jacobi returns the next iterate of Jacobi's method for Laplace's equation, the means of the four neighbours inside of
// fixed borders, and the squared norm of its difference from u.
func Jacobi(u *Grid) (next *Grid, norm float64) {
	next = u.filled(func(row, col int) float64 {
		if row == 0 || row == u.Rows-1 || col == 0 || col == u.Cols-1 {
			return u.at(row, col)
		}
		return (u.at(row-1, col) + u.at(row+1, col) + u.at(row, col-1) + u.at(row, col+1)) / 4
	})
	for i, v := range next.U {
		norm += (v - u.U[i]) * (v - u.U[i])
	}
	return next, norm
}

// filled returns a grid with the extents of g.
func (g *Grid) filled(value func(row, col int) float64) *Grid {
	next := &Grid{g.Rows, g.Cols, make([]float64, len(g.U))}
	for row := range g.Rows {
		for col := range g.Cols {
			next.U[row*g.Cols+col] = value(row, col)
		}
	}
	return next
}
