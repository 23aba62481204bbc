package ptx

import "fmt"

// call passes arguments and results between a call and the function it names.
func (w *walker) call(i *Inst) {
	c := splitCall(i)
	if c.callee == nil {
		return
	}
	if c.callee.Kind != OpFunc {
		w.unknownCall(i, c, "the call goes to an address computed at run time")
		return
	}
	f := w.m.Func(c.callee.Name)
	switch {
	case f == nil:
		return
	case f.Extern:
		w.externCall(i, c, f)
		return
	}
	w.reach(f)
	for n := range min(len(c.args), len(f.Params)) {
		w.bind(f, f.Params[n], w.argument(&c.args[n]))
	}
	for n := range min(len(c.results), len(f.Return)) {
		w.deliver(&c.results[n], w.variable(f, f.Return[n]))
	}
}

// callParts are the operands of "call (results), callee, (args)".
type callParts struct {
	results, args []Operand
	callee        *Operand
}

func splitCall(i *Inst) callParts {
	var c callParts
	for n := range i.Args {
		op := &i.Args[n]
		switch {
		case op.Kind == OpList && c.callee == nil:
			c.results = op.Elems
		case op.Kind == OpList:
			c.args = op.Elems
		case c.callee == nil:
			c.callee = op
		}
	}
	return c
}

// argument is the value of a call operand: a .param variable or a scalar.
func (w *walker) argument(op *Operand) rootSet {
	if op.Kind == OpSymbol && op.Var != nil && op.Var.Space == ParamSpace {
		return w.params[op.Var]
	}
	return w.value(op)
}

// bind gives a formal parameter a value; it may be a register.
func (w *walker) bind(f *Func, v *Var, set rootSet) {
	if v.Space != RegSpace {
		w.growParam(v, set)
		return
	}
	for id := range f.Regs {
		if f.Regs[id].Name == v.Name {
			w.grow(&w.infer.regs[f][id], set)
		}
	}
}

// variable is the value of a parameter or result of f.
func (w *walker) variable(f *Func, v *Var) rootSet {
	if v.Space != RegSpace {
		return w.params[v]
	}
	for id := range f.Regs {
		if f.Regs[id].Name == v.Name {
			return w.infer.regs[f][id]
		}
	}
	return 0
}

// deliver stores the result of a call.
func (w *walker) deliver(op *Operand, set rootSet) {
	if op.Kind == OpSymbol && op.Var != nil {
		w.growParam(op.Var, set)
		return
	}
	w.define(op, set)
}

// externCall knows the functions that the device run-time provides. None of
// them touches a buffer of the caller but through the local argument block of
// vprintf, which only a %s would follow.
func (w *walker) externCall(i *Inst, c callParts, f *Func) {
	switch f.Name {
	case "vprintf", "__assertfail", "__assert_fail", "free", "__nv_isinf", "abort":
		for n := range c.results {
			w.deliver(&c.results[n], w.table.int())
		}
	case "malloc":
		for n := range c.results {
			w.deliver(&c.results[n], w.table.single(root{kind: rootHidden}))
		}
	default:
		w.unknownCall(i, c, fmt.Sprintf("the call goes to %s, which is not in this module", f.Name))
	}
}

func (w *walker) unknownCall(i *Inst, c callParts, msg string) {
	for n := range c.results {
		w.deliver(&c.results[n], w.table.source(rootUnknown, i.Pos))
	}
	w.opaque(i.Pos, msg)
}
