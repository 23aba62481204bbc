package dense

// Rows is a directed graph over the nodes 0..n-1 in compressed sparse rows. The number of an edge is
// its index in To. The zero value is not usable: First begins with 0.
type Rows struct {
	First []int32 // To[First[v]:First[v+1]] are v's successors
	To    []int32
}

// Len returns the number of nodes.
func (r Rows) Len() int { return len(r.First) - 1 }

// Succs returns the successors of v. The caller must not change them.
func (r Rows) Succs(v int32) []int32 { return r.To[r.First[v]:r.First[v+1]] }

// Edges returns the edges by number.
func (r Rows) Edges() []Edge {
	list := make([]Edge, 0, len(r.To))
	for u := range int32(r.Len()) {
		for _, v := range r.Succs(u) {
			list = append(list, Edge{u, v})
		}
	}
	return list
}
