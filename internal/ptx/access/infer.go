package access

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// Access inference finds the parameters that each address may come from.
//
// Each register has a set of roots, the origins of its value. Sets propagate through
// moves, sums, selections and bit operations:
//
//	ld.param.u64 %rd1, [x]          %rd1 {x}
//	cvta.to.global.u64 %rd2, %rd1   %rd2 {x}, and x is a pointer
//	mul.wide.s32 %rd3, %r1, 4       %rd3 {int}
//	add.s64 %rd4, %rd2, %rd3        %rd4 {x}
//	st.global.f32 [%rd4], %f1       x is written
//
// It is the analysis of LLVM's FunctionAttrs ("readonly" arguments), for PTX and without
// flow sensitivity: passes over all instructions, repeated until no set grows. Compiled code
// is nearly in SSA form, and the registers of other code are divided (see separate). Device functions are analysed
// together with the kernel that calls them. Shared and local memory are one cell each,
// which holds the roots of everything stored there. An address without a root, or one
// loaded from global memory, makes the kernel opaque: it may access any memory.
//
// A 64-bit parameter may be a number, or a pointer on which the kernel computes as on a
// number. In the operand of a product or shift, in a difference of pointers, and next to
// a pointer in a sum, a parameter is an offset root: the kernel reaches its memory only
// if the caller passes an address for it.
//
// A 64-bit value that was loaded may be a pointer or an index as well. Its use decides.
// Alone as an address, or converted by cvta, it is a pointer, and the kernel is opaque.
// Added to a pointer it is an index, since a sum of two addresses is not an address, and
// the access may be anywhere behind that pointer. If a value that may be an address was
// also subtracted, it remains a pointer.
//
//	operand a          operand b            a + b
//	param x            int                  x
//	param x, pointer   param n              x, and n as an offset
//	param x, pointer   loaded               x, and an index: any byte behind x
//	param x, pointer   loaded - pointer     x, and an address loaded from memory
//	int                int                  int
//	nothing yet        anything             nothing yet: the next sweep decides
//
// infer is the state of the analysis of one kernel.
type infer struct {
	m      *ptx.Module
	kernel *ptx.Func
	table  *rootTable

	funcs          []*ptx.Func // the kernel and what it calls, in the order of discovery
	pointerTargets []*ptx.Func // what a call through a pointer may go to; nil until one is seen
	regs           map[*ptx.Func][]rootSet
	numbered       map[*ptx.Func]*values // of their registers
	params         map[*ptx.Var]rootSet  // .param variables: arguments and results of calls
	shared         rootSet
	local          rootSet

	pointers map[rootID]bool // roots that were converted by cvta, or have .ptr
	strict   bool            // pointers is final: a sum of pointer and integer is the pointer
	changed  bool

	rec *recorder // nil until the sets are final, then the recorder of the last sweep
}

// Infer returns what the kernel or function f of m does to memory, with ParamAccess.Offset
// for parameters that are addresses.
//
// The result is sound under three conditions:
//
//   - No pointer that was loaded from memory passes through a product or a shift.
//   - No pointer is computed by adding a distance that was loaded to another pointer.
//   - No pointer passes through the bits of a floating-point number.
func Infer(m *ptx.Module, f *ptx.Func) *Effects {
	if m == nil || f == nil {
		return &Effects{}
	}
	return analyse(m, f).effects()
}

// analyse computes the sets three times: first to find out which roots are pointers, then
// again with the known pointers, and last, without a change of the sets, to record the
// accesses.
func analyse(m *ptx.Module, f *ptx.Func) *recorder {
	in := &infer{m: m, kernel: f, table: newRootTable(), pointers: map[rootID]bool{}, numbered: map[*ptx.Func]*values{}}
	in.fixpoint()
	in.strict = true
	in.fixpoint()
	in.rec = newRecorder(in)
	in.sweep()
	return in.rec
}

// fixpoint repeats sweep until no set grows. A register that is still empty then is never
// defined, or only from registers that are never defined. settle makes it a number. This
// may complete sums that depend on it, so a second round follows.
//
// Sets only grow and the roots are finite, so the iteration ends.
func (in *infer) fixpoint() {
	in.funcs, in.regs, in.params = nil, map[*ptx.Func][]rootSet{}, map[*ptx.Var]rootSet{}
	in.shared, in.local = 0, 0
	in.reach(in.kernel)
	in.converge()
	in.settle()
	in.converge()
}

// converge sweeps until nothing changes.
func (in *infer) converge() {
	for in.changed = true; in.changed; {
		in.changed = false
		in.sweep()
	}
}

// settle makes every register without a root a number.
func (in *infer) settle() {
	for _, f := range in.funcs {
		for i := range in.regs[f] {
			if in.regs[f][i] == 0 {
				in.regs[f][i] = in.table.null()
			}
		}
	}
}

// reach adds f to the functions that are analysed.
func (in *infer) reach(f *ptx.Func) {
	if _, ok := in.regs[f]; !ok {
		if in.numbered[f] == nil {
			in.numbered[f] = separate(f)
		}
		in.regs[f] = make([]rootSet, in.numbered[f].n)
		in.funcs = append(in.funcs, f)
		in.changed = true
	}
}

// sweep applies every instruction once. Calls may add functions to the list while it
// runs.
func (in *infer) sweep() {
	for i := 0; i < len(in.funcs); i++ {
		f := in.funcs[i]
		w := walker{infer: in, f: f, values: in.numbered[f], regs: in.regs[f]}
		for j := range w.f.Body {
			w.inst(&w.f.Body[j])
		}
	}
}

// walker applies the instructions of one function.
type walker struct {
	*infer
	f      *ptx.Func
	values *values
	regs   []rootSet // by value
	at     *ptx.Inst // the present one
}

// grow adds a set to a cell.
func (in *infer) grow(cell *rootSet, set rootSet) {
	if next := in.table.union(*cell, set); next != *cell {
		*cell = next
		in.changed = true
	}
}

// growParam adds a set to a .param variable.
func (in *infer) growParam(v *ptx.Var, set rootSet) {
	cell := in.params[v]
	in.grow(&cell, set)
	in.params[v] = cell
}

// define adds a set to a destination operand. Predicates have no roots.
func (w *walker) define(op *ptx.Operand, set rootSet) {
	switch op.Kind {
	case ptx.OpReg, ptx.OpPair:
		if op.Reg != ptx.NoReg && w.f.Regs[op.Reg].Type != ptx.Pred {
			w.grow(&w.regs[w.values.value(w.at, op)], set)
		}
	case ptx.OpVector:
		for i := range op.Elems {
			w.define(&op.Elems[i], set)
		}
	}
}

// value returns the root set of a source operand.
func (w *walker) value(op *ptx.Operand) rootSet {
	switch op.Kind {
	case ptx.OpReg:
		if op.Reg != ptx.NoReg {
			return w.regs[w.values.value(w.at, op)]
		}
	case ptx.OpSpecial:
		if len(op.Name) > 7 && op.Name[:7] == "%envreg" {
			return w.table.single(root{kind: rootHidden})
		}
		return w.table.int()
	case ptx.OpSymbol:
		if op.Var != nil {
			return w.address(op.Var, op.Imm)
		}
		return w.table.int() // the address of a function, which is no data
	case ptx.OpInt, ptx.OpFloat32, ptx.OpFloat64:
		return w.table.null()
	case ptx.OpVector:
		set := rootSet(0)
		for i := range op.Elems {
			set = w.table.union(set, w.value(&op.Elems[i]))
		}
		return set
	}
	return 0
}

// address returns the root set of the address v+offset.
func (w *walker) address(v *ptx.Var, offset int64) rootSet {
	switch v.Space {
	case ptx.Shared:
		return w.table.single(root{kind: rootShared})
	case ptx.Local:
		return w.table.single(root{kind: rootLocal})
	case ptx.ParamSpace:
		if i := slices.Index(w.kernel.Params, v); i >= 0 {
			return w.table.single(root{kind: rootParamAddr, param: i, field: int(offset)})
		}
		return w.table.source(rootUnknown, v.Pos) // a by-value argument of a device function
	default:
		return w.table.single(root{kind: rootSymbol, v: v})
	}
}

// base returns the root set of the address in a memory operand.
func (w *walker) base(op *ptx.Operand) rootSet {
	switch {
	case op.Reg != ptx.NoReg:
		return w.regs[w.values.value(w.at, op)]
	case op.Var != nil:
		return w.address(op.Var, op.Imm)
	}
	return 0
}

// transfer is the rule by which an instruction's result gets its roots.
type transfer uint8

// The rules. A rule that keeps too many roots is sound: it only loses precision.
const (
	transferAll   transfer = iota // keeps the roots of every source
	transferSum                   // base and offset: add, sub, bit operations
	transferInt                   // an integer that is not an address: products, shifts
	transferMad                   // the roots of the addend
	transferNone                  // writes no register that can hold an address
	transferMem                   // accesses memory
	transferCvta                  // converts an address: its operand is a pointer
	transferCall                  // a call
	transferCheck                 // names memory without touching its data: prefetch
	transferLocal                 // the address of local memory
)

// transfers lists the opcodes with a rule other than transferAll. That rule is safe for
// every instruction without a memory operand: the result has the roots of all sources.
var transfers = map[string]transfer{
	"add": transferSum, "addc": transferSum, "sub": transferSum, "subc": transferSum,
	"and": transferSum, "or": transferSum, "xor": transferSum, "lop3": transferSum,
	"bfi": transferSum, "prmt": transferSum,

	"mul": transferInt, "mul24": transferInt, "div": transferInt, "rem": transferInt,
	"shl": transferInt, "shr": transferInt, "shf": transferInt, "set": transferInt,
	"bfe": transferInt, "bfind": transferInt, "popc": transferInt, "clz": transferInt,
	"brev": transferInt, "sad": transferInt, "dp4a": transferInt, "dp2a": transferInt,
	"vote": transferInt, "match": transferInt, "activemask": transferInt, "fns": transferInt,
	"bmsk": transferInt, "szext": transferInt, "getctarank": transferInt,

	"mad": transferMad, "madc": transferMad, "mad24": transferMad, "fma": transferInt,

	"setp": transferNone, "bra": transferNone, "brx": transferNone, "ret": transferNone,
	"exit": transferNone, "trap": transferNone, "brkpt": transferNone, "isspacep": transferNone,
	"membar": transferNone, "fence": transferNone, "nanosleep": transferNone, "testp": transferNone,
	"pmevent": transferNone, "setmaxnreg": transferNone, "griddepcontrol": transferNone,

	"bar": transferInt, "barrier": transferInt, "redux": transferInt,

	"cvta": transferCvta,
	"call": transferCall,

	"ld": transferMem, "ldu": transferMem, "st": transferMem, "atom": transferMem, "red": transferMem,
	"alloca": transferLocal,

	"cp": transferMem, "wmma": transferMem, "tex": transferMem, "tld4": transferMem,
	"suld": transferMem, "sust": transferMem, "sured": transferMem, "mbarrier": transferMem,
	"ldmatrix": transferMem, "stmatrix": transferMem,

	"prefetch": transferCheck, "prefetchu": transferCheck, "applypriority": transferCheck,
	"txq": transferCheck, "suq": transferCheck, "istypep": transferCheck, "createpolicy": transferCheck,
}

// inst applies one instruction.
func (w *walker) inst(i *ptx.Inst) {
	w.at = i
	if len(i.Args) == 0 {
		return
	}
	kind := transfers[i.Name]
	switch kind {
	case transferNone, transferCheck:
	case transferMem:
		w.memory(i)
	case transferCall:
		w.call(i)
	case transferLocal:
		w.define(&i.Args[0], w.table.single(root{kind: rootLocal}))
	case transferCvta:
		if len(i.Args) < 2 {
			return
		}
		set := w.value(&i.Args[1])
		w.markPointers(set)
		w.define(&i.Args[0], set)
	default:
		if n := slices.IndexFunc(i.Args, func(op ptx.Operand) bool { return op.Kind == ptx.OpMem }); n >= 0 {
			w.opaqueInst(i)
			return
		}
		w.define(&i.Args[0], w.result(kind, i))
	}
}

// result returns the root set of the first operand of a computation. It is empty while
// the set of an operand is still empty and a rule depends on it.
func (w *walker) result(kind transfer, i *ptx.Inst) rootSet {
	if w.floatResult(i) {
		return w.table.int()
	}
	args := i.Args[1:]
	switch {
	case kind == transferInt:
		return w.number(args)
	case kind == transferMad && len(args) > 2:
		return w.sum(w.number(args[:2]), w.value(&args[2]))
	case strings.HasPrefix(i.Name, "sub") && len(args) > 1 && w.strict && w.mayPoint(w.value(&args[1])):
		// A difference of pointers. A loaded minuend may be the pointer that a later sum
		// with the difference yields.
		set := w.table.union(w.number(args), w.table.minus())
		return w.table.union(set, w.table.loaded(w.value(&args[0])))
	case kind == transferSum && len(args) > 1:
		add := w.table.sum
		if strings.HasPrefix(i.Name, "add") || strings.HasPrefix(i.Name, "sub") {
			add = w.sum // bit operations may combine the halves of an address
		}
		set := w.value(&args[0])
		for n := range args[1:] {
			next := w.value(&args[n+1])
			if strings.HasPrefix(i.Name, "sub") {
				next = w.table.negated(next)
			}
			if set == 0 || next == 0 {
				set = 0
			} else {
				set = add(set, next)
			}
		}
		return w.moved(set)
	}
	set := rootSet(0)
	for n := range args {
		if !w.predicate(&args[n]) { // a predicate selects and is no part of the result
			set = w.table.union(set, w.value(&args[n]))
		}
	}
	if i.Name == "neg" || i.Name == "not" {
		return w.table.negated(set)
	}
	return set
}

// predicate reports whether an operand is a predicate register.
func (w *walker) predicate(op *ptx.Operand) bool {
	return op.Kind == ptx.OpReg && op.Reg != ptx.NoReg && w.f.Regs[op.Reg].Type == ptx.Pred
}

// number returns the set of an integer computed from operands. It is no
// address, but the parameters among its roots remain as offsets.
func (w *walker) number(args []ptx.Operand) rootSet {
	set := w.table.int()
	for n := range args {
		set = w.table.union(set, w.table.offsets(w.value(&args[n])))
	}
	return set
}

// floatResult reports whether the result is a computed floating-point number.
// Such a number is never part of an address. Moves, which may copy the bits of
// an address, are excluded.
func (w *walker) floatResult(i *ptx.Inst) bool {
	if i.Name == "mov" || i.Name == "selp" || i.Name == "shfl" {
		return false
	}
	for _, s := range i.Suffix {
		if typ, ok := ptx.ParseType(s); ok {
			return typ.Float() // the first type is that of the result
		}
	}
	return false
}

// sum returns the roots of a sum. A pointer plus a value that is not known to
// be a pointer is that pointer, and the parameters in the value are offsets.
// While one side is empty the sum is empty too: sets cannot shrink, and a root
// that arrives later could turn the result from an address into a number.
func (w *walker) sum(a, b rootSet) rootSet {
	if a == 0 || b == 0 {
		return 0
	}
	if w.strict {
		switch {
		case w.isPointer(a) && !w.mayPoint(b):
			return w.difference(w.table.union(a, w.added(b)))
		case w.isPointer(b) && !w.mayPoint(a):
			return w.difference(w.table.union(b, w.added(a)))
		}
	}
	return w.difference(w.table.sum(a, b))
}

// added returns the roots that a number contributes to the pointer that it is added to:
// parameters as offsets, and loaded values as indices. If another pointer is subtracted,
// before or after, a loaded value may nevertheless be a pointer: compilers rewrite
// table[0][p-first] as p + (table[0]-first). See difference.
func (w *walker) added(set rootSet) rootSet {
	out := w.table.union(w.table.offsets(set), w.table.indices(set))
	if w.table.subtracted(set) {
		out = w.table.union(out, w.table.minus())
	}
	return out
}

// difference treats the loaded values of a set as addresses if something was
// subtracted that may be an address.
func (w *walker) difference(set rootSet) rootSet {
	if !w.table.subtracted(set) {
		return set
	}
	return w.table.union(set, w.table.loaded(set))
}

// isPointer reports whether all roots of a set are known to be addresses, apart
// from constants and offsets.
func (w *walker) isPointer(set rootSet) bool {
	return w.mayPoint(set) && !w.table.any(set, func(id rootID) bool {
		switch w.table.roots[id].kind {
		case rootNull, rootOffset, rootIndex, rootMinus:
			return false
		}
		return !w.isAddress(id)
	})
}

// mayPoint reports whether some root of a set is known to be an address.
func (w *walker) mayPoint(set rootSet) bool { return w.table.any(set, w.isAddress) }

// isAddress reports whether a root is known to be an address. Parameters and
// loaded values are if they were converted by cvta or have .ptr.
func (w *walker) isAddress(id rootID) bool {
	switch w.table.roots[id].kind {
	case rootInt, rootNull, rootOffset, rootIndex, rootMinus:
		return false
	case rootParam, rootLoaded, rootUnknown:
		return w.pointers[id]
	}
	return true
}

// moved removes the exact offset inside a parameter once an address is computed
// from it.
func (w *walker) moved(set rootSet) rootSet {
	out := rootSet(0)
	for _, id := range w.table.sets[set] {
		r := w.table.roots[id]
		if r.kind != rootParamAddr || r.field < 0 {
			continue
		}
		r.field = -1
		out = w.table.union(out, w.table.single(r))
	}
	if out == 0 {
		return set
	}
	for _, id := range w.table.sets[set] {
		if r := w.table.roots[id]; r.kind != rootParamAddr {
			out = w.table.union(out, w.table.intern([]rootID{id}))
		}
	}
	return out
}

// markPointers marks the origin of a converted value as a pointer. A value with
// several origins is left out, since one of them may be an offset.
func (w *walker) markPointers(set rootSet) {
	_, origins := w.table.split(set)
	if len(w.table.sets[origins]) > 1 {
		return
	}
	for _, id := range w.table.sets[origins] {
		if id > nullRoot && !w.strict && !w.pointers[id] {
			w.pointers[id] = true
			w.changed = true
		}
	}
}

// opaqueInst makes the kernel opaque at an instruction whose use of memory is
// not analysed.
func (w *walker) opaqueInst(i *ptx.Inst) {
	w.define(&i.Args[0], w.table.source(rootUnknown, i.Pos))
	w.opaque(i.Pos, fmt.Sprintf("the memory access of %s is not analysed", i.Opcode()))
}
