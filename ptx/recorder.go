package ptx

import (
	"cmp"
	"fmt"
	"slices"
)

// recorder collects effects in a last sweep, when the sets are final.
type recorder struct {
	in      *infer
	params  map[rootID]*ParamAccess
	symbols []*SymbolAccess
	reason  *Reason
	all     bool // the reason concerns every eight-byte parameter, not just the pointers
}

// newRecorder starts with every parameter field whose value is loaded.
func newRecorder(in *infer) *recorder {
	r := &recorder{in: in, params: map[rootID]*ParamAccess{}}
	for id, root := range in.table.roots {
		if root.kind == rootParam {
			name := in.kernel.Params[root.param].Name
			r.params[rootID(id)] = &ParamAccess{Param: root.param, Field: root.field, Name: name}
		}
	}
	return r
}

// access records a load or store through an address with the roots base.
func (r *recorder) access(i *Inst, op *Operand, base rootSet, access Access) {
	if base == 0 {
		r.stop(i.Pos, "the address does not come from a parameter or variable", true)
		return
	}
	for _, id := range r.in.table.sets[base] {
		switch root := r.in.table.roots[id]; root.kind {
		case rootInt:
			r.stop(i.Pos, "the address does not come from a parameter or variable", true)
		case rootUnknown:
			r.stop(i.Pos, "the address is the result of a call or instruction that is not analysed", true)
		case rootLoaded:
			r.stop(i.Pos, fmt.Sprintf("the address was loaded from memory at line %d", root.pos.Line), false)
		case rootParam:
			p := r.params[id]
			p.Access |= access
			first(&p.ReadAt, &p.WriteAt, i.Pos, access)
		case rootSymbol:
			s := r.symbol(root.v.Name)
			s.Access |= access
			first(&s.ReadAt, &s.WriteAt, i.Pos, access)
		}
	}
}

// first keeps the positions of the first load and the first store.
func first(read, write *Pos, at Pos, access Access) {
	if access&AccessRead != 0 && read.Line == 0 {
		*read = at
	}
	if access&AccessWrite != 0 && write.Line == 0 {
		*write = at
	}
}

func (r *recorder) symbol(name string) *SymbolAccess {
	for _, s := range r.symbols {
		if s.Name == name {
			return s
		}
	}
	s := &SymbolAccess{Name: name}
	r.symbols = append(r.symbols, s)
	return s
}

// stop notes why the kernel is opaque; the first reason stays, and one that
// concerns all parameters counts for more.
func (r *recorder) stop(pos Pos, msg string, all bool) {
	if r.reason == nil || all && !r.all {
		r.reason = &Reason{r.in.m.File, pos, msg}
	}
	r.all = r.all || all
}

// escape notes parameters whose own value is stored to memory.
func (r *recorder) escape(i *Inst, value rootSet) {
	for _, id := range r.in.table.sets[value] {
		if p := r.params[id]; p != nil && p.StoreAt.Line == 0 && i.wide() {
			p.StoreAt = i.Pos
		}
	}
}

// handle notes a texture or surface object.
func (r *recorder) handle(i *Inst, w *walker) {
	msg := fmt.Sprintf("%s reaches memory through a texture or surface object, bound by the host", i.Opcode())
	for n := range i.Args {
		if i.Args[n].Kind != OpMem {
			continue
		}
		for _, id := range r.in.table.sets[w.base(&i.Args[n])] {
			if p := r.params[id]; p != nil && p.Why == nil {
				p.Access, p.Why = AccessUnknown, &Reason{r.in.m.File, i.Pos, msg}
			}
		}
	}
	r.stop(i.Pos, msg, false)
}

// effects puts the results in the order of parameters and of declarations.
func (r *recorder) effects() *Effects {
	e := &Effects{Opaque: r.reason}
	for i, v := range r.in.kernel.Params {
		rows := r.fields(i)
		if len(rows) == 0 {
			rows = []ParamAccess{{Param: i, Name: v.Name}}
		}
		e.Params = append(e.Params, rows...)
	}
	slices.SortFunc(r.symbols, func(a, b *SymbolAccess) int { return cmp.Compare(a.Name, b.Name) })
	for _, s := range r.symbols {
		e.Symbols = append(e.Symbols, *s)
	}
	return e
}

// fields returns the rows of one parameter. A struct keeps those that matter.
func (r *recorder) fields(param int) []ParamAccess {
	var rows []ParamAccess
	for id := range r.in.table.roots {
		p := r.params[rootID(id)]
		if p == nil || p.Param != param {
			continue
		}
		if r.reason != nil && (r.all || r.in.pointers[rootID(id)] || p.Access != AccessNone) && p.Why == nil {
			p.Access, p.Why = AccessUnknown, r.reason
		}
		rows = append(rows, *p)
	}
	slices.SortFunc(rows, func(a, b ParamAccess) int { return cmp.Compare(a.Field, b.Field) })
	used := slices.DeleteFunc(slices.Clone(rows), func(p ParamAccess) bool {
		return p.Access == AccessNone && p.StoreAt.Line == 0
	})
	if len(used) > 0 || len(rows) == 0 {
		return used
	}
	return rows[:1]
}
