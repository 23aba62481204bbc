package interp

import "github.com/reprise-gpu/reprise/internal/ptx"

// maxInline is the number of instructions, callees included, up to which a function is
// inlined at each call. nvcc inlines most functions itself, and most of the others are
// small.
const maxInline = 1 << 13

// callGraph contains the calls between the functions of a module, and the functions that
// need a frame. A call is inlined unless
//
//	the callee is recursive             a cycle of direct calls
//	the callee is large                 more than maxInline instructions, its callees included
//	the call goes through a register    to any function in addressTaken
type callGraph struct {
	functions    map[string]*ptx.Func // definitions, including those of the runtime, else declarations
	framed       map[*ptx.Func]bool
	addressTaken []*ptx.Func // functions whose address is taken, in order of definition
	address      map[string]uint64
}

// newCallGraph analyses the calls of a module. A declaration without a body takes the
// function of the runtime with that name, if there is one.
func newCallGraph(m *ptx.Module) *callGraph {
	g := &callGraph{functions: map[string]*ptx.Func{}, framed: map[*ptx.Func]bool{}, address: map[string]uint64{}}
	for _, f := range m.Funcs {
		if old := g.functions[f.Name]; old == nil || old.Extern {
			g.functions[f.Name] = f
		}
	}
	for name, f := range g.functions {
		if own := runtimeFunctions()[name]; f.Extern && own != nil {
			g.functions[name] = own
		}
	}
	g.findPointed(m)
	v := callVisit{g: g, state: map[*ptx.Func]visitState{}, weight: map[*ptx.Func]int{}}
	for _, f := range m.Funcs {
		v.visit(f)
	}
	return g
}

// findPointed assigns addresses to the functions whose address is taken in code or in
// initial values. They are 16 bytes apart, in a window of their own.
func (g *callGraph) findPointed(m *ptx.Module) {
	taken := map[string]bool{}
	for _, f := range m.Funcs {
		for i := range f.Body {
			for _, op := range f.Body[i].Args {
				if op.Kind == ptx.OpSymbol && op.Var == nil {
					taken[op.Name] = true
				}
			}
		}
	}
	for _, v := range m.Statics() {
		for _, r := range v.Relocs {
			taken[r.Symbol] = true
		}
	}
	for _, f := range m.Funcs {
		if taken[f.Name] && g.functions[f.Name] == f {
			g.address[f.Name] = codeWindow + 16*uint64(len(g.address)+1)
			if !f.Entry && !f.Extern {
				g.addressTaken = append(g.addressTaken, f)
			}
		}
	}
}

// visitState is the progress of the depth-first search at a function.
type visitState uint8

// The states of the search.
const (
	unvisited visitState = iota
	inProgress
	visited
)

// callVisit walks the graph of direct calls depth first.
type callVisit struct {
	g      *callGraph
	state  map[*ptx.Func]visitState
	weight map[*ptx.Func]int // instructions after inlining
}

// visit computes the weight of f, its instructions after inlining. A function that is
// called while it is being visited gets a frame, which breaks every cycle. The cost is
// linear in the instructions of the module.
func (v *callVisit) visit(f *ptx.Func) {
	if v.state[f] != unvisited {
		return
	}
	v.state[f] = inProgress
	n := len(f.Body)
	for i := range f.Body {
		callee := v.g.callee(&f.Body[i])
		if callee == nil {
			continue
		}
		if v.state[callee] == inProgress {
			v.g.framed[callee] = true
			continue
		}
		v.visit(callee)
		if !v.g.framed[callee] {
			n += v.weight[callee]
		}
	}
	v.weight[f], v.state[f] = n, visited
	if n > maxInline {
		v.g.framed[f] = true
	}
}

// callee returns the function that an instruction calls by name, or nil.
func (g *callGraph) callee(in *ptx.Inst) *ptx.Func {
	if in.Name != "call" {
		return nil
	}
	ops := in.Args
	if len(ops) > 0 && ops[0].Kind == ptx.OpList {
		ops = ops[1:]
	}
	if len(ops) == 0 || ops[0].Kind != ptx.OpFunc {
		return nil
	}
	return g.functions[ops[0].Name]
}
