package ir

// Phase is how far analysis has come.
type Phase uint8

const (
	Traced   Phase = iota // accesses and after edges only
	Analyzed              // every hazard is a dependency
	Reduced               // no dependency is implied by the others
)

// Graph is a traced program. Ops are in program order and an OpID is an index
// into them. Passes never edit a published graph: they return a new one that
// shares what did not change.
//
// Graph is a gonum graph.Directed over its dependencies; node ids are OpIDs.
type Graph struct {
	Name    string
	Phase   Phase
	Modules []Module
	Params  []Param
	Buffers []Buffer
	Ops     []Op

	rows rows
}

// Len is the number of operations.
func (g *Graph) Len() int { return len(g.Ops) }

// WithDeps returns a copy of g in the given phase whose dependencies are deps;
// it takes the slice over. Duplicates are merged. It fails when an edge does
// not run forward in program order.
func (g *Graph) WithDeps(phase Phase, deps []Dep) (*Graph, error) {
	r, err := buildRows(len(g.Ops), deps)
	if err != nil {
		return nil, err
	}
	h := *g
	h.Phase, h.rows = phase, r
	return &h, nil
}

// Deps returns every dependency, ordered by To, then From. Read only.
func (g *Graph) Deps() []Dep { return g.rows.deps }

// DepsInto returns the dependencies that end at v, ordered by From. Read only.
func (g *Graph) DepsInto(v OpID) []Dep {
	if g.rows.into == nil {
		return nil
	}
	return g.rows.deps[g.rows.into[v]:g.rows.into[v+1]]
}

// Succs returns the operations that depend on v, ascending. Read only.
func (g *Graph) Succs(v OpID) []OpID {
	if g.rows.out == nil {
		return nil
	}
	return g.rows.outs[g.rows.out[v]:g.rows.out[v+1]]
}
