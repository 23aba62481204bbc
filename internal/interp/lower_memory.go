package interp

import (
	"strings"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// memory resolves the address operand and the space of an access. The address is a register
// (r.a) and a constant (r.imm):
//
//	[%rd1+8]       register %rd1, 8
//	[x+8], .global a register with the constant address of x plus 8, 0
//	[x+8], .local  the frame pointer, the offset of x plus 8
//	[4096]         a register with the constant 0, 4096
//
// A variable determines the space of a generic access if it is shared or local.
func (l *lowering) memory(r *inst, op *ptx.Operand, kind accessKind, typ ptx.Type) error {
	if op.Kind != ptx.OpMem || len(op.Elems) > 0 {
		return l.fail("the address operand is missing")
	}
	r.x = newExtra()
	x := r.x
	x.memory, x.kind, x.space, x.size, x.signed = true, kind, spaceOf(l.in), typ.Size(), typ.Signed()
	if typ == ptx.Pred || typ == ptx.B128 || typ == ptx.NoType {
		return l.fail("the interpreter cannot access memory as .%s", typ)
	}
	// .const variables are in global memory, where they have generic addresses.
	if x.space == ptx.Const {
		x.space, x.constant = ptx.Global, true
	}
	r.imm = uint64(op.Imm)
	r.site = int32(l.k.sites)
	l.k.sites++
	switch {
	case op.Reg != ptx.NoReg:
		r.a = l.register(op.Reg)
		size := l.vregs[r.a].size
		if size != 4 && size != 8 {
			return l.fail("the address register must have 32 or 64 bits")
		}
		x.addr32 = size == 4
	case op.Var != nil:
		at, addend, space, err := l.addressOf(op.Var, op.Imm)
		if err != nil {
			return err
		}
		r.a, r.imm = at, addend
		if x.space == ptx.ParamSpace || x.space != ptx.Generic {
			x.space = space
		} else if space == ptx.Shared || space == ptx.Local {
			x.space = space
		}
	case op.Name != "":
		return l.fail("symbol %s is not a variable", op.Name)
	default:
		r.a = l.constant(8, 0)
	}
	l.ordering(x)
	return nil
}

// ordering records accesses by which a block, or a lane, may observe another's progress:
//
//	ld.volatile, .relaxed, .acquire   strong and watched; orders blocks if global
//	ld.cg, ld.cv                      watched only: used for waiting before PTX had strong loads
//	st.volatile, .relaxed, .release   strong; orders blocks if global
//	atom, red                         strong; see results
//
// Lanes of a kernel with such accesses may wait for each other, so spinning fragments must
// yield.
func (l *lowering) ordering(x *extra) {
	strong := false
	for _, s := range l.in.Suffix {
		switch s {
		case "volatile", "relaxed", "acquire", "release", "mmio":
			strong = true
		case "cg", "cv":
			x.watched = x.kind == loads // weak, but used for waiting before PTX had strong loads
		}
	}
	x.strong, x.synchronises = strong || x.kind == updates, strong
	x.watched = x.watched || strong && x.kind == loads
	if x.watched || strong || x.kind == updates {
		l.k.spinLimit = spinLimit
	}
	if strong && x.kind != updates {
		l.k.ordered = l.k.ordered || x.space == ptx.Global || x.space == ptx.Generic
	}
}

// results finds the atomic operations whose result is used, since threads may wait for each
// other by them. Blocks with such operations on global memory must run in grid order. The
// effects on the kernel:
//
//	atom whose result is used    ordered; synchronises lanes
//	… that adds to a counter     sharesWork: blocks may draw work by it
//	exch, cas                    synchronise lanes in shared memory
//	red, or atom without a use   blocks may run concurrently; updates are logged
func (l *lowering) results() {
	used := make([]bool, len(l.vregs))
	for i := range l.items {
		it := &l.items[i]
		guard := it.guard
		it.guard = noSlot // do not count a guarded definition as a use of the result
		it.visit(func(s *slot) { used[*s] = true }, func(*slot) {})
		if it.guard = guard; guard != noSlot {
			used[guard] = true
		}
	}
	for i := range l.items {
		it := &l.items[i]
		x := it.x
		if x == nil || x.kind != updates {
			continue
		}
		// An atom whose result nothing reads is equivalent to a red.
		read := it.d != noSlot && used[it.d]
		exchange := strings.HasPrefix(x.atomic, "exch")
		x.read = read
		x.synchronises = x.synchronises || read || exchange || strings.HasPrefix(x.atomic, "cas")
		x.ignoresOld = x.ignoresOld || exchange && !read && x.op != nil // PTX has no red.exch: this is a store that is ordered with atomics
		if x.space == ptx.Global || x.space == ptx.Generic {
			l.k.ordered = l.k.ordered || read
			x.draws = read && counterOps[x.atomic]
			l.k.sharesWork = l.k.sharesWork || x.draws
		}
	}
}

// counterOps are the atomic operations by which threads draw numbers from a counter.
var counterOps = map[string]bool{
	"add.u32": true, "add.s32": true, "add.u64": true, "add.s64": true, "inc.u32": true, "dec.u32": true,
}

// vector returns the operands of a vector access, or the single operand.
func vector(op *ptx.Operand) []ptx.Operand {
	if op.Kind == ptx.OpVector {
		return op.Elems
	}
	return []ptx.Operand{*op}
}

// vectorLength refuses vectors of other than 1, 2, 4 or 8 elements. An access is
// aligned to its whole size, which must be a power of two.
func (l *lowering) vectorLength(op *ptx.Operand) error {
	if n := len(vector(op)); n == 0 || n > 8 || n&(n-1) != 0 {
		return l.fail("a vector of %d elements cannot be accessed", n)
	}
	return nil
}

// load lowers ld and ldu. The handler is the first that fits:
//
//	loadVector    whole registers of 4 or 8 bytes, 2 or more elements
//	fastLoad      one whole register of 4 or 8 bytes, global or shared
//	loadAny       every other space, width and length
//
// A load that may read what another block stored is wrapped to detect polling.
func (l *lowering) load() error {
	in := l.in
	list := types(in)
	if len(list) == 0 || len(in.Args) != 2 {
		return l.fail("needs a type, a destination and an address")
	}
	r := blank()
	if err := l.memory(&r, &in.Args[1], loads, list[0]); err != nil {
		return err
	}
	if err := l.vectorLength(&in.Args[0]); err != nil {
		return err
	}
	if err := l.elements(r.x, vector(&in.Args[0]), true, 0); err != nil {
		return err
	}
	r.exec = loadAny
	if r.x.wholeVector() {
		r.exec = choose(r.x.size == 8, loadVector[uint64], loadVector[uint32])
	} else if e := r.x.elems[0]; len(r.x.elems) == 1 && e.reg != noSlot && e.size == r.x.size && e.size >= 4 {
		if h := fastLoad(r.x); h != nil {
			r.d, r.exec, r.x.elems = e.reg, h, []element{{noSlot, e.size}}
		}
	}
	// The wrapper is around every handler, also the fast ones.
	if r.x.watched {
		r.exec = withPolling(r.exec)
	}
	if r.x.constant {
		r.exec = fromConstants(r.exec)
		l.emit(r, costConstant)
		return nil
	}
	l.emit(r, loadCost(r.x.space))
	return nil
}

// fastLoad returns the handler for a load of one whole register, the most frequent
// case, or nil.
func fastLoad(x *extra) handler {
	wide := x.size == 8
	switch {
	case x.space == ptx.Global && !x.addr32 && wide:
		return loadGlobal[uint64]
	case x.space == ptx.Global && !x.addr32:
		return loadGlobal[uint32]
	case x.space == ptx.Shared && x.addr32 && wide:
		return loadShared[uint32, uint64]
	case x.space == ptx.Shared && x.addr32:
		return loadShared[uint32, uint32]
	case x.space == ptx.Shared && wide:
		return loadShared[uint64, uint64]
	case x.space == ptx.Shared:
		return loadShared[uint64, uint32]
	}
	return nil
}

// store lowers st, with the same choice of handlers as load.
func (l *lowering) store() error {
	in := l.in
	list := types(in)
	if len(list) == 0 || len(in.Args) != 2 {
		return l.fail("needs a type, an address and a source")
	}
	r := blank()
	if err := l.memory(&r, &in.Args[0], stores, list[0]); err != nil {
		return err
	}
	if r.x.space == ptx.ParamSpace {
		return l.fail("kernel parameters cannot be written")
	}
	if err := l.vectorLength(&in.Args[1]); err != nil {
		return err
	}
	if err := l.storeElements(r.x, vector(&in.Args[1]), list[0]); err != nil {
		return err
	}
	r.exec = storeAny
	if r.x.wholeVector() {
		r.exec = choose(r.x.size == 8, storeVector[uint64], storeVector[uint32])
	} else if e := r.x.elems[0]; len(r.x.elems) == 1 && e.size == r.x.size && e.size >= 4 {
		if h := fastStore(r.x); h != nil {
			r.d, r.exec, r.x.elems = e.reg, h, []element{{noSlot, e.size}}
		}
	}
	l.emit(r, costStore).reads = true
	return nil
}

// storeElements resolves the sources of a store. Literals have the type of the access, and
// registers may be wider than its elements.
func (l *lowering) storeElements(x *extra, ops []ptx.Operand, typ ptx.Type) error {
	for i := range ops {
		size := l.size(&ops[i], registerSize(typ))
		s, err := l.source(&ops[i], size, typ)
		if err != nil {
			return err
		}
		if size == 0 {
			return l.fail("a predicate cannot be stored")
		}
		x.elems = append(x.elems, element{s, size})
	}
	return nil
}

// fastStore returns the handler for a store of one whole register, or nil.
func fastStore(x *extra) handler {
	wide := x.size == 8
	switch {
	case x.space == ptx.Global && !x.addr32 && wide:
		return storeGlobal[uint64]
	case x.space == ptx.Global && !x.addr32:
		return storeGlobal[uint32]
	case x.space == ptx.Shared && x.addr32 && wide:
		return storeShared[uint32, uint64]
	case x.space == ptx.Shared && x.addr32:
		return storeShared[uint32, uint32]
	case x.space == ptx.Shared && wide:
		return storeShared[uint64, uint64]
	case x.space == ptx.Shared:
		return storeShared[uint64, uint32]
	}
	return nil
}

// atomic lowers atom, an atomic operation with a result.
func (l *lowering) atomic() error { return l.atomicVector(0) }

// reduction is red, an atomic operation without a result.
func (l *lowering) reduction() error { return l.atomicVector(-1) }

// atomicVector lowers an operation on a vector to one operation for each element: only
// these are atomic, see "atom" in the PTX ISA.
func (l *lowering) atomicVector(shift int) error {
	whole := l.in
	if len(whole.Args) != 3+shift || whole.Args[2+shift].Kind != ptx.OpVector {
		return l.atomicOn(shift)
	}
	list := types(whole)
	values, address := whole.Args[2+shift].Elems, whole.Args[1+shift]
	if len(list) != 1 || address.Kind != ptx.OpMem || shift == 0 && len(whole.Args[0].Elems) != len(values) {
		return l.fail("needs vectors of the same length")
	}
	// The operations on the elements are lowered as separate instructions.
	defer func() { l.in = whole }()
	for i, v := range values {
		one := *whole
		one.Args = []ptx.Operand{address, v}
		one.Args[0].Imm += int64(i * list[0].Size())
		if shift == 0 {
			one.Args = append([]ptx.Operand{whole.Args[0].Elems[i]}, one.Args...)
		}
		l.in = &one
		if err := l.atomicOn(shift); err != nil {
			return err
		}
	}
	return nil
}

// atomicOn lowers atom or red on one element. shift is -1 if there is no destination, so
// that the other operands are one position further left:
//
//	atom.global.cas.b32 d, [p], b, c      d old value, a and imm the address, b and c the operands
//	red.global.add.f32     [p], b         d is noSlot
//
//	extra   atomic     "cas.b32", the kind in records and reports
//	        op         the function of the old value, b and c
//	        inShared   the same for shared memory, if it differs
func (l *lowering) atomicOn(shift int) error {
	in := l.in
	list := types(in)
	if len(list) != 1 || len(in.Args) < 3+shift {
		return l.fail("needs a type, an address and an operand")
	}
	typ := list[0]
	r := blank()
	if err := l.memory(&r, &in.Args[1+shift], updates, typ); err != nil {
		return err
	}
	r.x.elems = []element{{noSlot, typ.Size()}}
	name := atomicName(in)
	r.x.atomic = name + "." + typ.String()
	r.x.op = atomicOp(name, typ, r.x.space)
	// Additions of f32 flush subnormals in global memory but not in shared memory, and the
	// space of a generic address is known only at run time.
	if r.x.space == ptx.Generic && typ == ptx.F32 {
		r.x.inShared = atomicOp(name, typ, ptx.Shared)
	}
	if r.x.op == nil || typ.Size() < 2 || (name == "min" || name == "max") && (typ == ptx.F32 || typ == ptx.F64) {
		return l.fail("the interpreter cannot run this atomic operation")
	}
	size := registerSize(typ)
	var err error
	if shift == 0 {
		if r.d, err = l.destOrSink(&in.Args[0], size); err != nil {
			return err
		}
	}
	if r.b, err = l.source(&in.Args[2+shift], size, typ); err != nil {
		return err
	}
	if name == "cas" {
		if len(in.Args) != 4 {
			return l.fail("needs a value to compare with and one to store")
		}
		if r.c, err = l.source(&in.Args[3], size, typ); err != nil {
			return err
		}
	}
	r.exec = atomicAccess
	l.emit(r, atomicCost(r.x.space))
	return nil
}

// atomicName returns the operation among an opcode's suffixes.
func atomicName(in *ptx.Inst) string {
	for _, s := range in.Suffix {
		switch s {
		case "add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec":
			return s
		}
	}
	return ""
}

// createPolicy returns a cache policy, which has no effect here.
func (l *lowering) createPolicy() error {
	if len(l.in.Args) < 1 {
		return l.fail("needs a destination")
	}
	return l.copyOf(&l.in.Args[0], 8, l.constant(8, 1<<63))
}

// mapa returns the address of a variable in another block of the cluster. The cluster
// has only this block.
func (l *lowering) mapa() error {
	if len(l.in.Args) != 3 {
		return l.fail("needs a destination, an address and a rank")
	}
	size := l.size(&l.in.Args[0], 8)
	a, err := l.source(&l.in.Args[1], size, ptx.U64)
	if err != nil || size < 4 {
		return l.fail("needs addresses of 32 or 64 bits")
	}
	return l.copyOf(&l.in.Args[0], size, a)
}

// getctarank returns the rank of the block that an address belongs to.
func (l *lowering) getctarank() error {
	if len(l.in.Args) != 2 {
		return l.fail("needs a destination and an address")
	}
	return l.copyOf(&l.in.Args[0], 4, l.constant(4, 0))
}

// copyOf emits a move of a register.
func (l *lowering) copyOf(d *ptx.Operand, size int, a slot) error {
	r := blank()
	r.exec, r.a = ops["mov."+bitsType(size)], a
	var err error
	if r.d, err = l.dest(d, size); err != nil {
		return err
	}
	l.emit(r, costALU)
	return nil
}
