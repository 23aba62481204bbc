package reference

// Multiply returns the product of a, rows x inner, and b, inner x cols, all row-major.
func Multiply(a, b []float64, rows, cols, inner int) []float64 {
	c := make([]float64, rows*cols)
	for i := range rows {
		row := c[i*cols : (i+1)*cols]
		for l := range inner {
			factor := a[i*inner+l]
			for j, v := range b[l*cols : (l+1)*cols] {
				row[j] += factor * v
			}
		}
	}
	return c
}
