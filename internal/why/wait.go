package why

import "github.com/reprise-gpu/reprise/ir"

// Wait is a wait of an operation for one on another lane.
type Wait struct {
	On   string      `json:"on"`
	Keep [][2]string `json:"keep"` // dependencies that the plan does not order without it; none for a delay
}

func (c *scope) wait(u, v ir.OpID) Wait {
	w := Wait{On: c.name(u), Keep: [][2]string{}}
	for _, d := range c.keeps(u, v) {
		w.Keep = append(w.Keep, [2]string{c.name(d.From), c.name(d.To)})
	}
	return w
}

// keeps returns the dependencies that the plan does not order without the wait of v for u.
func (c *scope) keeps(u, v ir.OpID) (all []ir.Dep) {
	n := c.schedule.Graph.Len()
	above, below := make([]bool, n), make([]bool, n)
	for _, w := range reach(n, c.before, u) {
		above[w] = true
	}
	below[v] = true
	for _, w := range c.schedule.Order {
		for _, p := range c.before(w) {
			below[w] = below[w] || below[p]
		}
	}
	rest := except(c.before, u, v)
	for _, d := range c.reduced.Deps() {
		if above[d.From] && below[d.To] && path(n, rest, d.From, d.To) == nil {
			all = append(all, d)
		}
	}
	return all
}
