package vcycle

// Cycle computes on the host what one replay does to u, and returns the square of the norm of the residual.
func Cycle(u, f []float64) float64 {
	cycle(u, f, N)
	sum := 0.0
	for _, x := range residual(u, f, N) {
		sum += x * x
	}
	return sum
}

func cycle(u, f []float64, n int) {
	relax(u, f, n)
	if half := n / 2; half >= (N+1)>>(Levels-1)-1 {
		coarse := make([]float64, (half+2)*(half+2))
		cycle(coarse, restrict(residual(u, f, n), half), half)
		prolong(coarse, u, n)
	}
	relax(u, f, n)
}

// relax does two steps of Jacobi.
func relax(u, f []float64, n int) {
	for range 2 {
		for i, x := range residual(u, f, n) {
			u[i] += 0.8 / 4 * x
		}
	}
}

// residual returns f - A u, with zeros on the border.
func residual(u, f []float64, n int) []float64 {
	r, row := make([]float64, len(u)), n+2
	for y := 1; y <= n; y++ {
		for x := 1; x <= n; x++ {
			i := y*row + x
			r[i] = f[i] - 4*u[i] + u[i-1] + u[i+1] + u[i-row] + u[i+row]
		}
	}
	return r
}

// restrict returns r on the grid of n unknowns in a row: four times the mean of the neighbours, weighted by 4, 2 and 1.
func restrict(r []float64, n int) []float64 {
	coarse, fine := make([]float64, (n+2)*(n+2)), 2*n+3
	for y := 1; y <= n; y++ {
		for x := 1; x <= n; x++ {
			sum := 0.0
			for dy := -1; dy <= 1; dy++ {
				for dx := -1; dx <= 1; dx++ {
					sum += r[(2*y+dy)*fine+2*x+dx] / float64((1+dx*dx)*(1+dy*dy))
				}
			}
			coarse[y*(n+2)+x] = sum
		}
	}
	return coarse
}

// prolong adds the coarse grid, interpolated, to u.
func prolong(coarse, u []float64, n int) {
	row := n/2 + 2
	for y := 1; y <= n; y++ {
		for x := 1; x <= n; x++ {
			sum := 0.0
			for _, yy := range [2]int{y / 2, (y + 1) / 2} {
				for _, xx := range [2]int{x / 2, (x + 1) / 2} {
					sum += coarse[yy*row+xx]
				}
			}
			u[y*(n+2)+x] += sum / 4
		}
	}
}
