package taskgraph

// tiles is a matrix of k by k tiles, with the task that wrote each tile last.
type tiles struct {
	*plot
	last [][]int // -1 before the first write
}

func (p *plot) matrix(k int) *tiles {
	m := &tiles{p, make([][]int, k)}
	for i := range m.last {
		m.last[i] = make([]int, k)
		for j := range k {
			m.last[i][j] = -1
		}
	}
	return m
}

// at is the position of a tile.
type at struct{ i, j int }

// update adds a task that reads tiles and rewrites others. Its work is given in multiplications, in units of the cube
// of a tile's side.
func (m *tiles) update(work float64, writes []at, reads ...at) {
	var after []int
	for _, t := range append(reads, writes...) {
		if u := m.last[t.i][t.j]; u >= 0 {
			after = append(after, u)
		}
	}
	v := m.task(work, after...)
	for _, t := range writes {
		m.last[t.i][t.j] = v
	}
}

func cholesky(p *plot, k int) {
	m := p.matrix(k)
	for n := range k {
		m.update(1./6, []at{{n, n}})
		for i := n + 1; i < k; i++ {
			m.update(1./2, []at{{i, n}}, at{n, n})
		}
		for i := n + 1; i < k; i++ {
			m.update(1./2, []at{{i, i}}, at{i, n})
			for j := n + 1; j < i; j++ {
				m.update(1, []at{{i, j}}, at{i, n}, at{j, n})
			}
		}
	}
}

func lu(p *plot, k int) {
	m := p.matrix(k)
	for n := range k {
		m.update(1./3, []at{{n, n}})
		for i := n + 1; i < k; i++ {
			m.update(1./2, []at{{i, n}}, at{n, n})
			m.update(1./2, []at{{n, i}}, at{n, n})
		}
		for i := n + 1; i < k; i++ {
			for j := n + 1; j < k; j++ {
				m.update(1, []at{{i, j}}, at{i, n}, at{n, j})
			}
		}
	}
}

func qr(p *plot, k int) {
	m := p.matrix(k)
	for n := range k {
		m.update(2./3, []at{{n, n}})
		for j := n + 1; j < k; j++ {
			m.update(1, []at{{n, j}}, at{n, n})
		}
		for i := n + 1; i < k; i++ {
			m.update(1, []at{{n, n}, {i, n}})
			for j := n + 1; j < k; j++ {
				m.update(2, []at{{n, j}, {i, j}}, at{i, n})
			}
		}
	}
}

// gauss is Gaussian elimination with k+1 columns: a pivot is found in one column, and all columns to its right are
// updated.
func gauss(p *plot, k int) {
	column := make([]int, k+1)
	for n := range k {
		length := float64(k-n) / float64(k)
		if n == 0 {
			column[n] = p.task(length)
		} else {
			column[n] = p.task(length, column[n])
		}
		for j := n + 1; j <= k; j++ {
			after := []int{column[n]}
			if n > 0 {
				after = append(after, column[j])
			}
			column[j] = p.task(length, after...)
		}
	}
}

// strassen is Strassen's multiplication with k levels of recursion.
func strassen(p *plot, k int) { p.product(k, p.drawn(), p.drawn()) }

// product adds the tasks that multiply two matrices, and returns the task with the result.
func (p *plot) product(level, a, b int) int {
	if level == 0 {
		return p.task(1, a, b)
	}
	sum := func(after ...int) int { return p.task(1./8, after...) }
	left := []int{sum(a), sum(a), a, a, sum(a), sum(a), sum(a)}
	right := []int{sum(b), b, sum(b), sum(b), b, sum(b), sum(b)}
	var m [7]int
	for i := range m {
		m[i] = p.product(level-1, left[i], right[i])
	}
	return sum(sum(m[0], m[3], m[4], m[6]), sum(m[2], m[4]), sum(m[1], m[3]), sum(m[0], m[1], m[2], m[5]))
}
