package rewrite

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/ptx"
)

// unit is a copy of a kernel, of the functions that it reaches, and of the module variables
// that these use. A rewrite changes the copy and prints it.
type unit struct {
	from   *ptx.Module
	kernel *ptx.Func
	funcs  []*ptx.Func // with the kernel, in the order of the module
	vars   []*ptx.Var  // of module scope, in the order of the module
	origin map[*ptx.Var]*ptx.Var
}

// extract copies the kernel called name out of m. The cost is linear in the module.
func extract(m *ptx.Module, name string) (*unit, error) {
	if m == nil {
		return nil, absent.Nil("the module")
	}
	f := m.Func(name)
	if f == nil || !f.Entry || f.Extern {
		return nil, fmt.Errorf("rewrite: module %s has no kernel %q", m.File, name)
	}
	r := newReach(m)
	r.function(f)
	u := &unit{from: m, origin: map[*ptx.Var]*ptx.Var{}}
	c := copier{vars: map[*ptx.Var]*ptx.Var{}}
	for _, v := range m.Vars {
		if r.vars[v] {
			u.vars = append(u.vars, c.variable(v))
		}
	}
	for _, g := range m.Funcs {
		if r.funcs[g] {
			u.funcs = append(u.funcs, c.function(g))
		}
		if g == f {
			u.kernel = u.funcs[len(u.funcs)-1]
		}
	}
	for from, to := range c.vars {
		u.origin[to] = from
	}
	return u, nil
}

// reach is the set of functions and module variables that a kernel refers to, transitively.
type reach struct {
	m     *ptx.Module
	names map[string]any // *ptx.Var or *ptx.Func, by name
	vars  map[*ptx.Var]bool
	funcs map[*ptx.Func]bool
}

// newReach returns an empty set.
func newReach(m *ptx.Module) *reach {
	r := &reach{m: m, names: map[string]any{}, vars: map[*ptx.Var]bool{}, funcs: map[*ptx.Func]bool{}}
	for _, v := range m.Vars {
		r.names[v.Name] = v
	}
	for _, f := range m.Funcs {
		r.names[f.Name] = f
	}
	return r
}

// name adds the function or variable with a name.
func (r *reach) name(name string) {
	switch x := r.names[name].(type) {
	case *ptx.Var:
		r.variable(x)
	case *ptx.Func:
		r.function(x)
	}
}

// variable adds a variable and what its initial value refers to.
func (r *reach) variable(v *ptx.Var) {
	if r.vars[v] {
		return
	}
	r.vars[v] = true
	for _, reloc := range v.Relocs {
		r.name(reloc.Symbol)
	}
}

// function adds a function and what it refers to.
func (r *reach) function(f *ptx.Func) {
	if r.funcs[f] {
		return
	}
	r.funcs[f] = true
	for _, v := range f.Vars {
		r.variable(v)
	}
	eachName(f, func(name *string) { r.name(*name) })
	eachOperand(f, func(_ *ptx.Inst, op *ptx.Operand) {
		if op.Var != nil {
			r.variable(op.Var)
		}
	})
}

// eachOperand calls use for each operand of f, those nested in vectors and lists included.
func eachOperand(f *ptx.Func, use func(*ptx.Inst, *ptx.Operand)) {
	for i := range f.Body {
		in := &f.Body[i]
		eachNested(in.Args, func(op *ptx.Operand) { use(in, op) })
	}
}

// eachNested calls use for each operand of a list, nested ones included.
func eachNested(list []ptx.Operand, use func(*ptx.Operand)) {
	for i := range list {
		use(&list[i])
		eachNested(list[i].Elems, use)
	}
}

// copier makes deep copies. A variable has one copy, which all copied operands share.
type copier struct{ vars map[*ptx.Var]*ptx.Var }

// variable returns the copy of v.
func (c *copier) variable(v *ptx.Var) *ptx.Var {
	if v == nil {
		return nil
	}
	if w := c.vars[v]; w != nil {
		return w
	}
	w := *v
	w.Relocs = slices.Clone(v.Relocs)
	c.vars[v] = &w
	return &w
}

// variables copies a list; nil stays nil.
func (c *copier) variables(list []*ptx.Var) []*ptx.Var {
	list = slices.Clone(list)
	for i, v := range list {
		list[i] = c.variable(v)
	}
	return list
}

// function copies f.
func (c *copier) function(f *ptx.Func) *ptx.Func {
	g := *f
	g.Params, g.Return, g.Vars = c.variables(f.Params), c.variables(f.Return), c.variables(f.Vars)
	g.Regs = slices.Clone(f.Regs)
	g.Labels = map[string]int{}
	for name, at := range f.Labels {
		g.Labels[name] = at
	}
	g.Protos = slices.Clone(f.Protos)
	for i, p := range g.Protos {
		q := *p
		q.Params, q.Return = c.variables(p.Params), c.variables(p.Return)
		q.Targets = slices.Clone(p.Targets)
		g.Protos[i] = &q
	}
	g.Body = slices.Clone(f.Body)
	for i := range g.Body {
		g.Body[i].Args = c.operands(g.Body[i].Args)
	}
	return &g
}

// operands copies operands, nested ones included.
func (c *copier) operands(list []ptx.Operand) []ptx.Operand {
	list = slices.Clone(list)
	for i := range list {
		list[i].Var = c.variable(list[i].Var)
		list[i].Elems = c.operands(list[i].Elems)
	}
	return list
}

// fn returns the function of u with a name, or nil. An alias is resolved.
func (u *unit) fn(name string) *ptx.Func {
	for _, f := range u.funcs {
		if f.Name == name {
			if f.Alias != "" {
				return u.fn(f.Alias)
			}
			return f
		}
	}
	return nil
}

// bodies returns the functions of u that have a body.
func (u *unit) bodies() []*ptx.Func {
	return slices.DeleteFunc(slices.Clone(u.funcs), func(f *ptx.Func) bool { return f.Extern })
}

// module returns a module with the declarations of u, ready to print.
func (u *unit) module() *ptx.Module {
	return &ptx.Module{
		File: u.from.File, Version: u.from.Version, Target: u.from.Target, AddressSize: u.from.AddressSize,
		Vars: u.vars, Funcs: u.funcs,
	}
}

// freshTag returns a string that no name in the units contains: names that begin with it, or
// with % and it, are new.
func freshTag(units ...*unit) string {
	tag := "rw"
	for n := 1; slices.ContainsFunc(units, func(u *unit) bool { return u.mentions(tag) }); n++ {
		tag = "rw" + strconv.Itoa(n)
	}
	return tag
}

// mentions reports whether a name in u contains the string.
func (u *unit) mentions(s string) bool {
	has := func(v *ptx.Var) bool { return strings.Contains(v.Name, s) }
	if slices.ContainsFunc(u.vars, has) {
		return true
	}
	for _, f := range u.funcs {
		if strings.Contains(f.Name, s) || slices.ContainsFunc(f.Params, has) || slices.ContainsFunc(f.Return, has) || slices.ContainsFunc(f.Vars, has) ||
			slices.ContainsFunc(f.Regs, func(r ptx.Reg) bool { return strings.Contains(r.Name, s) }) ||
			slices.ContainsFunc(f.Protos, func(p *ptx.Prototype) bool { return strings.Contains(p.Name, s) }) {
			return true
		}
		for name := range f.Labels {
			if strings.Contains(name, s) {
				return true
			}
		}
	}
	return false
}
