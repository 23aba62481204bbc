package layered

import (
	"slices"
	"sort"
)

// sweeps is the number of passes over all layers that improve the order.
const sweeps = 12

// order arranges the nodes of each layer by the mean position of their neighbours, and keeps the order with the fewest
// crossings.
func (g *layers) order() {
	best, fewest := g.copyRows(), g.crossings()
	for i := range sweeps {
		if i%2 == 0 {
			for r := 1; r < len(g.rows); r++ {
				g.arrange(r, g.in)
			}
		} else {
			for r := len(g.rows) - 2; r >= 0; r-- {
				g.arrange(r, g.out)
			}
		}
		if n := g.crossings(); n < fewest {
			best, fewest = g.copyRows(), n
		}
	}
	g.rows = best
	g.number()
}

func (g *layers) copyRows() [][]int {
	rows := make([][]int, len(g.rows))
	for r := range rows {
		rows[r] = slices.Clone(g.rows[r])
	}
	return rows
}

// arrange sorts a layer by the barycentres of the neighbours. Nodes without neighbours keep their position.
func (g *layers) arrange(r int, near [][]int) {
	row := g.rows[r]
	key := make(map[int]float64, len(row))
	for i, v := range row {
		key[v] = float64(i)
		if len(near[v]) > 0 {
			sum := 0
			for _, u := range near[v] {
				sum += g.at[u]
			}
			key[v] = float64(sum) / float64(len(near[v]))
		}
	}
	sort.SliceStable(row, func(i, j int) bool { return key[row[i]] < key[row[j]] })
	for i, v := range row {
		g.at[v] = i
	}
}

// crossings returns the number of pairs of edges between neighbouring layers that cross, by counting inversions in a
// Fenwick tree (Barth, Jünger and Mutzel, 2002).
func (g *layers) crossings() (n int) {
	for r := 0; r+1 < len(g.rows); r++ {
		tree := make([]int, len(g.rows[r+1])+1)
		seen := 0
		for _, u := range g.rows[r] {
			ends := make([]int, len(g.out[u]))
			for i, v := range g.out[u] {
				ends[i] = g.at[v]
			}
			for _, e := range ends { // those of u itself do not cross each other
				below := 0
				for i := e + 1; i > 0; i -= i & -i {
					below += tree[i]
				}
				n += seen - below
			}
			for _, e := range ends {
				for i := e + 1; i < len(tree); i += i & -i {
					tree[i]++
				}
				seen++
			}
		}
	}
	return n
}
