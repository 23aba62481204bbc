package reference

// HITS computes the hubs and authorities of a directed graph by power iteration from all ones. The authority of a
// vertex is the sum of the hubs that point to it, its hub the sum of the authorities that it points to, both of the
// previous round. Each vector is then divided by its sum. The edges of vertex i lead to idx[ptr[i]:ptr[i+1]].
//
// The authors of the suite multiply by the same matrix twice, where one factor should be its transpose. With three
// edges from each vertex every element is then 1/n after every round, even if the program is wrong.
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
