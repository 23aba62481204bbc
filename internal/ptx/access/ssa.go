package access

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// Values are built on demand, backwards from the addresses. Arithmetic that no address
// depends on therefore costs nothing. The construction is that of Braun et al., "Simple
// and Efficient Construction of Static Single Assignment Form" (CC 2013), on a finished
// control flow graph:
//
//	before(v, step) ─► the last definition in the block ─► after(v, step) ─► operands: before(…)
//	                 └ none: top(v, block) ─► one predecessor: end(v, pred)
//	                                        └ several: a phi with an argument for each
//
// A phi is recorded before its arguments are built, which ends the recursion around
// loops.
//
// termOp is the operation that computes a value. Operations work on mathematical
// integers: the signedness and width of an instruction are extensions of its arguments,
// and only the low bits of a result count.
type termOp uint8

// The operations of terms. Arguments are in args, constants in imm.
const (
	termUnknown termOp = iota // for the reason why
	termConst                 // imm
	termParam                 // bytes of a kernel parameter, see paramRef
	termSpecial               // a special register, name
	termPhi                   // one argument for each predecessor of block
	termSelect                // args[0] ? args[1] : args[2]
	termSExt                  // the low imm bits, signed
	termZExt                  // the low imm bits, unsigned
	termAdd
	termSub
	termMul
	termMulHi // the product shifted right by imm
	termShl
	termShr // of an extended value, so arithmetic and logical shifts are the same
	termAnd
	termOr
	termXor
	termNot
	termAbs
	termMin
	termMax
	termDiv
	termRem
	termCmp // a predicate: a comparison of extended values
	termLogicAnd
	termLogicOr
	termLogicNot
)

// term is a node of the SSA graph.
type term struct {
	op       termOp
	cmp      comparison
	unsigned bool  // min, max, div, rem, shr and cmp on unsigned 64 bits
	bits     uint8 // width of the result; 1 for a predicate
	id       int   // in order of creation: arguments come first, except those of phis
	block    int32 // the block that computes it
	args     []*term
	imm      int64
	name     string
	param    paramRef
	why      *Reason

	same  *term   // the value of a redundant phi, else nil; see resolved
	users []*term // phis with this phi as an argument
}

// paramRef names bytes of the kernel's parameters.
type paramRef struct {
	param  int32
	off    int32 // in the parameter
	size   uint8
	signed bool
}

// comparison is an order of two integers. The tables of negated and mirrored have the
// order of the constants.
type comparison uint8

// The comparisons, in the order of the tables of negated and mirrored.
const (
	cmpEQ comparison = iota
	cmpNE
	cmpLT
	cmpLE
	cmpGT
	cmpGE
)

// negated returns the comparison that holds exactly if c does not.
func (c comparison) negated() comparison {
	return [...]comparison{cmpNE, cmpEQ, cmpGE, cmpGT, cmpLE, cmpLT}[c]
}

// mirrored returns c with its sides exchanged: a < b is b > a.
func (c comparison) mirrored() comparison {
	return [...]comparison{cmpEQ, cmpNE, cmpGT, cmpGE, cmpLT, cmpLE}[c]
}

// resolved returns the term that v represents, by following redundant phis.
func (v *term) resolved() *term {
	for v.same != nil {
		v = v.same
	}
	return v
}

// ssa builds values of a flat program. The maps are memos: each variable has at most one
// value at the top and the end of a block, and after a step.
type ssa struct {
	*cfg
	atEnd map[blockVar]*term // by block: the value of a variable at its end, if it was requested
	atTop map[blockVar]*term // phis
	steps map[stepVar]*term  // results of steps
	work  int                // values made so far
}

// blockVar is a variable in a block.
type blockVar struct {
	b int32
	v variable
}

// stepVar is a variable that a step defines.
type stepVar struct {
	step int32
	v    variable
}

// maxValues bounds the number of terms for one kernel. Beyond it, values at the top of a
// block are unknown.
const maxValues = 1 << 17

// newSSA returns a builder without values.
func newSSA(g *cfg) *ssa {
	return &ssa{cfg: g, atEnd: map[blockVar]*term{}, atTop: map[blockVar]*term{}, steps: map[stepVar]*term{}}
}

// make numbers a new term and counts the work.
func (s *ssa) make(v term) *term {
	s.work++
	v.id = s.work
	return &v
}

// unknown returns a term without a known value.
func (s *ssa) unknown(bits uint8, b int32, why *Reason) *term {
	return s.make(term{op: termUnknown, bits: bits, block: b, why: why})
}

// before returns the value of a variable just before step i.
func (s *ssa) before(v variable, bits uint8, i int) *term {
	b := s.blockOf[i]
	if d := s.lastDef(v, s.blocks[b].first, i); d >= 0 {
		return s.after(v, bits, d)
	}
	return s.top(v, bits, b)
}

// end returns the value of a variable at the end of block b.
func (s *ssa) end(v variable, bits uint8, b int32) *term {
	key := blockVar{b, v}
	if val, ok := s.atEnd[key]; ok {
		return val.resolved()
	}
	var val *term
	if d := s.lastDef(v, s.blocks[b].first, s.blocks[b].end); d >= 0 {
		val = s.after(v, bits, d)
	} else {
		val = s.top(v, bits, b)
	}
	s.atEnd[key] = val
	return val
}

// top returns the value of a variable at the start of block b. If b has several
// predecessors this is a phi. The phi is recorded before its arguments are
// built, which ends the recursion around loops, and simplified afterwards.
func (s *ssa) top(v variable, bits uint8, b int32) *term {
	key := blockVar{b, v}
	if val, ok := s.atTop[key]; ok {
		return val.resolved()
	}
	preds := s.blocks[b].preds
	if b == 0 || len(preds) == 0 || s.work > maxValues { // never defined, or too much work
		val := s.unknown(bits, b, nil)
		s.atTop[key] = val
		return val
	}
	if len(preds) == 1 {
		return s.end(v, bits, preds[0])
	}
	phi := s.make(term{op: termPhi, bits: bits, block: b})
	s.atTop[key] = phi
	args := make([]*term, len(preds))
	for n, p := range preds {
		args[n] = s.end(v, bits, p)
	}
	phi.args = args
	for _, a := range args {
		if a = a.resolved(); a.op == termPhi && a != phi {
			a.users = append(a.users, phi)
		}
	}
	return s.simplify(phi)
}

// simplify replaces a phi whose arguments are all one value or the phi itself, and then
// retries the phis that use it. Such a phi is trivial in the terms of Braun et al. It
// returns the replacement, or the phi.
func (s *ssa) simplify(phi *term) *term {
	var only *term
	for _, a := range phi.args {
		if a = a.resolved(); a == phi || a == only {
			continue
		}
		if only != nil {
			return phi
		}
		only = a
	}
	if only == nil {
		return phi
	}
	phi.same = only
	users := phi.users
	if only.op == termPhi {
		only.users = append(only.users, users...)
	}
	for _, u := range users {
		if u.same == nil && u.args != nil {
			s.simplify(u)
		}
	}
	return only.resolved()
}

// after returns the value that step i gives variable v. A guarded instruction
// gives a selection between the new and the old value.
func (s *ssa) after(v variable, bits uint8, i int) *term {
	key := stepVar{int32(i), v}
	if val, ok := s.steps[key]; ok {
		return val.resolved()
	}
	st := &s.cfg.steps[i]
	val := s.result(v, bits, i)
	if g := st.in.Guard; g.Reg != ptx.NoReg {
		old := s.before(v, bits, i)
		val = s.make(term{op: termSelect, bits: bits, block: s.blockOf[i], args: []*term{s.guard(i), val, old}})
	}
	if done, ok := s.steps[key]; ok { // a loop led back here while the operands were built
		return done.resolved()
	}
	s.steps[key] = val
	return val
}

// guard returns the predicate under which step i is executed, nil if it has
// none.
func (s *ssa) guard(i int) *term {
	st := &s.cfg.steps[i]
	g := st.in.Guard
	if g.Reg == ptx.NoReg {
		return nil
	}
	p := s.before(st.frame.base+variable(g.Reg), 1, i)
	if g.Neg {
		p = s.not(p, s.blockOf[i])
	}
	return p
}

// not returns the negation of a predicate.
func (s *ssa) not(p *term, b int32) *term {
	return s.make(term{op: termLogicNot, bits: 1, block: b, args: []*term{p}})
}

// operand returns the value of a source operand of step i.
func (s *ssa) operand(op *ptx.Operand, bits uint8, i int) *term {
	b := s.blockOf[i]
	st := &s.cfg.steps[i]
	switch op.Kind {
	case ptx.OpReg:
		if op.Reg == ptx.NoReg {
			break
		}
		v := s.before(st.frame.base+variable(op.Reg), regBits(st.frame.f, op.Reg), i)
		if op.Neg {
			v = s.not(v, b)
		}
		return v
	case ptx.OpInt:
		return s.constant(op.Imm, bits, b)
	case ptx.OpSpecial:
		return s.special(op.Name, bits, i)
	}
	return s.unknown(bits, b, s.reason(i, "an operand that is not a number"))
}

// constant returns a number, sign-extended from the given bits.
func (s *ssa) constant(imm int64, bits uint8, b int32) *term {
	return s.make(term{op: termConst, bits: bits, block: b, imm: signExtend(imm, bits)})
}

// signExtend returns the low bits of x as a signed number.
func signExtend(x int64, bits uint8) int64 {
	if bits >= 64 || bits == 1 {
		return x
	}
	return x << (64 - bits) >> (64 - bits)
}

// regBits returns the width of a register, 1 for a predicate.
func regBits(f *ptx.Func, r ptx.RegID) uint8 {
	if f.Regs[r].Type == ptx.Pred {
		return 1
	}
	return uint8(8 * f.Regs[r].Type.Size())
}

// reason returns a reason that points to step i.
func (s *ssa) reason(i int, msg string) *Reason {
	return &Reason{s.m.File, s.cfg.steps[i].in.Pos, msg}
}

// affineSpecials are the special registers whose values the shape of a launch
// bounds. The order is that of Launch.special.
var affineSpecials = []string{
	"%tid.x", "%tid.y", "%tid.z", "%ctaid.x", "%ctaid.y", "%ctaid.z",
	"%ntid.x", "%ntid.y", "%ntid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z", "%laneid",
}

// uniformSpecial reports whether a special register, an index into affineSpecials, is the
// same in all threads: %ntid and %nctaid.
func uniformSpecial(n int64) bool { return n >= 6 && n < 12 }

// special returns the value of a special register.
func (s *ssa) special(name string, bits uint8, i int) *term {
	b := s.blockOf[i]
	if n := slices.Index(affineSpecials, name); n >= 0 {
		return s.make(term{op: termSpecial, bits: 32, block: b, imm: int64(n), name: name[1:]})
	}
	return s.unknown(bits, b, s.reason(i, "the index depends on "+name))
}
