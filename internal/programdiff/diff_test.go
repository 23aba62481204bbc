package programdiff

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/ir"
)

func load(t *testing.T, ops string) *ir.Graph {
	f, err := ir.Load("x.rir", "graph g {\n  buffer @x f32[64] device(0) inout\n  buffer @y f32[64] device(0) inout\n"+ops+"}\n")
	require.NoError(t, err)
	return f.Graph
}

func TestDifference(t *testing.T) {
	a := load(t, "%0 = memset @x u32=1\n%1 = copy @x -> @y\n%2 = memset @y u32=3 label(\"end\")\n")
	b := load(t, "%0 = memset @x u32=2\n%1 = memset @y u32=0 label(\"new\")\n%2 = copy @x -> @y\n")
	d := Of(a, b)
	assert.Equal(t, []string{"%2 end"}, d.Removed)
	assert.Equal(t, []string{"%1 new"}, d.Added)
	assert.Equal(t, []Change{{"%0 memset", "%0 memset", []string{"value 0x1 -> 0x2"}}}, d.Changed)
	assert.False(t, d.Equal())
	assert.True(t, Of(a, a).Equal())
}

// TestMatchIsLongest compares the length of the match with the best of all subsequences.
func TestMatchIsLongest(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		words := func() (all []string) {
			for range r.IntN(9) {
				all = append(all, fmt.Sprint(r.IntN(3)))
			}
			return all
		}
		a, b := words(), words()
		n, last := 0, ir.OpID(-1)
		for u, v := range match(a, b) {
			if v >= 0 {
				n++
				require.Greater(t, v, last)
				require.Equal(t, a[u], b[v])
				last = v
			}
		}
		best := 0
		for set := range 1 << len(a) {
			at, length := 0, 0
			for i := range a {
				if set>>i&1 == 0 {
					continue
				}
				for at < len(b) && b[at] != a[i] {
					at++
				}
				if at == len(b) {
					length = -1
					break
				}
				at, length = at+1, length+1
			}
			best = max(best, length)
		}
		require.Equal(t, best, n, "seed %d", seed)
	}
}
