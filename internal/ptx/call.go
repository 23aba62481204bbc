package ptx

import "fmt"

// callForm holds the parts of a call. Results, arguments and prototype are optional:
//
//	call (results), target, (arguments);                 target is a function
//	call (results), target, (arguments), prototype;      target is a register
type callForm struct {
	results, args     []Operand
	target, prototype *Operand
}

// callForm splits the operands of a call by their kinds. If they are wrong, fault describes
// what operand at must be.
func (in *Inst) callForm() (c callForm, fault string, at int) {
	n := 0
	if n < len(in.Args) && in.Args[n].Kind == OpList {
		c.results = in.Args[n].Elems
		n++
	}
	// The target is required.
	if n == len(in.Args) || in.Args[n].Kind != OpFunc && in.Args[n].Kind != OpReg {
		return c, "a function, or a register that holds the address of one", min(n, len(in.Args)-1)
	}
	c.target = &in.Args[n]
	n++
	if n < len(in.Args) && in.Args[n].Kind == OpList {
		c.args = in.Args[n].Elems
		n++
	}
	if n < len(in.Args) && in.Args[n].Kind == OpFunc {
		c.prototype = &in.Args[n]
		n++
	}
	if n < len(in.Args) {
		return c, "left out", n
	}
	return c, "", 0
}

// checkCall compares a call with the signature of its function, or with the prototype of an
// indirect call. A function without a known signature is reported elsewhere, see parser.finish.
func (b *body) checkCall(in *Inst) {
	p := b.p
	if len(in.Args) == 0 {
		p.report(in.Pos, "%s names no function", in.Opcode())
		return
	}
	c, fault, at := in.callForm()
	if fault != "" {
		p.report(in.Args[at].Pos, "operand %d of %s must be %s, not %s", at+1, in.Opcode(), fault, b.f.describe(&in.Args[at]))
		return
	}
	if fault := b.targetFault(c); fault != "" {
		p.report(c.target.Pos, "%s", fault)
		return
	}
	name, params, results, ok := b.callee(c)
	switch {
	// The function or prototype is not declared, which is reported at its name.
	case !ok:
	case len(c.args) != len(params) && !(variadic(params) && len(c.args) == len(params)-1):
		p.report(in.Pos, "the call passes %s, %s takes %d", count(len(c.args), "argument"), name, len(params))
	case len(c.results) != len(results):
		p.report(in.Pos, "the call takes %s, %s returns %d", count(len(c.results), "result"), name, len(results))
	default:
		b.checkArguments(c.args, params, "argument", name)
		b.checkArguments(c.results, results, "result", name)
	}
}

// targetFault describes the fault of the callee or the prototype of a call, or returns "". A
// prototype is required for a call through a register, and not allowed for any other.
func (b *body) targetFault(c callForm) string {
	if c.target.Kind == OpFunc {
		return unless(c.prototype == nil, fmt.Sprintf("a call of function %s has no prototype; only a call through a register has one", c.target.Name))
	}
	typ := b.f.Regs[c.target.Reg].Type
	switch {
	case c.prototype == nil:
		return "a call through a register needs a .callprototype or .calltargets"
	case !typesAgree(typ, U32, false) && !typesAgree(typ, U64, false):
		return fmt.Sprintf("%s cannot contain the address of a function", b.f.describe(c.target))
	}
	return ""
}

// variadic reports whether the last parameter is an array without an extent.
func variadic(params []*Var) bool {
	n := len(params)
	return n > 0 && len(params[n-1].Dims) > 0 && params[n-1].Dims[0] == 0
}

// callee returns the signature of a call; ok is false while it is not known.
func (b *body) callee(c callForm) (name string, params, results []*Var, ok bool) {
	if c.target.Kind == OpReg {
		// targetFault has reported a missing prototype.
		if c.prototype == nil {
			return "", nil, nil, true
		}
		for _, proto := range b.f.Protos {
			if proto.Name == c.prototype.Name {
				return "prototype " + proto.Name, proto.Params, proto.Return, true
			}
		}
		return "", nil, nil, false
	}
	if f := b.p.funcs[c.target.Name]; f != nil {
		return f.Name, f.Params, f.Return, true
	}
	return "", nil, nil, false
}
