package rewrite

import (
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// values maps special registers to what replaces them in a kernel: a register of the kernel
// with 32 bits, or a constant.
type values map[string]ptx.Operand

// axes are the suffixes of the extents of a grid or a block.
var axes = [3]string{".x", ".y", ".z"}

// specials returns the special registers that functions read.
func specials(funcs []*ptx.Func) map[string]bool {
	used := map[string]bool{}
	for _, f := range funcs {
		eachOperand(f, func(_ *ptx.Inst, op *ptx.Operand) {
			if op.Kind == ptx.OpSpecial {
				used[op.Name] = true
			}
		})
	}
	return used
}

// substitute replaces special registers in the kernel and in the functions that it calls.
// Constants are replaced in place. A function that needs a register gets it as a further
// parameter, which its callers pass:
//
//	.func f(.param .b32 a)                   .func f(.param .b32 a, .param .b32 rw_ctaid_x)
//	  mov.u32 %r1, %ctaid.x;                   ld.param.u32 %rw_ctaid_x_1, [rw_ctaid_x];
//	                                           mov.u32 %r1, %rw_ctaid_x_1;
//
// The kernel's body must not contain the code that computes the values.
func (u *unit) substitute(vals values, tag string) error {
	needs := u.needs(vals)
	if err := u.canPass(needs); err != nil {
		return err
	}
	for _, f := range u.bodies() {
		inside := vals
		if f != u.kernel {
			inside = u.receive(f, vals, needs[f], tag)
		}
		replace(f, inside)
		u.pass(f, inside, needs, tag)
	}
	return nil
}

// needs returns the special registers with a register as value that each function reads, or
// that a function reads which it calls, sorted. It is the least fixed point over the call graph.
func (u *unit) needs(vals values) map[*ptx.Func][]string {
	needs := map[*ptx.Func][]string{}
	add := func(f *ptx.Func, name string) bool {
		at, ok := slices.BinarySearch(needs[f], name)
		if !ok {
			needs[f] = slices.Insert(needs[f], at, name)
		}
		return !ok
	}
	for _, f := range u.bodies() {
		for name := range specials([]*ptx.Func{f}) {
			if op, ok := vals[name]; ok && op.Kind == ptx.OpReg {
				add(f, name)
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, f := range u.bodies() {
			for _, g := range u.callees(f) {
				for _, name := range needs[g] {
					changed = add(f, name) || changed
				}
			}
		}
	}
	return needs
}

// callees returns the functions with a body that f calls by name.
func (u *unit) callees(f *ptx.Func) (list []*ptx.Func) {
	for i := range f.Body {
		if g := u.callee(&f.Body[i]); g != nil {
			list = append(list, g)
		}
	}
	return list
}

// callee returns the function that an instruction calls by name, or nil if it has no body.
func (u *unit) callee(in *ptx.Inst) *ptx.Func {
	if in.Name != "call" {
		return nil
	}
	for i := range in.Args {
		if in.Args[i].Kind == ptx.OpFunc {
			if g := u.fn(in.Args[i].Name); g != nil && !g.Extern {
				return g
			}
			return nil
		}
		if in.Args[i].Kind == ptx.OpReg {
			return nil
		}
	}
	return nil
}

// canPass reports a function that needs further parameters but is also called through a
// pointer.
func (u *unit) canPass(needs map[*ptx.Func][]string) error {
	taken := u.addressTaken()
	for _, f := range u.bodies() {
		if f != u.kernel && len(needs[f]) > 0 && taken[f] {
			return refuse(u.kernel.Name, "function %s reads %s and is called through a pointer", f.Name, needs[f][0])
		}
	}
	return nil
}

// addressTaken returns the functions whose address occurs in code or in an initial value, or
// which a .calltargets lists.
func (u *unit) addressTaken() map[*ptx.Func]bool {
	taken := map[*ptx.Func]bool{}
	add := func(name string) {
		if f := u.fn(name); f != nil {
			taken[f] = true
		}
	}
	for _, v := range u.statics() {
		for _, r := range v.Relocs {
			add(r.Symbol)
		}
	}
	for _, f := range u.bodies() {
		for _, p := range f.Protos {
			for _, name := range p.Targets {
				add(name)
			}
		}
		eachOperand(f, func(_ *ptx.Inst, op *ptx.Operand) {
			if op.Kind == ptx.OpSymbol && op.Var == nil {
				add(op.Name)
			}
		})
	}
	return taken
}

// statics returns the variables of module scope, and those inside functions that exist as long
// as the module.
func (u *unit) statics() []*ptx.Var { return u.module().Statics() }

// receive adds a parameter to f for each name, and loads it at the start.
func (u *unit) receive(f *ptx.Func, vals values, names []string, tag string) values {
	inside := values{}
	for name, op := range vals {
		if op.Kind != ptx.OpReg {
			inside[name] = op
		}
	}
	e := newEmitter(f, tag)
	for _, name := range names {
		plain := plainName(name)
		v := &ptx.Var{Name: tag + "_" + plain, Space: ptx.ParamSpace, Type: ptx.B32, Align: 4}
		f.Params = append(f.Params, v)
		inside[name] = e.load(v, plain)
	}
	e.prepend()
	return inside
}

// plainName returns the name of a special register as a part of other names, "ctaid_x".
func plainName(special string) string {
	return strings.NewReplacer("%", "", ".", "_").Replace(special)
}

// pass adds the arguments that receive expects to the calls in f.
func (u *unit) pass(f *ptx.Func, inside values, needs map[*ptx.Func][]string, tag string) {
	e := newEmitter(f, tag+"_arg")
	rebuild(f, func(_ int, in ptx.Inst) []ptx.Inst {
		g := u.callee(&in)
		if g == nil || len(needs[g]) == 0 {
			return []ptx.Inst{in}
		}
		in.Args = slices.Clone(in.Args)
		list := argumentList(&in)
		e.code = nil
		for _, name := range needs[g] {
			v := &ptx.Var{Name: e.newLabel(plainName(name)), Space: ptx.ParamSpace, Type: ptx.B32, Align: 4}
			f.Vars = append(f.Vars, v)
			e.emit("st.param.b32", memory(v, 0), inside[name])
			list.Elems = append(list.Elems, ptx.Operand{Kind: ptx.OpSymbol, Var: v, Reg: ptx.NoReg, Reg2: ptx.NoReg})
		}
		return append(e.code, in)
	})
}

// argumentList returns the list of arguments of a call by name, which it adds if the call has
// none.
func argumentList(in *ptx.Inst) *ptx.Operand {
	at := slices.IndexFunc(in.Args, func(op ptx.Operand) bool { return op.Kind == ptx.OpFunc })
	if at+1 == len(in.Args) {
		in.Args = append(in.Args, ptx.Operand{Kind: ptx.OpList, Reg: ptx.NoReg, Reg2: ptx.NoReg})
	}
	in.Args[at+1].Elems = slices.Clone(in.Args[at+1].Elems)
	return &in.Args[at+1]
}

// replace replaces special registers in f. Only mov and cvt read them. A mov that is the only
// definition of its register disappears: the register becomes that of the value. A mov of 16 bits
// becomes a cvt, since the value has 32.
func replace(f *ptx.Func, vals values) {
	defs := definitions(f)
	same := map[ptx.RegID]ptx.RegID{}
	rebuild(f, func(_ int, in ptx.Inst) []ptx.Inst {
		val, ok := copied(&in, vals)
		if ok && in.Guard.Reg == ptx.NoReg && defs[in.Args[0].Reg] == 1 && f.Regs[in.Args[0].Reg].Type.Size() == 4 {
			same[in.Args[0].Reg] = val.Reg
			return nil
		}
		return []ptx.Inst{in}
	})
	follow := func(id *ptx.RegID) {
		if to, ok := same[*id]; ok {
			*id = to
		}
	}
	eachOperand(f, func(in *ptx.Inst, op *ptx.Operand) {
		follow(&op.Reg)
		follow(&op.Reg2)
		val, ok := vals[op.Name]
		if op.Kind != ptx.OpSpecial || !ok {
			return
		}
		*op = val
		if narrow := lastType(in).Size() == 2; narrow && in.Name == "mov" && val.Kind == ptx.OpReg {
			in.Name, in.Suffix = "cvt", []string{"u16", "u32"}
		}
	})
}

// copied returns the register that replaces the special register which a mov of 32 bits reads.
func copied(in *ptx.Inst, vals values) (val ptx.Operand, ok bool) {
	if in.Name != "mov" || in.Args[0].Kind != ptx.OpReg || in.Args[1].Kind != ptx.OpSpecial || lastType(in).Size() != 4 {
		return val, false
	}
	val, ok = vals[in.Args[1].Name]
	return val, ok && val.Kind == ptx.OpReg
}

// lastType returns the last type among the suffixes of an instruction.
func lastType(in *ptx.Inst) ptx.Type {
	for i := len(in.Suffix) - 1; i >= 0; i-- {
		if t, ok := ptx.ParseType(in.Suffix[i]); ok {
			return t
		}
	}
	return ptx.NoType
}
