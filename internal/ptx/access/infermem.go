package access

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// memory applies an instruction with a memory operand.
func (w *walker) memory(i *ptx.Inst) {
	switch i.Name {
	case "ld", "ldu":
		if len(i.Args) >= 2 {
			w.load(i)
		}
	case "st":
		if len(i.Args) >= 2 {
			w.touch(i, &i.Args[0], Write)
			w.stored(i, w.base(&i.Args[0]), w.value(&i.Args[1]), &i.Args[0])
		}
	case "atom":
		w.atomic(i)
	case "red":
		w.touch(i, &i.Args[0], ReadWrite)
		w.storedArgs(i, &i.Args[0], i.Args[1:])
	case "tex", "tld4", "suld", "sust", "sured":
		w.texture(i)
	case "cp", "wmma":
		w.bulk(i)
	case "stmatrix":
		for n := range i.Args[1:] {
			w.grow(&w.shared, w.table.offsets(w.value(&i.Args[1+n])))
		}
	default: // ldmatrix, mbarrier: shared memory only
		w.define(&i.Args[0], w.table.union(w.table.int(), w.table.offsets(w.shared)))
	}
}

// spaceOf returns the state space that an instruction names, or Generic.
func spaceOf(i *ptx.Inst) ptx.Space {
	for _, s := range i.Suffix {
		name, _, _ := strings.Cut(s, "::")
		if space, ok := ptx.ParseSpace(name); ok {
			return space
		}
	}
	return ptx.Generic
}

// touch records an access through the address operand op. Shared, local and
// .param memory do not outlive the kernel.
func (w *walker) touch(i *ptx.Inst, op *ptx.Operand, access Access) {
	if w.rec == nil {
		return
	}
	switch spaceOf(i) {
	case ptx.Shared, ptx.Local, ptx.ParamSpace:
		return
	}
	w.rec.access(i, op, w.base(op), access)
}

// load defines the destination of a load by the state space that it reads:
//
//	.param    the parameter or argument itself
//	.shared   the roots of everything stored to shared memory
//	.local    the same for local memory
//	others    a loaded value, with the position of the load; see loadGeneric
func (w *walker) load(i *ptx.Inst) {
	addr := &i.Args[1]
	base := w.base(addr)
	switch space := spaceOf(i); space {
	case ptx.ParamSpace:
		w.define(&i.Args[0], w.loadParam(i, addr, base))
		return
	case ptx.Shared:
		w.define(&i.Args[0], w.cell(i, w.shared))
		return
	case ptx.Local:
		w.define(&i.Args[0], w.cell(i, w.local))
		return
	}
	w.touch(i, addr, Read)
	w.define(&i.Args[0], w.loadGeneric(i, base))
}

// cell returns the roots of a value loaded from shared or local memory. A value
// of less than eight bytes is a number: a pointer assembled from such halves
// has no root and makes the kernel opaque.
func (w *walker) cell(i *ptx.Inst, set rootSet) rootSet {
	if !wide(i) {
		return w.table.union(w.table.int(), w.table.offsets(set))
	}
	return set
}

// wide reports whether an instruction moves integers of eight bytes or more.
// Only these can be pointers.
func wide(i *ptx.Inst) bool {
	if len(i.Suffix) == 0 {
		return false
	}
	switch i.Suffix[len(i.Suffix)-1] {
	case "u64", "b64", "s64", "b128":
		return true
	}
	return false
}

// loadGeneric returns the roots of a value loaded from a .global, .const or generic
// address. A generic address may point to shared, local or parameter memory as well,
// depending on its roots.
func (w *walker) loadGeneric(i *ptx.Inst, base rootSet) rootSet {
	set := rootSet(0)
	if !wide(i) {
		set = w.table.int()
	}
	for _, id := range w.table.sets[base] {
		switch r := w.table.roots[id]; {
		case r.kind == rootShared:
			set = w.table.union(set, w.cell(i, w.shared))
		case r.kind == rootLocal:
			set = w.table.union(set, w.cell(i, w.local))
		case r.kind == rootParamAddr:
			set = w.table.union(set, w.paramValue(i, r.param, -1))
		case !wide(i):
		default:
			set = w.table.union(set, w.table.source(rootLoaded, i.Pos))
		}
	}
	return set
}

// loadParam returns the roots of a kernel parameter, or of an argument or
// result of a call.
func (w *walker) loadParam(i *ptx.Inst, addr *ptx.Operand, base rootSet) rootSet {
	if v := addr.Var; addr.Reg == ptx.NoReg && v != nil && !slices.Contains(w.kernel.Params, v) {
		return w.cell(i, w.params[v])
	}
	set := rootSet(0)
	for _, id := range w.table.sets[base] {
		r := w.table.roots[id]
		if r.kind != rootParamAddr {
			set = w.table.union(set, w.table.source(rootUnknown, i.Pos))
			continue
		}
		field := r.field
		if addr.Reg != ptx.NoReg && field >= 0 {
			field += int(addr.Imm)
		}
		set = w.table.union(set, w.paramValue(i, r.param, field))
	}
	return set
}

// paramValue returns the roots of eight bytes of a kernel parameter. Fewer
// bytes are a number, which may be half of a pointer and is therefore an
// offset. A vector load covers the fields that follow as well.
func (w *walker) paramValue(i *ptx.Inst, param, field int) rootSet {
	if w.kernel.Params[param].Size() <= 8 {
		field = max(field, 0) // the parameter has one field
	}
	if !wide(i) {
		if w.kernel.Params[param].Size() < 8 {
			return w.table.int()
		}
		if field >= 0 {
			// The pointer of which these bytes are a part.
			field &^= 7
		}
		r := root{kind: rootOffset, param: param, field: field}
		return w.table.union(w.table.int(), w.table.single(r))
	}
	set := rootSet(0)
	n := max(1, len(i.Args[0].Elems))
	for k := range n {
		at := field
		if at >= 0 {
			at += 8 * k
		}
		r := root{kind: rootParam, param: param, field: at}
		set = w.table.union(set, w.table.single(r))
		if w.kernel.Params[param].Ptr.Present {
			w.pointers[w.table.id(r)] = true
		}
	}
	return set
}

// stored records a value written to the memory at base. Shared and local memory
// collect its roots. A pointer that is stored to any other memory escapes.
func (w *walker) stored(i *ptx.Inst, base, value rootSet, addr *ptx.Operand) {
	if !wide(i) { // no pointer, but possibly half of one
		_, value = w.table.split(value)
		value = w.table.union(value, w.table.null())
	}
	switch spaceOf(i) {
	case ptx.ParamSpace:
		if addr.Var != nil {
			w.growParam(addr.Var, value)
		}
		return
	case ptx.Shared:
		w.grow(&w.shared, value)
		return
	case ptx.Local:
		w.grow(&w.local, value)
		return
	}
	global := false
	for _, id := range w.table.sets[base] {
		switch w.table.roots[id].kind {
		case rootShared:
			w.grow(&w.shared, value)
		case rootLocal:
			w.grow(&w.local, value)
		// The address may point to shared or local memory as well.
		case rootInt, rootNull, rootLoaded, rootUnknown:
			w.grow(&w.shared, value)
			w.grow(&w.local, value)
			global = true
		default:
			global = true
		}
	}
	if global && w.rec != nil {
		w.rec.escape(i, value)
	}
}

// storedArgs records several values written to one address.
func (w *walker) storedArgs(i *ptx.Inst, addr *ptx.Operand, args []ptx.Operand) {
	base := w.base(addr)
	for n := range args {
		w.stored(i, base, w.value(&args[n]), addr)
	}
}

// atomic handles atom, which reads and writes its address and returns the old
// value.
func (w *walker) atomic(i *ptx.Inst) {
	if len(i.Args) < 3 {
		return
	}
	addr := &i.Args[1]
	w.touch(i, addr, ReadWrite)
	w.storedArgs(i, addr, i.Args[2:])
	switch spaceOf(i) {
	case ptx.Shared:
		w.define(&i.Args[0], w.cell(i, w.shared))
	case ptx.Local:
		w.define(&i.Args[0], w.cell(i, w.local))
	default:
		w.define(&i.Args[0], w.loadGeneric(i, w.base(addr)))
	}
}

// texture handles accesses through a texture or surface object. The host binds
// the memory behind the object, so it may be any memory.
func (w *walker) texture(i *ptx.Inst) {
	w.define(&i.Args[0], w.table.int())
	if w.rec != nil {
		w.rec.handle(i, w)
	}
}

// bulk handles cp.async and wmma, whose operands depend on their suffixes.
// Instructions that are not known to be confined to shared memory make the
// kernel opaque.
func (w *walker) bulk(i *ptx.Inst) {
	has := func(word string) bool { return slices.Contains(i.Suffix, word) }
	switch {
	case i.Name == "wmma" && has("load") && len(i.Args) >= 2:
		w.touch(i, &i.Args[1], Read)
		w.define(&i.Args[0], w.table.int())
	case i.Name == "wmma" && has("store"):
		w.touch(i, &i.Args[0], Write)
	case i.Name == "wmma":
		w.define(&i.Args[0], w.table.int())
	case has("commit_group"), has("wait_group"), has("wait_all"), has("mbarrier"):
	case has("async") && !has("bulk") && len(i.Args) >= 2 && i.Args[1].Kind == ptx.OpMem:
		if w.rec != nil { // from .global to .shared
			w.rec.access(i, &i.Args[1], w.base(&i.Args[1]), Read)
		}
		w.grow(&w.shared, w.table.source(rootLoaded, i.Pos))
	default:
		w.opaque(i.Pos, fmt.Sprintf("the memory access of %s is not analysed", i.Opcode()))
	}
}

// opaque makes the kernel opaque in the recording sweep.
func (in *infer) opaque(pos ptx.Pos, msg string) {
	if in.rec != nil {
		in.rec.setOpaque(pos, msg)
	}
}
