package reference

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// 0 → 1, 0 → 2, 1 → 2.
func TestHITSByHand(t *testing.T) {
	ptr, idx := []int32{0, 2, 3, 3}, []int32{1, 2, 2}
	for rounds, want := range []struct{ authority, hub []float64 }{
		{[]float64{1, 1, 1}, []float64{1, 1, 1}},
		{[]float64{0, 1. / 3, 2. / 3}, []float64{2. / 3, 1. / 3, 0}}, // in-degrees 0 1 2, out-degrees 2 1 0
		{[]float64{0, 2. / 5, 3. / 5}, []float64{3. / 5, 2. / 5, 0}}, // 0 2/3 1 and 1 2/3 0
		{[]float64{0, 3. / 8, 5. / 8}, []float64{5. / 8, 3. / 8, 0}}, // 0 3/5 1 and 1 3/5 0
	} {
		authority, hub := HITS(ptr, idx, rounds)
		assert.InDeltaSlice(t, want.authority, authority, 1e-15, "authority after %d rounds", rounds)
		assert.InDeltaSlice(t, want.hub, hub, 1e-15, "hub after %d rounds", rounds)
	}
}

// TestHITSTendsToEigenvectors runs many rounds. Two rounds multiply the authorities by AᵀA and the hubs by AAᵀ, so both
// converge to eigenvectors.
func TestHITSTendsToEigenvectors(t *testing.T) {
	const n = 12
	rng := rand.New(rand.NewPCG(1, 2))
	var a [n][n]float64
	ptr, idx := []int32{0}, []int32(nil)
	for i := range n {
		for j := range n {
			if rng.IntN(3) == 0 {
				a[i][j] = 1
				idx = append(idx, int32(j))
			}
		}
		ptr = append(ptr, int32(len(idx)))
	}
	authority, hub := HITS(ptr, idx, 400)
	var toAuthority, toHub, again, back [n]float64
	for i := range n {
		for j := range n {
			toAuthority[j] += a[i][j] * hub[i]
			toHub[i] += a[i][j] * authority[j]
		}
	}
	for i := range n {
		for j := range n {
			again[j] += a[i][j] * toHub[i]
			back[i] += a[i][j] * toAuthority[j]
		}
	}
	assertParallel(t, authority, again[:])
	assertParallel(t, hub, back[:])
}

// assertParallel checks that one vector is a multiple of the other.
func assertParallel(t *testing.T, a, b []float64) {
	t.Helper()
	var aa, bb, ab float64
	for i := range a {
		aa, bb, ab = aa+a[i]*a[i], bb+b[i]*b[i], ab+a[i]*b[i]
	}
	assert.InDelta(t, 1, ab/math.Sqrt(aa*bb), 1e-12)
}
