package reference

import "math"

// Product returns element at, counted in rows, of the product of a, transposed, and b, and the sum of the magnitudes of
// its terms. a is k x m, b is k x n, and the product m x n, all row-major.
func Product(m, n, k int, a, b []float32, at int) (sum, magnitude float64) {
	i, j := at/n, at%n
	for l := range k {
		term := float64(a[l*m+i]) * float64(b[l*n+j])
		sum += term
		magnitude += math.Abs(term)
	}
	return sum, magnitude
}
