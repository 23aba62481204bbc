package optimizer

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// randomLives are lives of some sizes that follow one another in a random partial order.
func randomLives(r *rand.Rand, n int) ([]life, []bitset) {
	lives, follows := make([]life, n), make([][]bool, n)
	for i := range lives {
		lives[i].size = 1 + r.Int64N(9)
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
	conflicts := make([]bitset, n)
	for i := range conflicts {
		conflicts[i] = newBitset(n)
		for j := range n {
			if i != j && !follows[i][j] && !follows[j][i] {
				conflicts[i].set(j)
			}
		}
	}
	return lives, conflicts
}

// The flow finds what trying every set of lives does.
func TestAntichainIsTheHeaviest(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 51))
	for range 3000 {
		n := 1 + r.IntN(10)
		lives, conflicts := randomLives(r, n)
		heaviest := int64(0)
		for set := range 1 << n {
			bytes, all := int64(0), true
			for i := range n {
				if set>>i&1 == 0 {
					continue
				}
				bytes += lives[i].size
				for j := range i {
					all = all && (set>>j&1 == 0 || conflicts[i].has(j))
				}
			}
			if all {
				heaviest = max(heaviest, bytes)
			}
		}
		require.Equal(t, heaviest, antichain(lives, conflicts))
	}
}
