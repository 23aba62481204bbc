package validation

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

const (
	fitRounds = 50
	// fitRidge holds back a constant on which hardly a row depends. It has the weight of a quarter of a row.
	fitRidge = 0.25
	// fitFloor is the residual below which the weight of a row no longer grows: one percent.
	fitFloor = 0.01
	// maxFit bounds the logarithm of a factor.
	maxFit = math.Ln2
)

// leastAbsolute returns the x that minimizes Σᵢ |bᵢ + aᵢ·x| + fitRidge |x|², each element within ±maxFit. rows are the aᵢ, n
// wide.
//
// The method is iteratively reweighted least squares (P. Holland and R. Welsch, "Robust Regression Using Iteratively
// Reweighted Least-Squares", 1977): solve the least squares problem with weights 1/max(|residual|, fitFloor), and repeat.
func leastAbsolute(rows [][]float64, b []float64, n int) []float64 {
	x := make([]float64, n)
	for range fitRounds {
		normal, right := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
		for i := range n {
			normal.SetSym(i, i, fitRidge)
		}
		for i, a := range rows {
			residual := b[i]
			for j := range n {
				residual += a[j] * x[j]
			}
			w := 1 / max(math.Abs(residual), fitFloor)
			for j := range n {
				right.SetVec(j, right.AtVec(j)-w*a[j]*b[i])
				for k := j; k < n; k++ {
					normal.SetSym(j, k, normal.At(j, k)+w*a[j]*a[k])
				}
			}
		}
		var factored mat.Cholesky
		if !factored.Factorize(normal) {
			return x
		}
		var next mat.VecDense
		if factored.SolveVecTo(&next, right) != nil {
			return x
		}
		for j := range n {
			x[j] = max(-maxFit, min(maxFit, next.AtVec(j)))
		}
	}
	return x
}
