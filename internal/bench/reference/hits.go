package reference

// HITS is the hubs and authorities of a directed graph after so many rounds of
// power iteration from all ones: the authority of a vertex is the sum of the hubs
// that point to it, its hub the sum of the authorities it points to, both from the
// round before, and then each is divided by its sum. The edges that leave vertex i
// lead to idx[ptr[i]:ptr[i+1]].
//
// The benchmark's authors multiply by the matrix twice where one factor should be
// its transpose; with that, and three edges from each vertex, every element is 1/n
// after every round, whatever the program does wrong.
func HITS(ptr, idx []int32, rounds int) (authority, hub []float64) {
	n := len(ptr) - 1
	authority, hub = ones(n), ones(n)
	for range rounds {
		nextAuthority, nextHub := make([]float64, n), make([]float64, n)
		for from := range n {
			for _, to := range idx[ptr[from]:ptr[from+1]] {
				nextAuthority[to] += hub[from]
				nextHub[from] += authority[to]
			}
		}
		authority, hub = normalized(nextAuthority), normalized(nextHub)
	}
	return authority, hub
}

func ones(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = 1
	}
	return v
}

// normalized divides v by its sum, in place.
func normalized(v []float64) []float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	for i := range v {
		v[i] /= sum
	}
	return v
}
