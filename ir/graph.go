package ir

// Phase is the stage of analysis of a graph. Each phase satisfies the rules of those before.
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
// A Graph is a gonum graph.Directed: its nodes are the operations, with OpIDs as IDs, and its edges are
// the dependencies. In phase Traced these are not known yet, and the graph has no edges. The fields
// Analyzed and Reduced of an optimizer.Result have them.
type Graph struct {
	Name    string
	Phase   Phase
	Modules []Module
	Params  []Param
	Buffers []Buffer
	Ops     []Op

	// Shapes has the shapes of accesses with strides, by ShapeID - 1, each once.
	Shapes []Shape

	// Trace identifies the recording from which the graph was made, directly or by passes. It is 0 for a
	// graph that was read from text or built by hand.
	Trace uint64

	// Origin is, by operation, its id in the trace. It is nil if the ids are equal: no pass has removed or
	// repeated operations.
	Origin []OpID

	// Recorded has the operations of the trace if Origin is set, for their names.
	Recorded []Op

	// Copies is the number of replays of the trace that one replay of the graph stands for, as after
	// unrolling; 0 stands for 1.
	Copies int

	// Made is the number of buffers that passes have added, at the end of Buffers. The trace does not contain
	// them, so they get memory when the graph is instantiated.
	Made int

	// Merged lists, by launch that stands for several launches of the trace, these launches. It is nil if no pass has
	// merged launches. Origin then has the first of them.
	Merged map[OpID][]struct {
		Op       OpID    // its id in the trace; in the body of a loop or a branch, in the traced body
		Launch   *Launch // as it was before
		Barriers int     // in the code of its kernel, for predictions
	}

	// Sliced has, by launch that runs a range of the blocks of another launch, the index of the first of these blocks,
	// their number, and the number of blocks of the whole launch. For one of several copies or fills of what was one, it has the
	// index, 1, and their number. It is nil if no pass has cut operations. All slices of an operation have its Origin.
	Sliced map[OpID]struct{ First, Blocks, Of uint32 }

	// Generated is the number of modules that passes have added, at the end of Modules. They are loaded when the graph
	// is instantiated.
	Generated int

	rows rows // the dependencies
}

// Len is the number of operations.
func (g *Graph) Len() int { return len(g.Ops) }

// WithDeps returns a copy of g in the given phase with deps as dependencies, whose Cause fields are numbers
// of causes, from 1. It keeps both slices. Duplicates are merged. The error reports a dependency that does
// not run forward in program order or names a missing operation or cause.
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

// Cause returns the bytes that cause a dependency. It is empty if there are none.
func (g *Graph) Cause(d Dep) Range {
	if d.Cause == 0 {
		return Range{}
	}
	return g.rows.causes[d.Cause-1]
}

// DepsInto returns the dependencies that end at v, ordered by From. It is empty if v is not in the graph. Read
// only.
func (g *Graph) DepsInto(v OpID) []Dep {
	if uint(v) >= uint(max(len(g.rows.into), 1)-1) {
		return nil
	}
	return g.rows.deps[g.rows.into[v]:g.rows.into[v+1]]
}

// Succs returns the operations that depend on v, ascending. It is empty if v is not in the graph. Read only.
func (g *Graph) Succs(v OpID) []OpID {
	if uint(v) >= uint(max(len(g.rows.out), 1)-1) {
		return nil
	}
	return g.rows.outs[g.rows.out[v]:g.rows.out[v+1]]
}
