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

	// Trace identifies the recording that the graph, or what passes made it from, comes from; 0 for one that was read from
	// text or made by hand.
	Trace uint64

	// Origin is, by operation, its id in the trace that the graph was made from by leaving
	// operations out or repeating them all; nil when that was not done.
	Origin []OpID

	// Copies is how many replays of the trace one of the graph is; 0 is one.
	Copies int

	// Made is the number of buffers that passes have added, at the end of Buffers. The trace does not contain them, so
	// they get memory when the graph is instantiated.
	Made int

	rows rows
}

// Len is the number of operations.
func (g *Graph) Len() int { return len(g.Ops) }

// Traced returns the id that v had in the trace that g was made from.
func (g *Graph) Traced(v OpID) OpID {
	if g.Origin == nil {
		return v
	}
	return g.Origin[v]
}

// WithDeps returns a copy of g in the given phase whose dependencies are deps, with
// numbers for causes; it takes both slices over. Duplicates are merged. It fails when an
// edge does not run forward in program order.
func (g *Graph) WithDeps(phase Phase, deps []Dep, causes []Range) (*Graph, error) {
	r, err := buildRows(len(g.Ops), deps, causes)
	if err != nil {
		return nil, err
	}
	h := *g
	h.Phase, h.rows = phase, r
	return &h, nil
}

// Deps returns every dependency, ordered by To, then From. Read only.
func (g *Graph) Deps() []Dep { return g.rows.deps }

// Cause is the bytes behind a dependency, empty for none.
func (g *Graph) Cause(d Dep) Range {
	if d.Cause == 0 {
		return Range{}
	}
	return g.rows.causes[d.Cause-1]
}

// DepsInto returns the dependencies that end at v, ordered by From; none of an operation that there is not. Read only.
func (g *Graph) DepsInto(v OpID) []Dep {
	if uint(v) >= uint(max(len(g.rows.into), 1)-1) {
		return nil
	}
	return g.rows.deps[g.rows.into[v]:g.rows.into[v+1]]
}

// Succs returns the operations that depend on v, ascending; none of an operation that there is not. Read only.
func (g *Graph) Succs(v OpID) []OpID {
	if uint(v) >= uint(max(len(g.rows.out), 1)-1) {
		return nil
	}
	return g.rows.outs[g.rows.out[v]:g.rows.out[v+1]]
}
