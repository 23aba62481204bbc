package access

import (
	"fmt"
	"regexp"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// call passes roots from arguments to parameters and from results back. All calls of a
// function share one set per register: the analysis does not distinguish callers.
func (w *walker) call(i *ptx.Inst) {
	c := splitCall(i)
	if c.callee == nil {
		return
	}
	if c.callee.Kind != ptx.OpFunc {
		w.indirectCall(i, c)
		return
	}
	f := w.m.Func(c.callee.Name)
	switch {
	case f == nil:
	case f.Extern:
		w.externCall(i, c, f)
	default:
		w.callTo(f, c)
	}
}

// indirectCall treats a call through a pointer as a call of every function of
// the module whose address is taken and whose numbers of parameters and results
// match. Functions of other modules have no address here.
func (w *walker) indirectCall(i *ptx.Inst, c callParts) {
	if w.pointerTargets == nil {
		w.pointerTargets = addressTaken(w.m)
	}
	found := false
	for _, f := range w.pointerTargets {
		if len(f.Params) == len(c.args) && len(f.Return) == len(c.results) && !f.Extern {
			w.callTo(f, c)
			found = true
		}
	}
	if !found {
		w.unknownCall(i, c, "the call goes to an address computed at run time")
	}
}

// addressTaken lists the functions of m whose address occurs in code, or in the
// initial value of a variable such as a table of virtual functions.
func addressTaken(m *ptx.Module) []*ptx.Func {
	names := map[string]bool{}
	for _, v := range m.Statics() {
		for _, r := range v.Relocs {
			names[r.Symbol] = true
		}
	}
	for _, f := range m.Funcs {
		for k := range f.Body {
			for n := range f.Body[k].Args {
				if op := &f.Body[k].Args[n]; op.Kind == ptx.OpSymbol && op.Var == nil {
					names[op.Name] = true
				}
			}
		}
	}
	list := []*ptx.Func{}
	for _, f := range m.Funcs {
		if names[f.Name] && !f.Entry {
			list = append(list, f)
		}
	}
	return list
}

// callTo passes roots between a call and f.
func (w *walker) callTo(f *ptx.Func, c callParts) {
	w.reach(f)
	for n := range min(len(c.args), len(f.Params)) {
		w.bind(f, f.Params[n], w.argument(&c.args[n]))
	}
	for n := range min(len(c.results), len(f.Return)) {
		w.bindResult(&c.results[n], w.variable(f, f.Return[n]))
	}
}

// callParts are the operands of "call (results), callee, (args)".
type callParts struct {
	results, args []ptx.Operand
	callee        *ptx.Operand
}

// splitCall finds the parts of a call by position: a list before the callee
// holds the results, a list after it the arguments.
func splitCall(i *ptx.Inst) callParts {
	var c callParts
	for n := range i.Args {
		op := &i.Args[n]
		switch {
		case op.Kind == ptx.OpList && c.callee == nil:
			c.results = op.Elems
		case op.Kind == ptx.OpList:
			c.args = op.Elems
		case c.callee == nil:
			c.callee = op
		}
	}
	return c
}

// argument returns the roots of an argument: a .param variable or a scalar.
func (w *walker) argument(op *ptx.Operand) rootSet {
	if op.Kind == ptx.OpSymbol && op.Var != nil && op.Var.Space == ptx.ParamSpace {
		return w.params[op.Var]
	}
	return w.value(op)
}

// bind adds roots to a formal parameter, which may be a register.
func (w *walker) bind(f *ptx.Func, v *ptx.Var, set rootSet) {
	if v.Space != ptx.RegSpace {
		w.growParam(v, set)
		return
	}
	for id := range f.Regs {
		if f.Regs[id].Name == v.Name {
			w.grow(&w.infer.regs[f][id], set)
		}
	}
}

// variable returns the roots of a parameter or result of f.
func (w *walker) variable(f *ptx.Func, v *ptx.Var) rootSet {
	if v.Space != ptx.RegSpace {
		return w.params[v]
	}
	for id := range f.Regs {
		if f.Regs[id].Name == v.Name {
			return w.infer.regs[f][id]
		}
	}
	return 0
}

// bindResult adds roots to the operand that receives a result.
func (w *walker) bindResult(op *ptx.Operand, set rootSet) {
	if op.Kind == ptx.OpSymbol && op.Var != nil {
		w.growParam(op.Var, set)
		return
	}
	w.define(op, set)
}

// externCall handles the functions of the device run-time. They do not touch
// the caller's buffers, except vprintf, which reads the strings of a %s. The
// arguments of cudaGraphSetConditional and cudaCGSynchronize are handles. Any
// other function makes the kernel opaque.
func (w *walker) externCall(i *ptx.Inst, c callParts, f *ptx.Func) {
	if f.Name == "vprintf" && len(c.args) > 0 && w.rec != nil && w.printsStrings(w.argument(&c.args[0])) {
		w.printed(i)
	}
	switch f.Name {
	case "vprintf", "__assertfail", "__assert_fail", "free", "__nv_isinf", "abort", "cudaGraphSetConditional",
		"cudaCGGetIntrinsicHandle", "cudaCGSynchronize":
		for n := range c.results {
			w.bindResult(&c.results[n], w.table.int())
		}
	case "malloc":
		for n := range c.results {
			w.bindResult(&c.results[n], w.table.single(root{kind: rootHidden}))
		}
	default:
		w.unknownCall(i, c, fmt.Sprintf("the call goes to %s, which is not in this module", f.Name))
	}
}

// printsStrings reports whether a format with these roots may contain a %s, of
// any width.
func (w *walker) printsStrings(format rootSet) bool {
	return w.table.any(format, func(id rootID) bool {
		r := w.table.roots[id]
		if r.kind == rootNull || r.kind == rootInt {
			return false
		}
		return r.kind != rootSymbol || r.v.Init == nil || stringVerb.Match(r.v.Init)
	})
}

// stringVerb matches a conversion %s with flags, width and precision.
var stringVerb = regexp.MustCompile(`%[-+ #0-9.*]*s`)

// printed records reads through all pointers in local memory. The arguments of
// vprintf are among them.
func (w *walker) printed(i *ptx.Inst) {
	if _, pointers := w.table.split(w.local); pointers != 0 {
		w.rec.access(i, nil, pointers, Read)
	}
}

// unknownCall makes the kernel opaque at a call of unknown code.
func (w *walker) unknownCall(i *ptx.Inst, c callParts, msg string) {
	for n := range c.results {
		w.bindResult(&c.results[n], w.table.source(rootUnknown, i.Pos))
	}
	w.opaque(i.Pos, msg)
}
