package rewrite

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// declaration identifies a function or variable that several parts may share. The module of a
// function of the driver is nil. The part is -1 for what parts share.
type declaration struct {
	m    *ptx.Module
	name string // in the module
	part int
}

// sharing decides which declarations of the parts become one, and their names:
//
//	function that the rewrite has changed, or variable      one for each part,
//	with the address of one                                 with the part's prefix
//	other function or variable                              one for each module
//	function of the driver                                  one
type sharing struct {
	f     *fusion
	taken map[string]bool
	funcs map[declaration]*ptx.Func
	vars  map[declaration]*ptx.Var
}

// declare collects the functions and module variables of the parts.
func (f *fusion) declare() {
	s := &sharing{f: f, taken: map[string]bool{}, funcs: map[declaration]*ptx.Func{}, vars: map[declaration]*ptx.Var{}}
	for i, p := range f.parts {
		s.part(i, p)
	}
}

// part adds the declarations of one part, and changes what refers to them.
func (s *sharing) part(i int, p *fusedPart) {
	names := map[string]string{} // of functions and variables, by the name in the module
	vars := map[*ptx.Var]*ptx.Var{}
	private := p.privateNames()
	for _, v := range p.vars {
		if v.Space == ptx.Shared {
			continue // see overlay
		}
		d := declaration{p.from, v.Name, -1}
		if private[v.Name] {
			d.part = i
		}
		if s.vars[d] == nil {
			v.Name = s.name(p, d, false)
			s.vars[d] = v
			s.f.vars = append(s.f.vars, v)
			s.f.describe(i, d.name, v)
		}
		vars[v], names[d.name] = s.vars[d], s.vars[d].Name
	}
	changed := []*ptx.Func{p.kernel}
	for _, g := range p.funcs {
		if g == p.kernel {
			continue
		}
		d, provided := declaration{p.from, g.Name, -1}, g.Extern && g.Alias == ""
		switch {
		case provided:
			d.m = nil
		case p.touched[g]:
			d.part = i
		}
		if s.funcs[d] == nil {
			g.Name = s.name(p, d, provided)
			s.funcs[d] = g
			s.f.funcs = append(s.f.funcs, g)
			changed = append(changed, g)
			for _, v := range g.Vars {
				s.f.describe(i, v.Name, v)
			}
		}
		names[d.name] = s.funcs[d].Name
	}
	rename := func(name *string) {
		if to, ok := names[*name]; ok {
			*name = to
		}
	}
	for _, v := range p.statics() {
		for k := range v.Relocs {
			rename(&v.Relocs[k].Symbol)
		}
	}
	for _, g := range changed {
		eachName(g, rename)
		eachOperand(g, func(_ *ptx.Inst, op *ptx.Operand) {
			if to := vars[op.Var]; to != nil {
				op.Var = to
			}
		})
	}
}

// privateNames returns the names of the variables that hold the address of a function which the
// rewrite has changed, or of another such variable.
func (p *fusedPart) privateNames() map[string]bool {
	private := map[string]bool{}
	for changed := true; changed; {
		changed = false
		for _, v := range p.vars {
			if !private[v.Name] && slices.ContainsFunc(v.Relocs, func(r ptx.Reloc) bool { return private[r.Symbol] || p.touched[p.fn(r.Symbol)] }) {
				private[v.Name], changed = true, true
			}
		}
	}
	return private
}

// name returns the name of a declaration in the result: that of the module if no other module
// has it. Functions of the driver keep theirs.
func (s *sharing) name(p *fusedPart, d declaration, keep bool) string {
	name := d.name
	if d.part >= 0 || s.taken[name] && !keep {
		name = p.prefix + name
	}
	s.taken[name] = true
	return name
}

// describe adds a variable of part i to the description of the result, if it exists as long as
// the module.
func (f *fusion) describe(i int, original string, v *ptx.Var) {
	for _, known := range f.parts[i].known {
		if known.Original == original && (v.Space == ptx.Global || v.Space == ptx.Const) {
			known.Name = v.Name
			f.result.Variables = append(f.result.Variables, known)
		}
	}
}

// eachName calls use for each name of a function in f: those called, those whose address is
// taken, the targets of indirect calls, and the function that an alias stands for.
func eachName(f *ptx.Func, use func(*string)) {
	local := map[string]bool{}
	for _, p := range f.Protos {
		local[p.Name] = true
		for i := range p.Targets {
			use(&p.Targets[i])
		}
	}
	if f.Alias != "" {
		use(&f.Alias)
	}
	eachOperand(f, func(_ *ptx.Inst, op *ptx.Operand) {
		if op.Kind == ptx.OpFunc && !local[op.Name] || op.Kind == ptx.OpSymbol && op.Var == nil {
			use(&op.Name)
		}
	})
}
