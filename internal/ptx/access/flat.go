package access

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// Ranges are computed on one flat program per kernel, in which the functions it
// calls are copied to where they are called: an index that a helper computes is
// then as plain as one that the kernel computes itself.

const (
	maxFlat   = 1 << 17 // instructions of a flat program; a larger kernel has no ranges
	maxFrames = 1 << 12 // copies of functions in it
)

// flat is the program of a kernel with the functions it calls in place.
type flat struct {
	m      *ptx.Module
	kernel *ptx.Func
	steps  []step
	vars   variable // how many variables there are
	frames int

	cells map[cell]variable
	shape map[paramVar][]cell // cells of each .param variable
	odd   map[paramVar]bool   // variables that are not read as they were written

	apart map[*ptx.Func]bool // functions that run elsewhere too: called through a pointer, or by themselves
}

// variable is a register of one frame, or a cell of a .param variable.
type variable int32

// step is one instruction in its frame.
type step struct {
	in     *ptx.Inst
	frame  *frame
	kind   stepKind
	target int // of a branch or return, into steps
}

type stepKind uint8

const (
	stepPlain  stepKind = iota
	stepBranch          // to target, if the guard holds
	stepTable           // to one of several labels
	stepLeave           // the thread ends
	stepReturn          // to behind the call, if the guard holds
)

// frame is one copy of a function.
type frame struct {
	f      *ptx.Func
	caller *frame
	base   variable              // of its registers
	start  []int                 // by instruction: its first step
	formal map[*ptx.Var]paramVar // parameters and results, which are variables of the caller
}

// paramVar is a .param variable of one frame.
type paramVar struct {
	frame *frame
	v     *ptx.Var
}

// cell is the part of a .param variable that one load or store names.
type cell struct {
	paramVar
	off  int64
	size int
}

// flatten copies what f calls into f; nil when that makes too large a program.
func flatten(m *ptx.Module, f *ptx.Func) *flat {
	p := &flat{m: m, kernel: f, cells: map[cell]variable{}, shape: map[paramVar][]cell{}, odd: map[paramVar]bool{}, apart: map[*ptx.Func]bool{}}
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

// add appends the instructions of a frame; false when there are too many.
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
	for i := first; i < end; i++ {
		if s := &p.steps[i]; s.kind == stepReturn && s.frame == fr {
			s.target = end
		}
	}
	return true
}

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
		p.leave(in)
	case "ld", "st":
		p.noteCells(fr, in)
	default:
		p.noteAddress(fr, in)
	}
	p.steps = append(p.steps, s)
	return true
}

// callee is the frame of the function that a call copies here: one of this
// module, called without a guard, whose parameters and results are .param
// variables as compilers make them, and that does not call itself.
func (p *flat) callee(fr *frame, in *ptx.Inst) *frame {
	c := splitCall(in)
	if c.callee == nil || c.callee.Kind != ptx.OpFunc || in.Guard.Reg != ptx.NoReg {
		return nil
	}
	f := p.m.Func(c.callee.Name)
	if f == nil || f.Extern || len(c.args) != len(f.Params) || len(c.results) != len(f.Return) {
		return nil
	}
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

// leave notes what a call may run that is not copied here.
func (p *flat) leave(in *ptx.Inst) {
	switch c := splitCall(in); {
	case c.callee == nil:
	case c.callee.Kind == ptx.OpFunc:
		p.leaveTo(p.m.Func(c.callee.Name))
	default:
		for _, f := range addressTaken(p.m) {
			p.leaveTo(f)
		}
	}
}

func (p *flat) leaveTo(f *ptx.Func) {
	if f == nil || p.apart[f] {
		return
	}
	p.apart[f] = true
	for i := range f.Body {
		if in := &f.Body[i]; in.Name == "call" {
			p.leave(in)
		}
	}
}

// bind makes formal variables other names for the caller's.
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

// paramVar is what v is in the frame that declared it.
func (p *flat) paramVar(fr *frame, v *ptx.Var) paramVar {
	if outer, ok := fr.formal[v]; ok {
		return outer
	}
	return paramVar{fr, v}
}

// kernelParam is the index of v among the kernel's own parameters, -1 for another.
func (p *flat) kernelParam(pv paramVar) int {
	if pv.frame.caller != nil {
		return -1
	}
	return slices.Index(p.kernel.Params, pv.v)
}

// cellsOf are the cells that a load or store of .param memory names, one for
// each element; nil when it names none by name.
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

// noteCells gives the cells of a load or store variables. Cells that overlap
// without being equal make their variable odd.
func (p *flat) noteCells(fr *frame, in *ptx.Inst) {
	for _, c := range p.cellsOf(fr, in) {
		if _, ok := p.cells[c]; ok {
			continue
		}
		for _, other := range p.shape[c.paramVar] {
			if c.off < other.off+int64(other.size) && other.off < c.off+int64(c.size) {
				p.odd[c.paramVar] = true
			}
		}
		p.shape[c.paramVar] = append(p.shape[c.paramVar], c)
		p.cells[c] = p.vars
		p.vars++
	}
}

// noteAddress makes a .param variable odd whose address is taken.
func (p *flat) noteAddress(fr *frame, in *ptx.Inst) {
	for n := range in.Args {
		if op := &in.Args[n]; op.Kind == ptx.OpSymbol && op.Var != nil && op.Var.Space == ptx.ParamSpace {
			p.odd[p.paramVar(fr, op.Var)] = true
		}
	}
}

// addressOf is the memory operand of an instruction, nil without one.
func addressOf(in *ptx.Inst) *ptx.Operand {
	for n := range in.Args {
		if in.Args[n].Kind == ptx.OpMem {
			return &in.Args[n]
		}
	}
	return nil
}

// memType is the type of the elements a load or store moves, its last suffix.
func memType(in *ptx.Inst) ptx.Type {
	if len(in.Suffix) == 0 {
		return ptx.NoType
	}
	typ, _ := ptx.ParseType(in.Suffix[len(in.Suffix)-1])
	return typ
}

// elems is how many elements a load or store moves.
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
