package dense

// pathLengths bounds which nodes a path can join, by the longest paths that end and that begin at each node:
//
//	depth    0     1     2     3       an edge to a node one deeper is the only path there,
//	         a ──► b ──► c ──► d       since each edge of a path goes deeper by one at least:
//	         └───────────▲             a ──► b and b ──► c are needed, a ──► c may be implied
//
// The same holds for heights. Such topological levels are the first cut of GRAIL (Yildirim, Chaoji and Zaki,
// "GRAIL: Scalable Reachability Index for Large Graphs", PVLDB 2010). In layers, stencils and butterflies they
// decide every edge.
type pathLengths []struct {
	depth  int32 // edges of the longest path to the node
	height int32 // edges of the longest path from it
}

func newPathLengths(d *Graph) pathLengths {
	l := make(pathLengths, d.Len())
	for u := range int32(d.Len()) {
		below := l[u].depth + 1
		for _, v := range d.Succs(u) {
			l[v].depth = max(l[v].depth, below)
		}
	}
	for u := int32(d.Len()) - 1; u >= 0; u-- {
		height := int32(0)
		for _, v := range d.Succs(u) {
			height = max(height, l[v].height+1)
		}
		l[u].height = height
	}
	return l
}

// apart reports whether a path of two edges or more may lead from u to v.
func (l pathLengths) apart(u, v int32) bool {
	return l[v].depth-l[u].depth > 1 && l[u].height-l[v].height > 1
}

// label marks the contested edges that the lengths of paths show to be needed, and returns the number of those that
// remain contested.
func (r *Reduction) label() (open int) {
	r.lengths = newPathLengths(r.Graph)
	r.needed = make([]bool, len(r.Graph.To))
	for u := range int32(r.Graph.Len()) {
		for i, v := range r.Graph.Succs(u) {
			switch e := int(r.Graph.First[u]) + i; {
			case !r.contested(u, i, v):
			case r.lengths.apart(u, v):
				open++
			default:
				r.needed[e] = true
			}
		}
	}
	return open
}
