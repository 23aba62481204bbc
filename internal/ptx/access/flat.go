package access

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// Ranges are computed on one flat program per kernel, with all calls inlined. An index
// that a device function computes is then handled like one that the kernel computes.
// Recursive, indirect and guarded calls are not inlined.
//
//	kernel            flat.steps           frame      flat variables
//
//	mov  %r1          mov  %r1             kernel     0 … 9    registers of the kernel
//	st.param [a]      st.param [a]         kernel     10       a cell: 4 bytes of .param a
//	call f, (a)   ┌─► ld.param %r1, [a]    f          11 … 14  registers of f: %r1 is 11
//	              │   st.param [r]         f          15       a cell of .param r
//	              │   ret ──┐              f
//	ld.param [r]  └── ld.param [r] ◄─┘     kernel
//
// The formal parameters and results of f are names of the caller's .param variables, so a
// value passes through a call as through a move.

const (
	maxFlat   = 1 << 17 // instructions of a flat program; a larger kernel has no ranges
	maxFrames = 1 << 12 // inlined calls of a flat program
)

// flat is the program of a kernel with its calls inlined.
type flat struct {
	m      *ptx.Module
	kernel *ptx.Func
	steps  []step
	vars   variable // number of variables
	frames int      // frames that were added, at most maxFrames

	cells     map[cell]variable   // the variable of each cell
	shape     map[paramVar][]cell // cells of each .param variable
	untracked map[paramVar]bool   // variables with overlapping cells or a taken address: their values are not followed

	outOfLine map[*ptx.Func]bool // functions that also run without being inlined
}

// variable is a register of one frame, or a cell of a .param variable.
// Variables are numbered from 0.
type variable int32

// step is one instruction of one frame.
type step struct {
	in     *ptx.Inst
	frame  *frame
	kind   stepKind
	target int // of a branch or return: an index into steps
}

// stepKind is what a step does to the flow of control.
type stepKind uint8

// The kinds of steps.
const (
	stepPlain  stepKind = iota
	stepBranch          // to target, if the guard holds
	stepTable           // to one of several labels (brx.idx)
	stepLeave           // the thread ends
	stepReturn          // to the step after the call, if the guard holds
)

// frame is one inlined call of a function.
type frame struct {
	f      *ptx.Func
	caller *frame
	base   variable              // the variable of its register 0
	start  []int                 // by instruction of f: its first step
	formal map[*ptx.Var]paramVar // parameters and results: the variables of the caller to which they are bound
}

// paramVar is a .param variable of one frame.
type paramVar struct {
	frame *frame
	v     *ptx.Var
}

// cell is the part of a .param variable that one load or store accesses by
// name.
type cell struct {
	paramVar
	off  int64 // bytes
	size int   // bytes
}

// flatten inlines the calls of f. It returns nil if the program exceeds maxFlat or
// maxFrames. Without these limits the size could be exponential in the depth of calls:
// each function may call the next one twice.
func flatten(m *ptx.Module, f *ptx.Func) *flat {
	p := &flat{m: m, kernel: f, cells: map[cell]variable{}, shape: map[paramVar][]cell{}, untracked: map[paramVar]bool{}, outOfLine: map[*ptx.Func]bool{}}
	if !p.add(&frame{f: f}) {
		return nil
	}
	for i := range p.steps {
		if s := &p.steps[i]; s.kind == stepBranch {
			s.target = s.frame.start[s.in.Args[0].Target]
		}
	}
	return p
}

// add appends the instructions of a frame, and resolves its returns. It returns
// false if the program is too large.
func (p *flat) add(fr *frame) bool {
	if p.frames++; p.frames > maxFrames {
		return false
	}
	fr.base = p.vars
	p.vars += variable(len(fr.f.Regs))
	fr.start = make([]int, len(fr.f.Body)+1)
	first := len(p.steps)
	for i := range fr.f.Body {
		fr.start[i] = len(p.steps)
		if len(p.steps) > maxFlat || !p.inst(fr, &fr.f.Body[i]) {
			return false
		}
	}
	end := len(p.steps)
	fr.start[len(fr.f.Body)] = end
	// Returns of this frame continue behind its last instruction.
	for i := first; i < end; i++ {
		if s := &p.steps[i]; s.kind == stepReturn && s.frame == fr {
			s.target = end
		}
	}
	return true
}

// inst appends one instruction, or the body of the function that it calls.
func (p *flat) inst(fr *frame, in *ptx.Inst) bool {
	s := step{in: in, frame: fr}
	switch in.Name {
	case "bra":
		s.kind = stepBranch
	case "brx":
		s.kind = stepTable
	case "exit", "trap":
		s.kind = stepLeave
	case "ret":
		s.kind = stepLeave
		if fr.caller != nil {
			s.kind = stepReturn
		}
	case "call":
		if inner := p.callee(fr, in); inner != nil {
			return p.add(inner)
		}
		p.noteCallees(in)
	case "ld", "st":
		p.noteCells(fr, in)
	default:
		p.noteAddress(fr, in)
	}
	p.steps = append(p.steps, s)
	return true
}

// callee returns a new frame for a call that can be inlined, else nil. The function must
// be defined in this module and be called without a guard. Its parameters and results
// must be .param variables, as in compiled code. It must not be active already, which
// excludes recursion.
func (p *flat) callee(fr *frame, in *ptx.Inst) *frame {
	c := splitCall(in)
	if c.callee == nil || c.callee.Kind != ptx.OpFunc || in.Guard.Reg != ptx.NoReg {
		return nil
	}
	f := p.m.Func(c.callee.Name)
	if f == nil || f.Extern || len(c.args) != len(f.Params) || len(c.results) != len(f.Return) {
		return nil
	}
	// A recursive call is not inlined.
	for at := fr; at != nil; at = at.caller {
		if at.f == f {
			return nil
		}
	}
	inner := &frame{f: f, caller: fr, formal: map[*ptx.Var]paramVar{}}
	ok := p.bind(inner, f.Params, c.args) && p.bind(inner, f.Return, c.results)
	if !ok {
		return nil
	}
	return inner
}

// noteCallees marks the functions that a call which is not inlined may execute. A call
// through a pointer may reach every function whose address is taken.
func (p *flat) noteCallees(in *ptx.Inst) {
	switch c := splitCall(in); {
	case c.callee == nil:
	case c.callee.Kind == ptx.OpFunc:
		p.noteOutOfLine(p.m.Func(c.callee.Name))
	default:
		for _, f := range addressTaken(p.m) {
			p.noteOutOfLine(f)
		}
	}
}

// noteOutOfLine marks f, and all functions that it may call.
func (p *flat) noteOutOfLine(f *ptx.Func) {
	if f == nil || p.outOfLine[f] {
		return
	}
	p.outOfLine[f] = true
	for i := range f.Body {
		if in := &f.Body[i]; in.Name == "call" {
			p.noteCallees(in)
		}
	}
}

// bind maps formal parameters to the .param variables of the caller. It returns
// false if an argument is anything else.
func (p *flat) bind(inner *frame, formal []*ptx.Var, actual []ptx.Operand) bool {
	for n, v := range formal {
		arg := &actual[n]
		if v.Space != ptx.ParamSpace || arg.Kind != ptx.OpSymbol || arg.Var == nil || arg.Var.Space != ptx.ParamSpace {
			return false
		}
		inner.formal[v] = p.paramVar(inner.caller, arg.Var)
	}
	return true
}

// paramVar returns v, or the variable of an outer frame to which v is bound.
func (p *flat) paramVar(fr *frame, v *ptx.Var) paramVar {
	if outer, ok := fr.formal[v]; ok {
		return outer
	}
	return paramVar{fr, v}
}

// kernelParam returns the index of a variable among the kernel's parameters, or
// -1.
func (p *flat) kernelParam(pv paramVar) int {
	if pv.frame.caller != nil {
		return -1
	}
	return slices.Index(p.kernel.Params, pv.v)
}

// cellsOf returns the cells that a load or store of .param memory accesses, one
// for each element. It returns nil if the operand does not name a variable.
func (p *flat) cellsOf(fr *frame, in *ptx.Inst) []cell {
	addr, size := addressOf(in), memType(in).Size()
	if spaceOf(in) != ptx.ParamSpace || addr == nil || addr.Var == nil || size == 0 {
		return nil
	}
	pv := p.paramVar(fr, addr.Var)
	cells := make([]cell, elems(in))
	for n := range cells {
		cells[n] = cell{pv, addr.Imm + int64(n*size), size}
	}
	return cells
}

// noteCells assigns variables to the cells of a load or store. If cells overlap without
// being equal, values of their .param variable are not followed: one cell could change
// the bytes of another.
func (p *flat) noteCells(fr *frame, in *ptx.Inst) {
	for _, c := range p.cellsOf(fr, in) {
		if _, ok := p.cells[c]; ok {
			continue
		}
		for _, other := range p.shape[c.paramVar] {
			if c.off < other.off+int64(other.size) && other.off < c.off+int64(c.size) {
				p.untracked[c.paramVar] = true
			}
		}
		p.shape[c.paramVar] = append(p.shape[c.paramVar], c)
		p.cells[c] = p.vars
		p.vars++
	}
}

// noteAddress excludes a .param variable from being followed if an instruction takes its
// address.
func (p *flat) noteAddress(fr *frame, in *ptx.Inst) {
	for n := range in.Args {
		if op := &in.Args[n]; op.Kind == ptx.OpSymbol && op.Var != nil && op.Var.Space == ptx.ParamSpace {
			p.untracked[p.paramVar(fr, op.Var)] = true
		}
	}
}

// addressOf returns the memory operand of an instruction, nil if it has none.
func addressOf(in *ptx.Inst) *ptx.Operand {
	for n := range in.Args {
		if in.Args[n].Kind == ptx.OpMem {
			return &in.Args[n]
		}
	}
	return nil
}

// memType returns the element type of a load or store, its last suffix.
func memType(in *ptx.Inst) ptx.Type {
	if len(in.Suffix) == 0 {
		return ptx.NoType
	}
	typ, _ := ptx.ParseType(in.Suffix[len(in.Suffix)-1])
	return typ
}

// elems returns the number of elements that a load or store moves.
func elems(in *ptx.Inst) int {
	for _, s := range in.Suffix {
		switch s {
		case "v2":
			return 2
		case "v4":
			return 4
		case "v8":
			return 8
		}
	}
	return 1
}
