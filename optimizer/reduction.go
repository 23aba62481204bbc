package optimizer

// Transitive reduction of a DAG: find the edges that a longer path implies. The
// reduction of a DAG is unique (Aho, Garey and Ullman, "The transitive reduction
// of a directed graph", SIAM J. Comput. 1972), so both methods below give the
// same answer and the choice between them is about time alone.
//
//	a ──► b ──► c          a ──► b ──► c
//	└───────────▲    ==>
//
// Rank-cut search: from the last node to the first, walk what its successors
// reach along edges already known to be needed, and never past the rank of the
// last successor. Close to linear on traces, whose edges are short; up to V·E on
// dense graphs with long edges.
//
// Blocked bitset: for 512 columns at a time, hold in one cache line per node
// which of the columns it reaches, for the ranks that matter to those columns.
// Never worse than V/512 sweeps over the edges, and 64 bytes per node where a
// plain closure takes V/8: 14 MB instead of 5.8 GB at 214,591 nodes.
//
// The search runs until it has looked at as many edges as the bitset would have;
// then the bitset decides what is left. The work is at most twice the better of
// the two, and since edges are counted, not seconds, the path taken depends on
// the graph only.

// redundantEdges reports, by edge, whether a longer path implies it.
func (d *dag) redundantEdges() []bool {
	redundant := make([]bool, len(d.to))
	in := d.indegrees()
	if s := newRankCut(d, in, redundant); !s.run(d.blockedWork(in)) {
		d.blockedReduction(in, redundant)
	}
	return redundant
}

// withoutEdges is d less the edges marked in drop.
func (d *dag) withoutEdges(drop []bool) *dag {
	r := &dag{first: make([]int32, len(d.first)), to: make([]int32, 0, len(d.to))}
	for v := range d.len() {
		for e := d.first[v]; e < d.first[v+1]; e++ {
			if !drop[e] {
				r.to = append(r.to, d.to[e])
			}
		}
		r.first[v+1] = int32(len(r.to))
	}
	return r
}

// rankCut is the state of the rank-cut search.
type rankCut struct {
	d         *dag
	in        []int32
	redundant []bool

	kept  []int32 // the rows of d, squeezed as nodes are finished
	end   []int32 // kept[d.first[v]:end[v]] are v's successors so far
	seen  []int32 // the last node whose search met v
	stack []int32
	work  int // edges looked at
}

func newRankCut(d *dag, in []int32, redundant []bool) *rankCut {
	s := &rankCut{d: d, in: in, redundant: redundant}
	s.kept = append(s.kept, d.to...)
	s.end = append(s.end, d.first[1:]...)
	s.seen = make([]int32, d.len())
	for v := range s.seen {
		s.seen[v] = -1
	}
	return s
}

// run reduces rows from the last to the first and reports whether it came to
// the end within the budget.
func (s *rankCut) run(budget int) bool {
	for u := int32(s.d.len()) - 1; u >= 0; u-- {
		if s.work > budget {
			return false
		}
		s.reduceRow(u)
	}
	return true
}

// reduceRow squeezes redundant edges out of u's row. Rows ascend, so whatever
// reaches a successor has been walked by the time its turn comes.
func (s *rankCut) reduceRow(u int32) {
	first := s.d.first[u]
	row := s.d.succs(u)
	last := s.lastTarget(row)
	n := first
	for i, v := range row {
		if s.seen[v] == u {
			s.redundant[first+int32(i)] = true
			continue
		}
		s.kept[n] = v
		n++
		if v < last {
			s.walk(u, v, last)
		}
	}
	s.end[u] = n
	s.work += len(row)
}

// lastTarget is the highest successor that another path could end at, or -1: a
// node with one edge into it has none, nor has the only successor.
func (s *rankCut) lastTarget(row []int32) int32 {
	if len(row) < 2 {
		return -1
	}
	for i := len(row) - 1; i > 0; i-- {
		if s.in[row[i]] > 1 {
			return row[i]
		}
	}
	return -1
}

// walk marks all that v reaches up to rank last as seen from u.
func (s *rankCut) walk(u, v, last int32) {
	s.stack = append(s.stack[:0], v)
	for len(s.stack) > 0 {
		v = s.stack[len(s.stack)-1]
		s.stack = s.stack[:len(s.stack)-1]
		row := s.kept[s.d.first[v]:s.end[v]]
		s.work += len(row)
		for _, w := range row {
			if w > last {
				break
			}
			if s.seen[w] != u {
				s.seen[w] = u
				if w < last {
					s.stack = append(s.stack, w)
				}
			}
		}
	}
}

// blockBits is the number of columns of one sweep: 512 bits fill a cache line.
const blockBits = 512

// block holds a subset of the columns of one sweep.
type block [blockBits / 64]uint64

func (b *block) has(i int32) bool { return b[i>>6]>>(i&63)&1 != 0 }
func (b *block) set(i int32)      { b[i>>6] |= 1 << (i & 63) }

func (b *block) or(o *block) {
	for i := range b {
		b[i] |= o[i]
	}
}

// blockFloors is, by block of columns, the lowest node with an edge into it that
// might be redundant: ranks below cannot matter to the block. It is the block's
// own end when there is no such edge.
func (d *dag) blockFloors(in []int32) []int32 {
	floor := make([]int32, (d.len()+blockBits-1)/blockBits)
	for b := range floor {
		floor[b] = int32(min(d.len(), (b+1)*blockBits))
	}
	for u := int32(0); int(u) < d.len(); u++ {
		row := d.succs(u)
		for i := 1; i < len(row); i++ { // the first successor has no rival below it
			if v := row[i]; in[v] > 1 {
				floor[v/blockBits] = min(floor[v/blockBits], u)
			}
		}
	}
	return floor
}

// blockedWork is the number of edges the blocked bitset would look at.
func (d *dag) blockedWork(in []int32) int {
	work := len(d.to)
	for b, low := range d.blockFloors(in) {
		high := min(d.len(), (b+1)*blockBits)
		work += int(d.first[high] - d.first[low])
	}
	return work
}

// blockedReduction marks redundant edges, one block of columns after the other.
// Edges already marked are left out of every path.
func (d *dag) blockedReduction(in []int32, redundant []bool) {
	var reach []block // by rank from the floor: the columns a node reaches, itself included
	for b, low := range d.blockFloors(in) {
		lo := int32(b * blockBits)
		hi := int32(min(d.len(), (b+1)*blockBits))
		if int(hi-low) > len(reach) {
			reach = make([]block, hi-low)
		}
		for u := hi - 1; u >= low; u-- {
			d.sweepRow(u, low, lo, hi, reach, redundant)
		}
	}
}

// sweepRow computes which of the columns [lo, hi) u reaches and marks the edges
// into them that an earlier successor of u implies. Blocks come in ascending
// order, so all edges to columns before lo have been judged.
func (d *dag) sweepRow(u, low, lo, hi int32, reach []block, redundant []bool) {
	own := &reach[u-low]
	*own = block{}
	for e := d.first[u]; e < d.first[u+1] && d.to[e] < hi; e++ {
		v := d.to[e]
		if redundant[e] {
			continue
		}
		if v >= lo && own.has(v-lo) {
			redundant[e] = true
			continue
		}
		own.or(&reach[v-low])
	}
	if u >= lo {
		own.set(u - lo)
	}
}
