// Package layered places the nodes of an acyclic graph in layers, for drawings (Sugiyama, Tagawa and Toda, 1981): ranks by
// longest paths, orders by barycentres, coordinates by isotonic regression. Edges run from one layer to a later one.
//
// It takes O(sweeps · (nodes + edges + dummies) · log). An edge over many layers gets no dummy nodes, so that their number is
// linear in the edges.
package layered

// Size is the extent of a node.
type Size struct{ W, H float64 }

// Point is a position. y grows downwards.
type Point struct{ X, Y float64 }

// Layout is a placed graph. Its least coordinates are 0.
type Layout struct {
	At     []Point   // by node: its centre
	Rank   []int     // by node: its layer, from 0
	Routes [][]Point // by edge: from the bottom of one node to the top of another one
	Size   Size
}

// Distances between nodes of a layer, and between layers.
const (
	nodeGap = 24
	rankGap = 44
)

// maxDummies is the number of layers that an edge may cross with a dummy node in each.
const maxDummies = 24

// Place places nodes of the given sizes. Each edge must go from a node to one with a greater number.
func Place(sizes []Size, edges [][2]int) *Layout {
	g := newLayers(sizes, edges)
	g.order()
	g.spread()
	return g.layout(edges)
}

// layers is a graph whose edges connect neighbouring layers, by dummy nodes where need be.
type layers struct {
	sizes []Size // of nodes, then of dummies
	real  int    // number of nodes
	rank  []int
	in    [][]int // neighbours in the layer before, by node
	out   [][]int
	chain [][]int // by edge: its dummies
	rows  [][]int // by layer: its nodes in order
	at    []int   // by node: its index in its row
	x     []float64
}

func newLayers(sizes []Size, edges [][2]int) *layers {
	n := len(sizes)
	g := &layers{sizes: append([]Size(nil), sizes...), real: n, rank: ranks(n, edges), in: make([][]int, n), out: make([][]int, n), chain: make([][]int, len(edges))}
	for i, e := range edges {
		from, to := e[0], e[1]
		if g.rank[to]-g.rank[from]-1 > maxDummies {
			continue
		}
		last := from
		for r := g.rank[from] + 1; r < g.rank[to]; r++ {
			d := g.dummy(r)
			g.chain[i] = append(g.chain[i], d)
			g.connect(last, d)
			last = d
		}
		g.connect(last, to)
	}
	for v, r := range g.rank {
		for len(g.rows) <= r {
			g.rows = append(g.rows, nil)
		}
		g.rows[r] = append(g.rows[r], v)
	}
	g.at = make([]int, len(g.rank))
	g.number()
	return g
}

func (g *layers) dummy(rank int) int {
	g.sizes = append(g.sizes, Size{2, 0})
	g.rank = append(g.rank, rank)
	g.in, g.out = append(g.in, nil), append(g.out, nil)
	return len(g.rank) - 1
}

func (g *layers) connect(u, v int) {
	g.out[u] = append(g.out[u], v)
	g.in[v] = append(g.in[v], u)
}

// number stores the index of each node in its row.
func (g *layers) number() {
	for _, row := range g.rows {
		for i, v := range row {
			g.at[v] = i
		}
	}
}

// ranks returns the layers: the longest path from a source. A node without predecessors moves to the layer before its first
// successor.
func ranks(n int, edges [][2]int) []int {
	out := make([][]int, n)
	hasIn := make([]bool, n)
	for _, e := range edges {
		out[e[0]] = append(out[e[0]], e[1])
		hasIn[e[1]] = true
	}
	rank := make([]int, n)
	for u := range n { // edges ascend, so this order is topological
		for _, v := range out[u] {
			rank[v] = max(rank[v], rank[u]+1)
		}
	}
	for u := range n {
		if hasIn[u] || len(out[u]) == 0 {
			continue
		}
		first := rank[out[u][0]]
		for _, v := range out[u] {
			first = min(first, rank[v])
		}
		rank[u] = first - 1
	}
	return rank
}

// layout returns the coordinates.
func (g *layers) layout(edges [][2]int) *Layout {
	l := &Layout{At: make([]Point, g.real), Rank: g.rank[:g.real], Routes: make([][]Point, len(edges))}
	y, tops, heights := 0.0, make([]float64, len(g.rows)), make([]float64, len(g.rows))
	for r, row := range g.rows {
		for _, v := range row {
			heights[r] = max(heights[r], g.sizes[v].H)
		}
		tops[r] = y
		y += heights[r] + rankGap
	}
	point := func(v int) Point { return Point{g.x[v], tops[g.rank[v]] + heights[g.rank[v]]/2} }
	for v := range g.real {
		l.At[v] = point(v)
		l.Size.W = max(l.Size.W, g.x[v]+g.sizes[v].W/2)
		l.Size.H = max(l.Size.H, l.At[v].Y+g.sizes[v].H/2)
	}
	for i, e := range edges {
		from, to := l.At[e[0]], l.At[e[1]]
		from.Y += g.sizes[e[0]].H / 2
		to.Y -= g.sizes[e[1]].H / 2
		route := []Point{from}
		for _, d := range g.chain[i] {
			route = append(route, point(d))
		}
		l.Routes[i] = append(route, to)
	}
	return l
}
