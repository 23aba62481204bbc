package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/reprise-gpu/reprise/ir"
)

// graphFamily generates graphs of one shape and any size, on which strategies are measured. Operations are empty and
// take 1 to 10 us. The number of dependencies is linear in the number of operations.
type graphFamily struct {
	name, doc string
	grow      func(p *planting, ops int)
}

var graphFamilies = []graphFamily{
	{"fans10", "fork-joins of 10, one after another", fans(10)},
	{"fans1000", "fork-joins of 1000", fans(1000)},
	{"fans9000", "fork-joins of 9000", fans(9000)},
	{"fanwide", "four fork-joins of a quarter of all operations each", func(p *planting, ops int) { fans(max(1, ops/4-1))(p, ops) }},
	{"outtree", "each operation is followed by two", outTree},
	{"intree", "each operation follows two", inTree},
	{"stencil", "a cube of cells, step by step: each follows itself and its six neighbours", stencil},
	{"wavefront", "a square of cells, each after those above and to the left", wavefront},
	{"butterfly", "layers of a fast Fourier transform", butterfly},
	{"bipartite", "layers of 16, each operation after all of the layer before", bipartite},
	{"near", "random: each operation after three of the thousand before it", randomAfter(1000)},
	{"far", "random: each operation after three of all before it", randomAfter(1 << 30)},
}

func familyNamed(name string) (graphFamily, error) {
	for _, f := range graphFamilies {
		if f.name == name {
			return f, nil
		}
	}
	return graphFamily{}, fmt.Errorf("unknown graph family %q: `make bench-plan` prints all of them", name)
}

// planting builds a graph.
type planting struct {
	graph  *ir.Graph
	random *rand.Rand
}

// planted returns the family's graph of about ops operations.
func (f graphFamily) planted(ops int) *ir.Graph {
	p := &planting{&ir.Graph{Name: f.name}, rand.New(rand.NewPCG(2, 2))}
	f.grow(p, ops)
	return p.graph
}

// add adds an operation that depends on the given ones and returns its number.
func (p *planting) add(after ...ir.OpID) ir.OpID {
	v := ir.OpID(p.graph.Len())
	p.graph.Ops = append(p.graph.Ops, ir.Op{Kind: ir.KindEmpty, After: after, Cost: 1000 + p.random.Int64N(9000)})
	return v
}

// layer adds n operations; operation i depends on after(i).
func (p *planting) layer(n int, after func(i int) []ir.OpID) []ir.OpID {
	added := make([]ir.OpID, n)
	for i := range added {
		added[i] = p.add(after(i)...)
	}
	return added
}

func fans(width int) func(*planting, int) {
	return func(p *planting, ops int) {
		last := p.add()
		for p.graph.Len() < ops {
			last = p.add(p.layer(width, func(int) []ir.OpID { return []ir.OpID{last} })...)
		}
	}
}

func outTree(p *planting, ops int) {
	p.add()
	for v := 1; v < ops; v++ {
		p.add(ir.OpID((v - 1) / 2))
	}
}

func inTree(p *planting, ops int) {
	leaves := (ops + 1) / 2
	p.layer(leaves, func(int) []ir.OpID { return nil })
	for i := range leaves - 1 {
		p.add(ir.OpID(2*i), ir.OpID(2*i+1))
	}
}

func stencil(p *planting, ops int) {
	side := 2
	for (side+1)*(side+1)*(side+1)*8 < ops {
		side++
	}
	cell := func(x, y, z int) int { return (x*side+y)*side + z }
	neighbours := make([][]int, side*side*side)
	for i := range neighbours {
		x, y, z := i/side/side, i/side%side, i%side
		for _, n := range [][3]int{{x - 1, y, z}, {x, y - 1, z}, {x, y, z - 1}, {x, y, z}, {x, y, z + 1}, {x, y + 1, z}, {x + 1, y, z}} {
			if min(n[0], n[1], n[2]) >= 0 && max(n[0], n[1], n[2]) < side {
				neighbours[i] = append(neighbours[i], cell(n[0], n[1], n[2]))
			}
		}
	}
	last := p.layer(len(neighbours), func(int) []ir.OpID { return nil })
	for p.graph.Len()+len(last) <= ops {
		last = p.layer(len(last), func(i int) []ir.OpID { return picked(last, neighbours[i]...) })
	}
}

func picked(from []ir.OpID, at ...int) []ir.OpID {
	list := make([]ir.OpID, len(at))
	for i, k := range at {
		list[i] = from[k]
	}
	return list
}

func wavefront(p *planting, ops int) {
	side := 1
	for (side+1)*(side+1) <= ops {
		side++
	}
	above := make([]ir.OpID, 0, side)
	for range side {
		row := make([]ir.OpID, 0, side)
		for x := range side {
			var after []ir.OpID
			if len(above) > 0 {
				after = append(after, above[x])
			}
			if x > 0 {
				after = append(after, row[x-1])
			}
			row = append(row, p.add(after...))
		}
		above = row
	}
}

func butterfly(p *planting, ops int) {
	depth := 1
	for (depth+2)<<(depth+1) <= ops {
		depth++
	}
	last := p.layer(1<<depth, func(int) []ir.OpID { return nil })
	for bit := range depth {
		last = p.layer(len(last), func(i int) []ir.OpID { return picked(last, i&^(1<<bit), i|1<<bit) })
	}
}

func bipartite(p *planting, ops int) {
	const width = 16
	last := p.layer(width, func(int) []ir.OpID { return nil })
	for p.graph.Len()+width <= ops {
		last = p.layer(width, func(int) []ir.OpID { return last })
	}
}

// randomAfter builds a graph in which each operation depends on three random ones among the last reach operations.
func randomAfter(reach int) func(*planting, int) {
	return func(p *planting, ops int) {
		for v := range ops {
			var after []ir.OpID
			for range min(v, 3) {
				after = append(after, ir.OpID(v-1-p.random.IntN(min(v, reach))))
			}
			p.add(after...)
		}
	}
}
