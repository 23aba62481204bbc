package access

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// recorder collects the effects in a last sweep, after the sets have become final. It
// never changes a set.
type recorder struct {
	in      *infer
	params  map[rootID]*ParamAccess // by rootParam
	symbols []*SymbolAccess
	reason  *Reason // why the kernel is opaque, or nil
	reaches []reach
}

// reach is one access of one instruction, with the parameters that its address
// may come from.
type reach struct {
	in        *ptx.Inst
	addr      *ptx.Operand
	access    Access
	params    []root
	soleParam bool // the address is params[0] plus a number
}

// newRecorder adds a row for every parameter field that the kernel loads.
func newRecorder(in *infer) *recorder {
	r := &recorder{in: in, params: map[rootID]*ParamAccess{}}
	for _, root := range in.table.roots {
		if root.kind == rootParam || root.kind == rootOffset {
			if r.params[in.table.id(root.pointer())] != nil {
				continue
			}
			name := in.kernel.Params[root.param].Name
			r.params[in.table.id(root.pointer())] = &ParamAccess{Param: root.param, Field: root.field, Name: name}
		}
	}
	return r
}

// access records a load or store through an address with the roots base:
//
//	parameter            its row is read or written
//	offset               the row's Offset is read or written
//	variable             its row in Symbols
//	int, loaded, unknown the kernel is opaque
//	shared, local, heap  no effect outside the kernel
func (r *recorder) access(i *ptx.Inst, op *ptx.Operand, base rootSet, access Access) {
	// No root can be an address alone.
	if !r.in.table.mayBeAddress(base) {
		r.setOpaque(i.Pos, "the address does not come from a parameter or variable")
	}
	at := reach{in: i, addr: op, access: access, soleParam: true}
	for _, id := range r.in.table.sets[base] {
		root := r.in.table.roots[id]
		at.soleParam = at.soleParam && (id == nullRoot || root.kind == rootOffset || root.kind == rootParam && len(at.params) == 0)
		switch root.kind {
		case rootInt:
			r.setOpaque(i.Pos, r.numberAt(base))
		case rootUnknown:
			r.setOpaque(i.Pos, "the address is the result of a call or an instruction that is not analysed")
		case rootLoaded:
			r.setOpaque(i.Pos, root.loadedAt())
		case rootParam:
			at.params = append(at.params, root)
			p := r.params[id]
			p.Access = p.Access.Or(access)
			if p.PlainAt.IsZero() && !commutes(i) {
				p.PlainAt = i.Pos
			}
			r.update(p, i)
			first(&p.ReadAt, &p.WriteAt, i.Pos, access)
		case rootOffset:
			r.params[r.in.table.id(root.pointer())].Offset |= access
		case rootSymbol:
			s := r.symbol(root.v.Name)
			s.Access |= access
			first(&s.ReadAt, &s.WriteAt, i.Pos, access)
		}
	}
	if len(at.params) > 0 {
		r.reaches = append(r.reaches, at)
	}
}

// update records the update that an instruction makes through p, if all accesses so far are the same one.
func (r *recorder) update(p *ParamAccess, i *ptx.Inst) {
	one := updateOf(r.in.m, i)
	switch {
	case p.ReadAt.IsZero() && p.WriteAt.IsZero():
		p.Update = one
	case p.Update != nil && (one == nil || *one != *p.Update):
		p.Update = nil
	}
}

// numberAt describes an address that may be a number. The roots of a register are those of all values that it ever has.
func (r *recorder) numberAt(base rootSet) string {
	pointer := func(id rootID) bool { k := r.in.table.roots[id].kind; return k == rootParam || k == rootSymbol }
	if r.in.table.any(base, pointer) {
		return "the register of the address may also hold a number: use a register for addresses alone"
	}
	return "the address does not come from a parameter or variable"
}

// pointer turns an offset root into the parameter it belongs to.
func (r root) pointer() root {
	if r.kind == rootOffset {
		r.kind = rootParam
	}
	return r
}

// loadedAt describes a loaded address.
func (r root) loadedAt() string {
	if r.pos.IsZero() {
		return "the address was loaded from memory"
	}
	return fmt.Sprintf("the address was loaded from memory at line %d", r.pos.Line)
}

// first records the position of the first load and the first store.
func first(read, write *ptx.Pos, at ptx.Pos, access Access) {
	if access&Read != 0 && read.IsZero() {
		*read = at
	}
	if access&Write != 0 && write.IsZero() {
		*write = at
	}
}

// symbol returns the row of a variable. Kernels touch few variables, hence a
// list.
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

// setOpaque records the first reason why the kernel is opaque.
func (r *recorder) setOpaque(pos ptx.Pos, msg string) {
	if r.reason == nil {
		r.reason = &Reason{r.in.m.File, pos, msg}
	}
}

// escape records parameters whose value is stored to memory.
func (r *recorder) escape(i *ptx.Inst, value rootSet) {
	for _, id := range r.in.table.sets[value] {
		if p := r.params[id]; p != nil && p.StoreAt.IsZero() && wide(i) {
			p.StoreAt = i.Pos
		}
	}
}

// handle records a texture or surface object. If it is a parameter, only that parameter's
// access is unknown: the host bound the memory behind it. Any other object makes the
// kernel opaque.
func (r *recorder) handle(i *ptx.Inst, w *walker) {
	why := &Reason{r.in.m.File, i.Pos, fmt.Sprintf("%s reaches memory through a texture or surface object, bound by the host", i.Opcode())}
	for n := range i.Args {
		if i.Args[n].Kind != ptx.OpMem {
			continue
		}
		for _, id := range r.in.table.sets[w.base(&i.Args[n])] {
			if r.in.table.roots[id].kind == rootNull {
				continue
			}
			p := r.params[id]
			if p == nil || r.in.table.roots[id].kind != rootParam {
				r.setOpaque(i.Pos, why.Msg)
			} else if p.Why == nil {
				p.Access, p.Why = Unknown, why
			}
		}
	}
}

// effects returns the rows sorted by parameter and the variables sorted by
// name. In an opaque kernel, the access through every parameter that can hold a
// pointer is unknown.
func (r *recorder) effects() *Effects {
	e := &Effects{Opaque: r.reason}
	for i, v := range r.in.kernel.Params {
		for _, p := range r.fields(i) {
			if r.reason != nil && p.Why == nil && v.Size() >= 8 && !v.Type.Float() {
				p.Access, p.Why = Unknown, r.reason
			}
			e.Params = append(e.Params, p)
		}
	}
	slices.SortFunc(r.symbols, func(a, b *SymbolAccess) int { return cmp.Compare(a.Name, b.Name) })
	for _, s := range r.symbols {
		e.Symbols = append(e.Symbols, *s)
	}
	return e
}

// fields returns the rows of one parameter: those of the fields that are used
// as pointers, and at least one.
func (r *recorder) fields(param int) []ParamAccess {
	var rows []ParamAccess
	for _, p := range r.params {
		if p.Param == param && (p.Access != None || p.Offset != None || !p.StoreAt.IsZero()) {
			rows = append(rows, *p)
		}
	}
	if len(rows) == 0 {
		return []ParamAccess{{Param: param, Name: r.in.kernel.Params[param].Name}}
	}
	slices.SortFunc(rows, func(a, b ParamAccess) int { return cmp.Compare(a.Field, b.Field) })
	return rows
}
