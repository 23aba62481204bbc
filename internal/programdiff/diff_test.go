package programdiff

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/ir"
)

func load(t *testing.T, ops string) *ir.File {
	return parse(t, "graph g {\n  buffer @x f32[64] device(0) inout\n  buffer @y f32[64] device(0) inout\n"+ops+"}\n")
}

func parse(t *testing.T, text string) *ir.File {
	f, err := ir.Load("x.rir", text)
	require.NoError(t, err)
	return f
}

func TestDifference(t *testing.T) {
	a := load(t, "%0 = memset @x u32=1\n%1 = copy @x -> @y\n%2 = memset @y u32=3 label(\"end\")\n")
	b := load(t, "%0 = memset @x u32=2\n%1 = memset @y u32=0 label(\"new\")\n%2 = copy @x -> @y\n")
	d := Of(a, b)
	assert.Equal(t, []string{"%2 end"}, d.Removed)
	assert.Equal(t, []string{"%1 new"}, d.Added)
	assert.Equal(t, []Change{{"%0 memset", "%0 memset", []string{"value u32=1 -> u32=2"}}}, d.Changed)
	assert.False(t, d.Equal())
	assert.True(t, Of(a, a).Equal())
}

// TestDeclarationsDiffer expects changes of a parameter, of buffers and of their contents, although no operation differs.
func TestDeclarationsDiffer(t *testing.T) {
	a := parse(t, `graph g {
  param $alpha f32 = 0.2
  param $gone i32 = 1
  buffer @x f32[8] device(0) inout
  buffer @y f32[8] device(0) inout
  buffer @z f32[8] device(0) temporary
}
contents {
  @x = uniform(1, 0, 1)
}
`)
	b := parse(t, `graph g {
  param $alpha f32 = 0.25
  buffer @x f32[8] device(0) inout
  buffer @y f64[16] device(0) constant
  buffer @new f32[8] device(0) temporary
  buffer @z f32[8] device(0) temporary
}
contents {
  @x = uniform(2, 0, 1)
  @y = fill(1)
}
`)
	d := Of(a, b)
	assert.Equal(t, []string{"param $gone"}, d.Removed)
	assert.Equal(t, []string{"buffer @new"}, d.Added)
	assert.Equal(t, []Change{
		{"param $alpha", "param $alpha", []string{"value f32=0.2 -> f32=0.25"}},
		{"buffer @x", "buffer @x", []string{"contents uniform(1, 0, 1) -> uniform(2, 0, 1)"}},
		{"buffer @y", "buffer @y", []string{"type f32 -> f64", "elements 8 -> 16", "role inout -> constant", "contents none -> fill(1)"}},
	}, d.Changed)
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
