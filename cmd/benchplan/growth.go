package main

import "math"

// point is a measurement at one size.
type point struct{ size, cost float64 }

// exponent is e in cost = c size^e, by least squares on logarithms; NaN for fewer than two sizes.
func exponent(points []point) float64 {
	var n, sx, sy, sxx, sxy float64
	for _, p := range points {
		x, y := math.Log(p.size), math.Log(p.cost)
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}
