package reference

import "math"

// VEC returns the sum of x[i]^2 - y[i]^2, the result of benchmark VEC.
func VEC(x, y []float32) float64 {
	sum := 0.0
	for i := range x {
		a, b := float64(x[i]), float64(y[i])
		sum += a*a - b*b
	}
	return sum
}

// VECClosedForm returns VEC of the inputs x[i] = 1/(i+1), y[i] = 2/(i+1) without their rounding: -3 * sum of 1/i^2
// for i = 1..n, which tends to -pi^2/2. The partial sum is pi^2/6 minus its tail. The tail comes from Euler-Maclaurin
// summation with three terms, whose error is less than 1/(30 n^5).
func VECClosedForm(n int) float64 {
	const exact = 16 // below, plain summation is as fast and exact
	if n <= exact {
		sum := 0.0
		for i := 1; i <= n; i++ {
			sum += 1 / float64(i*i)
		}
		return -3 * sum
	}
	m := float64(n)
	tail := 1/m - 1/(2*m*m) + 1/(6*m*m*m)
	return -3 * (math.Pi*math.Pi/6 - tail)
}
