package taskgraph

func chain(p *plot, k int) {
	last := p.drawn()
	for range k - 1 {
		last = p.drawn(last)
	}
}

func outTree(p *plot, k int) {
	level := p.several(1)
	for range k - 1 {
		var next []int
		for _, t := range level {
			next = append(next, p.several(2, t)...)
		}
		level = next
	}
}

func inTree(p *plot, k int) {
	level := p.several(1 << (k - 1))
	for len(level) > 1 {
		var next []int
		for i := 0; i < len(level); i += 2 {
			next = append(next, p.drawn(level[i], level[i+1]))
		}
		level = next
	}
}

func forkJoin(p *plot, k int) {
	last := p.drawn()
	for range k {
		last = p.drawn(p.several(p.between(2, 16), last)...)
	}
}

// seriesParallel returns k tasks between a first and a last one.
func seriesParallel(p *plot, k int) {
	p.drawn(p.compose(k, []int{p.drawn()})...)
}

// compose adds n tasks after others and returns the tasks without successors.
func (p *plot) compose(n int, after []int) []int {
	if n == 1 {
		return []int{p.drawn(after...)}
	}
	first := p.between(1, n-1)
	if p.random.IntN(2) == 0 {
		return p.compose(n-first, p.compose(first, after))
	}
	return append(p.compose(first, after), p.compose(n-first, after)...)
}

func layered(p *plot, k int) {
	layer := p.several(p.between(1, 16))
	for range k - 1 {
		next := make([]int, p.between(1, 16))
		for i := range next {
			next[i] = p.drawn(p.some(layer, 2/float64(len(layer)))...)
		}
		layer = next
	}
}

func random(p *plot, k int) {
	for v := range k {
		var after []int
		for u := range v {
			if p.random.Float64() < 6/float64(k) {
				after = append(after, u)
			}
		}
		p.drawn(after...)
	}
}

func wavefront(p *plot, k int) {
	above := make([]int, k)
	for i := range k {
		for j := range above {
			var after []int
			if i > 0 {
				after = append(after, above[j])
			}
			if j > 0 {
				after = append(after, above[j-1]) // in this row already
			}
			above[j] = p.drawn(after...)
		}
	}
}

// stencil has k time steps over k tiles.
func stencil(p *plot, k int) {
	tiles := p.several(k)
	for range k {
		next := make([]int, k)
		for i := range next {
			next[i] = p.drawn(tiles[max(0, i-1):min(k, i+2)]...)
		}
		tiles = next
	}
}

// fft has 2^k points: one task per recursive call, then k layers of butterflies.
func fft(p *plot, k int) {
	outTree(p, k+1)
	points := 1 << k
	layer := make([]int, points)
	for i := range layer {
		layer[i] = len(p.tasks) - points + i
	}
	for apart := 1; apart < points; apart *= 2 {
		next := make([]int, points)
		for i := range next {
			next[i] = p.drawn(layer[i], layer[i^apart])
		}
		layer = next
	}
}

// training has k layers.
func training(p *plot, k int) {
	activations := []int{p.drawn()}
	for i := range k {
		activations = append(activations, p.drawn(activations[i]))
	}
	gradient := p.drawn(activations[k])
	for i := k - 1; i >= 0; i-- {
		p.drawn(gradient, activations[i]) // gradient of the weights
		if i > 0 {
			gradient = p.drawn(gradient, activations[i])
		}
	}
}

// attention has k layers.
func attention(p *plot, k int) {
	x := p.drawn()
	for range k {
		norm := p.drawn(x)
		var heads []int
		for range 8 {
			qkv := p.several(3, norm)
			weights := p.drawn(p.drawn(qkv[0], qkv[1]))
			heads = append(heads, p.drawn(weights, qkv[2]))
		}
		x = p.drawn(p.drawn(heads...), x)
		x = p.drawn(p.drawn(p.drawn(p.drawn(x))), x) // norm, up, down; the sum
	}
}
