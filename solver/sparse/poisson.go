package sparse

// poisson2D returns the negative Laplacian of a square with n x n inner points and zero boundary values. Its stencil
// has five points: 4 on the diagonal and -1 for each neighbour. It is symmetric positive definite. Its eigenvalues
// are 4 sin²(iπ/2(n+1)) + 4 sin²(jπ/2(n+1)) for 1 <= i, j <= n.
func poisson2D(n int) *CSR { return stencil(n, 2, 0) }

// poisson3D returns the same for a cube with n x n x n inner points: seven points, 6 on the diagonal.
func poisson3D(n int) *CSR { return stencil(n, 3, 0) }

// ConvectionDiffusion returns the negative Laplacian of a square with n x n inner points and zero boundary values, with
// a wind from west to east, discretized upwind: v is added to the diagonal and subtracted from the western neighbour,
// where v is the velocity times the distance of two points. The matrix is an M-matrix for v >= 0, and not symmetric for
// v > 0.
func ConvectionDiffusion(n int, v float64) *CSR { return stencil(n, 2, v) }

// stencil returns the negative Laplacian with n points along each axis, the first axis fastest, with a wind along
// that axis. Point i has the coordinate i/s%n along an axis of stride s, where the strides are 1, n, n². Its neighbours
// along the axis are i-s and i+s, and there is none beyond the first and the last coordinate: the values on the boundary
// are zero. Neighbours are visited in ascending order, from the largest stride before i to the largest one after it, so
// that the columns of each row are sorted and the matrix is built without a sort, in O(points · axes).
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
		for k := axes - 1; k >= 0; k-- { // neighbours before i, from the farthest to the nearest
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
