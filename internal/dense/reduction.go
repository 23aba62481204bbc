package dense

import "math"

// Transitive reduction of a DAG: find the edges that a longer path implies. The
// reduction of a DAG is unique (Aho, Garey and Ullman, "The transitive reduction
// of a directed graph", SIAM J. Comput. 1972), so all methods below give the
// same answer and the choice between them is about time alone.
//
//	a ──► b ──► c          a ──► b ──► c
//	└───────────▲    ==>
//
//	method          looks at                       good for
//	window          each edge once                 edges of 64 ranks at most, and decides only these
//	path lengths    each edge three times          layers, however long their edges, and decides only what is needed
//	rank-cut search what lies below each edge      short edges, as most traces have
//	chain clocks    the edges once per 16 chains   narrow graphs, however long their edges
//	blocked Set     the edges once per 512 nodes   wide graphs with long edges
//
// The window and the lengths go first, and where they decide all edges, are all there is to do. Each of the
// others is exact alone. The search has no bound but V·E; the cost of the last two, in edges visited, is
// computed in advance. So the search runs until it has visited as many as the better of these two would, which
// then decides what is left: together they visit at most 2·best + 8·E edges, where best is the cheapest of the
// three alone: 3·E for the lengths, 2·E before the estimates, 3·E for computing them. All need at most 64
// bytes per node beside the edges, the sweeps no more than 128 for each rank that an edge spans. Edges are
// counted, not seconds, so the path taken depends on the graph only.
//
// In wide random graphs whose edges reach anywhere, all three are quadratic. Where the best would visit more
// edges than a bound that is linear, the search visits a few for each row instead, which finds what a
// short path implies, and keeps the rest undecided: a dependency too many costs a wait at most.
// Up to 15,000 nodes every graph is within the bound: blocks are no more than 31, and each takes one
// visit of an edge at most.

// workBound is that bound: visits in all, and visits of each edge.
type workBound struct{ total, perEdge int }

func (w workBound) of(d *Graph) int { return w.total + w.perEdge*len(d.To) }

// sweepBound is for sweeps, which go through memory in order, and searchBound for a search that no
// sweep within its bound would end.
var (
	sweepBound  = workBound{1 << 23, 32}
	searchBound = workBound{1 << 22, 2}
)

// Reduction is the result of a reduction, and its state until then.
type Reduction struct {
	Graph     *Graph
	Redundant []bool // by edge: a longer path implies it
	Undecided int    // number of edges that were not marked because the bound of work was reached

	in      []int32 // by node: edges into it that may be needed
	decided int32   // edges that span at most this many nodes are needed if they are not marked

	needed  []bool      // by edge: no other path has its ends, as lengths shows; nil before label
	lengths pathLengths // nil before label
}

// Reduce marks the redundant edges, as far as they can be decided within the bounds of work.
func (d *Graph) Reduce() *Reduction { return d.reduceWithin(sweepBound, searchBound) }

// ReduceFully marks all redundant edges. In the worst case it visits each edge once for every 512 nodes.
func (d *Graph) ReduceFully() *Reduction {
	unbounded := workBound{total: math.MaxInt}
	return d.reduceWithin(unbounded, unbounded)
}

func (d *Graph) reduceWithin(sweeping, searching workBound) *Reduction {
	r := newReduction(d)
	open := r.window()
	if open*labelShare > len(d.To) {
		open = r.label()
	}
	if open == 0 {
		return r
	}
	search := newRankCut(r)
	if search.run(cheapLooks * len(d.To)) {
		return r
	}
	sweeps := r.cheapestSweeps()
	switch work := sweeps.work(); {
	case work > sweeping.of(d):
		if !search.run(searching.of(d)) {
			search.skim()
		}
	case !search.run(work):
		sweeps.reduce()
	}
	return r
}

// newReduction returns a reduction with every edge undecided.
func newReduction(d *Graph) *Reduction {
	return &Reduction{Graph: d, Redundant: make([]bool, len(d.To)), in: d.indegrees()}
}

// labelShare is the share of the edges that must be contested for path lengths to pay: they take as long as a search
// from one edge in labelShare.
const labelShare = 16

// cheapLooks is the number of visits per edge that the search may make before the costs of the other
// algorithms are estimated. On the traces of cmd/benchplan, the search either visits each edge once, because
// it finds nothing to walk, or at least five times, and the others visit it two or three times.
const cheapLooks = 2

// sweeps is a method that goes over parts of the graph a known number of times.
type sweeps interface {
	// work is the number of edges it looks at.
	work() int
	// reduce marks redundant edges. Those already marked are left out of every path.
	reduce()
}

func (r *Reduction) cheapestSweeps() sweeps {
	blocks, chains := newBlockSweeps(r), newChainSweeps(r)
	if chains.work() < blocks.work() {
		return chains
	}
	return blocks
}

// contested reports whether the edge from u to v, number i of u's row, may be redundant. It is needed if it is the
// first of the row, since a longer path would begin with a lower successor; if v has no other incoming edge; or if
// the lengths of paths rule out a longer path.
func (r *Reduction) contested(u int32, i int, v int32) bool {
	return i > 0 && v-u > r.decided && r.in[v] > 1 && (r.needed == nil || !r.needed[int(r.Graph.First[u])+i])
}

// Without returns d without the edges marked in drop.
func (d *Graph) Without(drop []bool) *Graph {
	r := &Graph{Rows{First: make([]int32, len(d.First)), To: make([]int32, 0, len(d.To))}}
	for v := range d.Len() {
		for e := d.First[v]; e < d.First[v+1]; e++ {
			if !drop[e] {
				r.To = append(r.To, d.To[e])
			}
		}
		r.First[v+1] = int32(len(r.To))
	}
	return r
}
