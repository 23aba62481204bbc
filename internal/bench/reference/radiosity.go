package reference

// Triangles are n triangles that light each other. Factors and Delays have a row for each triangle that receives, and a
// column for each that sends.
type Triangles struct {
	Emission []float32
	Factors  []float32
	Delays   []int32 // in steps, at least 1
}

// Radiosity returns steps rows of n radiosities. That of triangle i in step t is its emission plus the sum over j of
// Factors[i][j] times the radiosity of j in step t - Delays[i][j]. There is no light before step 0.
func Radiosity(s *Triangles, steps int) []float64 {
	n := len(s.Emission)
	rad := make([]float64, 0, steps*n)
	for t := range steps {
		for i := range n {
			sum := float64(s.Emission[i])
			for j := range n {
				if sent := t - int(s.Delays[i*n+j]); sent >= 0 {
					sum += float64(s.Factors[i*n+j]) * rad[sent*n+j]
				}
			}
			rad = append(rad, sum)
		}
	}
	return rad
}
