package layered

// passes is the number of passes over all layers that align nodes with their neighbours.
const passes = 16

// spread sets the coordinates across the layers: each layer in turn is placed as close as possible, by least squares, to the
// means of the neighbours, without a change of the order and with the required distances.
func (g *layers) spread() {
	g.x = make([]float64, len(g.rank))
	for _, row := range g.rows {
		at := 0.0
		for i, v := range row {
			if i > 0 {
				at += g.distance(row[i-1], v)
			}
			g.x[v] = at
		}
		for _, v := range row {
			g.x[v] -= at / 2 // centred
		}
	}
	for i := range passes {
		if i%2 == 0 {
			for r := 1; r < len(g.rows); r++ {
				g.align(g.rows[r], g.in)
			}
		} else {
			for r := len(g.rows) - 2; r >= 0; r-- {
				g.align(g.rows[r], g.out)
			}
		}
	}
	g.shift()
}

// distance returns the least distance between the centres of two neighbours in a layer.
func (g *layers) distance(u, v int) float64 {
	gap := float64(nodeGap)
	if u >= g.real || v >= g.real {
		gap /= 2
	}
	return g.sizes[u].W/2 + gap + g.sizes[v].W/2
}

// block is a run of nodes that touch each other, in the pool-adjacent-violators algorithm.
type block struct {
	sum, weight float64
	n           int
}

// align places a row near the means of the neighbours.
func (g *layers) align(row []int, near [][]int) {
	offset, blocks := make([]float64, len(row)), make([]block, 0, len(row))
	for i, v := range row {
		if i > 0 {
			offset[i] = offset[i-1] + g.distance(row[i-1], v)
		}
		want, weight := g.wanted(v, near)
		blocks = append(blocks, block{(want - offset[i]) * weight, weight, 1})
		for k := len(blocks); k > 1 && blocks[k-2].sum/blocks[k-2].weight > blocks[k-1].sum/blocks[k-1].weight; k-- {
			a, b := blocks[k-2], blocks[k-1]
			blocks = append(blocks[:k-2], block{a.sum + b.sum, a.weight + b.weight, a.n + b.n})
		}
	}
	i := 0
	for _, b := range blocks {
		for range b.n {
			g.x[row[i]] = b.sum/b.weight + offset[i]
			i++
		}
	}
}

// wanted returns the position that a node should have, and the weight of that. Dummies weigh most, so that long edges are
// straight.
func (g *layers) wanted(v int, near [][]int) (at, weight float64) {
	if len(near[v]) == 0 {
		return g.x[v], 0.1
	}
	for _, u := range near[v] {
		at += g.x[u]
	}
	weight = float64(len(near[v]))
	if v >= g.real {
		weight = 4
	}
	return at / float64(len(near[v])), weight
}

// shift moves all nodes so that the least coordinate is 0.
func (g *layers) shift() {
	least := 0.0
	for v := range g.x {
		if left := g.x[v] - g.sizes[v].W/2; v == 0 || left < least {
			least = left
		}
	}
	for v := range g.x {
		g.x[v] -= least
	}
}
