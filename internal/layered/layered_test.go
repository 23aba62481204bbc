package layered

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func random(seed uint64, n, reach int) (sizes []Size, edges [][2]int) {
	r := rand.New(rand.NewPCG(seed, 8))
	for v := range n {
		sizes = append(sizes, Size{float64(20 + r.IntN(100)), 30})
		for range min(v, 1+r.IntN(3)) {
			if e := [2]int{max(0, v-1-r.IntN(reach)), v}; !slices.Contains(edges, e) {
				edges = append(edges, e)
			}
		}
	}
	return sizes, edges
}

// TestLayersAreDrawable checks random graphs: edges go down, nodes of a layer do not overlap, and routes end at their nodes.
func TestLayersAreDrawable(t *testing.T) {
	for seed := range uint64(60) {
		sizes, edges := random(seed, 1+int(seed)*2, 1+int(seed)%40)
		l := Place(sizes, edges)
		rows := map[int][]int{}
		for v, p := range l.At {
			rows[l.Rank[v]] = append(rows[l.Rank[v]], v)
			require.GreaterOrEqual(t, p.X-sizes[v].W/2, -1e-6)
			require.LessOrEqual(t, p.X+sizes[v].W/2, l.Size.W+1e-6)
		}
		for _, row := range rows {
			slices.SortFunc(row, func(a, b int) int { return int(l.At[a].X - l.At[b].X) })
			for i := 1; i < len(row); i++ {
				u, v := row[i-1], row[i]
				require.GreaterOrEqual(t, l.At[v].X-sizes[v].W/2, l.At[u].X+sizes[u].W/2+nodeGap/2, "seed %d", seed)
			}
		}
		for i, e := range edges {
			require.Less(t, l.Rank[e[0]], l.Rank[e[1]])
			route := l.Routes[i]
			require.InDelta(t, l.At[e[0]].X, route[0].X, 1e-6)
			require.InDelta(t, l.At[e[1]].X, route[len(route)-1].X, 1e-6)
			for k := 1; k < len(route); k++ {
				require.Less(t, route[k-1].Y, route[k].Y)
			}
		}
	}
}

// TestCrossingsAreCounted compares the count with all pairs of edges.
func TestCrossingsAreCounted(t *testing.T) {
	for seed := range uint64(40) {
		sizes, edges := random(seed, 30, 8)
		g := newLayers(sizes, edges)
		want := 0
		for u := range g.out {
			for v := range u {
				if g.rank[u] != g.rank[v] {
					continue
				}
				for _, a := range g.out[u] {
					for _, b := range g.out[v] {
						if (g.at[u]-g.at[v])*(g.at[a]-g.at[b]) < 0 {
							want++
						}
					}
				}
			}
		}
		before := g.crossings()
		require.Equal(t, want, before)
		g.order()
		assert.LessOrEqual(t, g.crossings(), before)
	}
}

// TestLadderHasNoCrossings places two chains with rungs, which are drawn without a crossing.
func TestLadderHasNoCrossings(t *testing.T) {
	var edges [][2]int
	for i := 0; i+2 < 40; i += 2 {
		edges = append(edges, [2]int{i, i + 2}, [2]int{i + 1, i + 3})
	}
	g := newLayers(make([]Size, 40), edges)
	g.order()
	assert.Zero(t, g.crossings())
}

// TestStraightChain places a chain in a column.
func TestStraightChain(t *testing.T) {
	sizes := []Size{{40, 20}, {80, 20}, {60, 20}, {10, 20}}
	l := Place(sizes, [][2]int{{0, 1}, {1, 2}, {2, 3}})
	for _, p := range l.At {
		assert.InDelta(t, l.At[0].X, p.X, 1)
	}
	assert.InDelta(t, 4*20+3*rankGap, l.Size.H, 1e-9)
}

func BenchmarkPlace5000(b *testing.B) {
	sizes, edges := random(1, 5000, 60)
	for b.Loop() {
		Place(sizes, edges)
	}
}
