package sparse

// Poisson2D is the Laplacian of a square of n x n inner points, negated: five points, 4 on the
// diagonal and -1 for each neighbour, with zeros around. It is symmetric positive definite; its
// eigenvalues are 4 sin²(iπ/2(n+1)) + 4 sin²(jπ/2(n+1)) for 1 <= i, j <= n.
func Poisson2D(n int) *CSR { return stencil(n, 2, 0) }

// Poisson3D is that of a cube of n x n x n inner points: seven points, 6 on the diagonal.
func Poisson3D(n int) *CSR { return stencil(n, 3, 0) }

// ConvectionDiffusion is Poisson2D with a wind from west to east, whose velocity times the
// distance of two points is v, discretized upwind: what comes from the west counts v
// more, and so does the diagonal. It is an M-matrix for any v >= 0, and not symmetric for v > 0.
func ConvectionDiffusion(n int, v float64) *CSR { return stencil(n, 2, v) }

// stencil is the Laplacian on n points along each axis, the first axis fastest, with a wind
// along that.
func stencil(n, axes int, wind float64) *CSR {
	points := 1
	var strides []int
	for range axes {
		strides = append(strides, points)
		points *= n
	}
	a := &CSR{Rows: points, Cols: points, Ptr: make([]int32, 1, points+1)}
	entry := func(col int, v float64) {
		a.Col, a.Val = append(a.Col, int32(col)), append(a.Val, v)
	}
	for i := range points {
		for k := axes - 1; k >= 0; k-- { // what precedes i, from the farthest to the nearest
			if s := strides[k]; i/s%n > 0 {
				entry(i-s, -1)
			}
		}
		if i%n > 0 {
			a.Val[len(a.Val)-1] -= wind
		}
		entry(i, float64(2*axes)+wind)
		for _, s := range strides {
			if i/s%n < n-1 {
				entry(i+s, -1)
			}
		}
		a.Ptr = append(a.Ptr, int32(len(a.Col)))
	}
	return a
}
