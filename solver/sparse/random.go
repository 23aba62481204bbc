package sparse

import "math/rand/v2"

// RandomSPD is a random symmetric positive definite matrix of n rows, with perRow elements
// beside the diagonal in an average row, each from -1 to 0. A row's diagonal exceeds their
// sum by (1+perRow)/20 to twice that, so that the former is a lower bound of the eigenvalues.
func RandomSPD(n, perRow int, seed uint64) *CSR {
	rng := rand.New(rand.NewPCG(seed, 0))
	t := NewTriplets(n, n)
	sums := make([]float64, n)
	for range n * perRow / 2 {
		i, j := rng.IntN(n), rng.IntN(n)
		if i == j {
			continue
		}
		v := rng.Float64()
		t.Add(i, j, -v)
		t.Add(j, i, -v)
		sums[i] += v
		sums[j] += v
	}
	for i, sum := range sums {
		t.Add(i, i, sum+float64(1+perRow)/20*(1+rng.Float64()))
	}
	a, err := t.CSR()
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return a
}

// RandomLinks is a random directed graph of n pages: element (i, j) is how many links go from i to j. Each page
// has perPage links, but for one in 16, which has none. The lower its number, the more links go to a page: half of them
// to the first quarter.
func RandomLinks(n, perPage int, seed uint64) *CSR {
	rng := rand.New(rand.NewPCG(seed, 0))
	t := NewTriplets(n, n)
	for i := range n {
		if i%16 == 15 {
			continue
		}
		for range perPage {
			u := rng.Float64()
			t.Add(i, int(u*u*float64(n)), 1)
		}
	}
	a, err := t.CSR()
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return a
}
