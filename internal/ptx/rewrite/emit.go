package rewrite

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// emitter collects instructions for a function. New registers and labels have names that begin
// with the tag, which no other name contains.
type emitter struct {
	f      *ptx.Func
	tag    string
	code   []ptx.Inst
	labels map[string]int // index in code
	count  int            // numbers the labels and the registers
}

// newEmitter returns an emitter without instructions.
func newEmitter(f *ptx.Func, tag string) *emitter {
	return &emitter{f: f, tag: tag, labels: map[string]int{}}
}

// reg declares a register.
func (e *emitter) reg(name string, t ptx.Type) ptx.Operand {
	e.count++
	e.f.Regs = append(e.f.Regs, ptx.Reg{Name: fmt.Sprintf("%%%s_%s_%d", e.tag, name, e.count), Type: t})
	return regOperand(ptx.RegID(len(e.f.Regs) - 1))
}

// regOperand returns the operand of a register.
func regOperand(id ptx.RegID) ptx.Operand {
	return ptx.Operand{Kind: ptx.OpReg, Reg: id, Reg2: ptx.NoReg}
}

// number returns the operand of an unsigned constant.
func number(n uint32) ptx.Operand {
	return ptx.Operand{Kind: ptx.OpInt, Imm: int64(n), Reg: ptx.NoReg, Reg2: ptx.NoReg}
}

// specialOperand returns the operand of a special register.
func specialOperand(name string) ptx.Operand {
	return ptx.Operand{Kind: ptx.OpSpecial, Name: name, Reg: ptx.NoReg, Reg2: ptx.NoReg}
}

// memory returns the operand [v+offset].
func memory(v *ptx.Var, offset int64) ptx.Operand {
	return ptx.Operand{Kind: ptx.OpMem, Var: v, Imm: offset, Reg: ptx.NoReg, Reg2: ptx.NoReg}
}

// memoryAt returns the operand [base+offset].
func memoryAt(base ptx.Operand, offset int64) ptx.Operand {
	return ptx.Operand{Kind: ptx.OpMem, Imm: offset, Reg: base.Reg, Reg2: ptx.NoReg}
}

// emit appends an instruction.
func (e *emitter) emit(opcode string, args ...ptx.Operand) {
	e.guarded(ptx.Guard{Reg: ptx.NoReg}, opcode, args...)
}

// guarded appends an instruction with a guard.
func (e *emitter) guarded(g ptx.Guard, opcode string, args ...ptx.Operand) {
	parts := strings.Split(opcode, ".")
	e.code = append(e.code, ptx.Inst{Guard: g, Name: parts[0], Suffix: parts[1:], Args: args})
}

// when returns the guard for a predicate that is true.
func when(p ptx.Operand) ptx.Guard { return ptx.Guard{Reg: p.Reg} }

// newLabel returns the name of a new label, without a place.
func (e *emitter) newLabel(name string) string {
	e.count++
	return fmt.Sprintf("%s_%s_%d", e.tag, name, e.count)
}

// place puts a label in front of the next instruction.
func (e *emitter) place(label string) { e.labels[label] = len(e.code) }

// label returns the operand of a branch target.
func label(name string) ptx.Operand {
	return ptx.Operand{Kind: ptx.OpLabel, Name: name, Reg: ptx.NoReg, Reg2: ptx.NoReg}
}

// prepend puts the instructions in front of the function's body. A branch to the first
// instruction of the body does not repeat them.
func (e *emitter) prepend() {
	n := len(e.code)
	for name := range e.f.Labels {
		e.f.Labels[name] += n
	}
	for name, at := range e.labels {
		e.f.Labels[name] = at
	}
	e.f.Body = append(e.code, e.f.Body...)
	e.code, e.labels = nil, map[string]int{}
}

// load appends the load of a 32-bit parameter and returns its register.
func (e *emitter) load(p *ptx.Var, name string) ptx.Operand {
	r := e.reg(name, ptx.B32)
	e.emit("ld.param.u32", r, memory(p, 0))
	return r
}

// special appends a mov of a special register of 32 bits and returns its register.
func (e *emitter) special(name string) ptx.Operand {
	r := e.reg(plainName(name), ptx.B32)
	e.emit("mov.u32", r, specialOperand(name))
	return r
}

// magic returns a multiplier and a shift such that n/d = n*m >> (31+s) for each n below 2^31
// and each d from 1 to 2^31. With s = ceil(log2 d) and m = ceil(2^(31+s)/d), the error of
// n*m/2^(31+s) is below n/2^31 * 1/d, so the quotient is exact; see Granlund and Montgomery,
// "Division by Invariant Integers using Multiplication", 1994, theorem 4.2.
func magic(d uint32) (m, s uint32) {
	s = uint32(bits.Len32(d - 1))
	q := (uint64(1)<<(31+s) + uint64(d) - 1) / uint64(d)
	return uint32(q), s
}

// divide appends the division of n, below 2^31, by a constant, and returns the quotient.
func (e *emitter) divide(n ptx.Operand, d uint32) ptx.Operand {
	if d == 1 {
		return n
	}
	q := e.reg("q", ptx.B32)
	if d&(d-1) == 0 {
		e.emit("shr.u32", q, n, number(uint32(bits.TrailingZeros32(d))))
		return q
	}
	m, s := magic(d) // s is at least 2
	e.emit("mul.hi.u32", q, n, number(m))
	e.emit("shr.u32", q, q, number(s-1))
	return q
}

// remainder appends the computation of n - q*d, where q is n/d.
func (e *emitter) remainder(n, q ptx.Operand, d uint32) ptx.Operand {
	if d == 1 {
		return number(0)
	}
	r := e.reg("r", ptx.B32)
	if d&(d-1) == 0 {
		e.emit("and.b32", r, n, number(d-1))
	} else {
		e.emit("mad.lo.u32", r, q, number(-d), n)
	}
	return r
}

// rebuild replaces each instruction of f by those that edit returns for it. Labels move along.
func rebuild(f *ptx.Func, edit func(i int, in ptx.Inst) []ptx.Inst) {
	var body []ptx.Inst
	moved := make([]int, len(f.Body)+1) // new index of each instruction
	for i, in := range f.Body {
		moved[i] = len(body)
		body = append(body, edit(i, in)...)
	}
	moved[len(f.Body)] = len(body)
	for name, at := range f.Labels {
		f.Labels[name] = moved[at]
	}
	f.Body = body
}

// move returns a copy of a register of type t.
func move(g ptx.Guard, t ptx.Type, to, from ptx.Operand) ptx.Inst {
	return ptx.Inst{Guard: g, Name: "mov", Suffix: []string{t.String()}, Args: []ptx.Operand{to, from}}
}
