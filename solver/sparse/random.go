package sparse

import "math/rand/v2"

// randomSPD returns a random symmetric positive definite matrix with n rows. A row has perRow elements beside the
// diagonal on average, each from -1 to 0. The diagonal exceeds the sum of their absolute values by (1+perRow)/20 to
// twice that, so (1+perRow)/20 is a lower bound of the eigenvalues.
func randomSPD(n, perRow int, seed uint64) *CSR {
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

// randomLinks returns a random directed graph of n pages: element (i, j) is the number of links from i to j. One page
// in 16 has no links; the others have perPage each. Pages with low numbers get more links: the first quarter gets
// half of them.
func randomLinks(n, perPage int, seed uint64) *CSR {
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
