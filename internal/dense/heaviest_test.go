package dense

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// randomOrder returns weights of n nodes, and which of them a random partial order leaves incomparable.
func randomOrder(r *rand.Rand, n int) ([]int64, []Set) {
	weight, follows := make([]int64, n), make([][]bool, n)
	for i := range weight {
		weight[i] = 1 + r.Int64N(9)
		follows[i] = make([]bool, n)
	}
	p := r.Float64()
	for j := range n {
		for i := range j {
			if follows[j][i] = follows[j][i] || r.Float64() < p; follows[j][i] {
				for k := range i {
					follows[j][k] = follows[j][k] || follows[i][k]
				}
			}
		}
	}
	apart := make([]Set, n)
	for i := range apart {
		apart[i] = NewSet(n)
		for j := range n {
			if i != j && !follows[i][j] && !follows[j][i] {
				apart[i].Add(j)
			}
		}
	}
	return weight, apart
}

// The flow gives the same weight as an exhaustive search over all sets of nodes.
func TestAntichainIsTheHeaviest(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 51))
	for range 3000 {
		n := 1 + r.IntN(10)
		weight, apart := randomOrder(r, n)
		heaviest := int64(0)
		for set := range 1 << n {
			sum, all := int64(0), true
			for i := range n {
				if set>>i&1 == 0 {
					continue
				}
				sum += weight[i]
				for j := range i {
					all = all && (set>>j&1 == 0 || apart[i].Has(j))
				}
			}
			if all {
				heaviest = max(heaviest, sum)
			}
		}
		require.Equal(t, heaviest, HeaviestAntichain(weight, apart))
	}
}
