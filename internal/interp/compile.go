package interp

import (
	"errors"
	"fmt"

	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/internal/ptx"
)

// compile lowers f. It does not fail: an instruction that is not supported is stored as the
// fault that a launch of the kernel returns. The steps:
//
//	enter, body    one item for each instruction, on virtual registers; calls are inlined
//	lowerRoutines  the bodies of functions that are called with frames
//	results        atomic operations whose result is used
//	cutSegments    segments and their costs, records
//	reconverge     the reconvergence point of each branch
//	liveness       live intervals of the virtual registers
//	assign         slots of the register file
//	loops, patch   loops that a sample may skip; slots in place of virtual registers
func compile(mod *Module, f *ptx.Func) *Kernel {
	k := &Kernel{name: f.Name, file: mod.ptx.File, module: mod.ptx, maxThreads: f.MaxThreads, reqThreads: f.ReqThreads}
	for _, p := range f.Params {
		k.params = append(k.params, Param{p.Name, p.Offset, int(p.Size())})
		k.paramBytes = max(k.paramBytes, p.Offset+int(p.Size()))
	}
	l := &lowering{k: k, mod: mod, uniform: map[uniformKey]slot{}, shared: map[*ptx.Var]uint32{}}
	for _, v := range f.Vars {
		l.placeShared(v)
	}
	err := l.body(l.enter(f))
	if err == nil {
		err = l.lowerRoutines()
	}
	if err != nil {
		var u *unsupported
		if !errors.As(err, &u) {
			panic("BUG: lowering failed with " + err.Error())
		}
		k.unsupported = &Fault{Kind: Unsupported, Kernel: k.name, File: k.file, Pos: u.pos, Source: mod.ptx.Source(u.loc), Reason: u.reason}
		k.sharedStatic = l.sharedEnd
		k.registers = widest(0)
		return k
	}
	l.finish()
	// .maxnreg limits the registers of a thread.
	if f.MaxRegs > 0 { // the assembler spills the other registers
		k.registers = min(k.registers, int(f.MaxRegs))
	}
	return k
}

// unsupported is the error for an instruction that the interpreter does not support.
type unsupported struct {
	place
	reason string
}

// Error returns the reason, without the place.
func (u *unsupported) Error() string { return u.reason }

// home is the origin of a lowered register's value.
type home uint8

// temporary registers are allocated by liveness; all others have a slot for the whole
// launch.
const (
	temporary home = iota // written by the kernel
	immediate
	dynamicBase // immediate plus the start of dynamic shared memory
	framePointer
	parameter
	specialValue
)

// vreg is a virtual register, before it is assigned to a slot of the register file.
type vreg struct {
	home home
	size int // bytes per lane, 0 for a predicate
	uniformKey
	at slot
}

// uniformKey identifies a value that the kernel does not write. Each such value has one
// register.
type uniformKey struct {
	home    home
	size    int
	bits    uint64 // of an immediate
	offset  int    // of a parameter
	read    int
	signed  bool
	special special
}

// item is a lowered instruction, with vreg numbers in place of slots. An instruction may
// become no item, one or several.
type item struct {
	inst
	place
	ending  ending
	frame   *frame // of a branch: the function of its targets
	targets []int  // of a branch: indices into the function's body, several for brx
	cost    cost
	free    bool // is counted, but needs no inst
	reads   bool // d is a source, as in stores
	cut     bool // the last item of a segment
}

// frame is one function of the call tree, inlined into the kernel.
type frame struct {
	fn     *ptx.Func
	parent *frame
	first  slot // vreg of register 0
	alias  []slot
	start  []int // by instruction of the body, and for its end: its first item
	at     int   // index of the instruction that is being lowered
	locals map[*ptx.Var]int
	high   map[ptx.RegID]ptx.RegID // upper halves of 128-bit registers
	single []bool                  // registers with one definition
}

// lowering is the state of lowering one kernel.
type lowering struct {
	k       *Kernel
	mod     *Module
	vregs   []vreg
	uniform map[uniformKey]slot
	items   []item
	root    *routine  // the routine whose body is being lowered, nil for the kernel
	frame   *frame    // of the current function
	in      *ptx.Inst // the current instruction

	shared    map[*ptx.Var]uint32 // offsets of shared variables
	sharedEnd uint32              // bytes of static shared memory
	dynAlign  uint32              // alignment of dynamic shared memory, 0 without any
	maxLocal  int                 // the largest localEnd in the kernel or routine
	localEnd  int                 // bytes of local memory in use
	endings   []int               // last item of each segment
	alive     []dense.Set         // registers at the start of each segment
	timing    schedule            // of the current segment
	routines  map[*ptx.Func]*routine
}

// maxItems bounds the result of inlining.
const maxItems = 1 << 20

// fail returns an error about the current instruction.
func (l *lowering) fail(format string, args ...any) error {
	return &unsupported{l.here(), fmt.Sprintf("%s: %s", l.in.Opcode(), fmt.Sprintf(format, args...))}
}

// here returns the place of the current instruction.
func (l *lowering) here() place { return place{l.in.Pos, l.in.Loc} }

// enter opens the frame of a function that is lowered next.
func (l *lowering) enter(f *ptx.Func) *frame {
	fr := &frame{fn: f, parent: l.frame, first: slot(len(l.vregs)), locals: map[*ptx.Var]int{}}
	for _, r := range f.Regs {
		l.vregs = append(l.vregs, vreg{size: registerSize(r.Type)})
	}
	l.addHigh(fr)
	fr.countDefinitions()
	l.frame = fr
	l.placeLocals(f)
	return fr
}

// body lowers the instructions of a function. fold goes first through all of them, since a
// register that is another name of a constant must be known before any use of it, also
// before a use that precedes it in a loop.
func (l *lowering) body(fr *frame) error {
	folded := make([]bool, len(fr.fn.Body))
	for i := range fr.fn.Body {
		l.in = &fr.fn.Body[i]
		folded[i] = l.fold()
	}
	fr.start = make([]int, 0, len(fr.fn.Body)+1)
	for i := range fr.fn.Body {
		l.in = &fr.fn.Body[i]
		fr.start, fr.at = append(fr.start, len(l.items)), i
		if folded[i] {
			l.items = append(l.items, item{inst: blank(), place: l.here(), cost: costFree, free: true})
			continue
		}
		if err := l.lower(); err != nil {
			return err
		}
		l.in = &fr.fn.Body[i]
		if len(l.items) > maxItems {
			return l.fail("the kernel has more than %d instructions after inlining", maxItems)
		}
	}
	fr.start = append(fr.start, len(l.items))
	return nil
}

// registerSize returns the bytes per lane of a register. 8-bit registers take 16 bits,
// since no instruction computes in 8.
func registerSize(t ptx.Type) int {
	if t == ptx.Pred {
		return 0
	}
	return min(max(t.Size(), 2), 8) // see wide
}

// countDefinitions finds the registers that one instruction defines. An operand that is not
// written may count as a definition, which only prevents some folding.
func (fr *frame) countDefinitions() {
	defs := make([]uint8, len(fr.fn.Regs))
	mark := func(r ptx.RegID) {
		if r != ptx.NoReg && defs[r] < 2 {
			defs[r]++
		}
	}
	for _, v := range fr.fn.Params {
		if v.Space == ptx.RegSpace {
			mark(registerOf(fr.fn, v)) // by the call
		}
	}
	for i := range fr.fn.Body {
		in := &fr.fn.Body[i]
		if len(in.Args) == 0 || in.Name == "st" || in.Name == "bra" {
			continue
		}
		mark(in.Args[0].Reg)
		mark(in.Args[0].Reg2)
		for _, e := range in.Args[0].Elems {
			mark(e.Reg)
		}
	}
	fr.single = make([]bool, len(defs)+len(fr.high))
	fr.alias = make([]slot, len(fr.single))
	for r := range fr.single {
		fr.single[r] = r < len(defs) && defs[r] == 1 && fr.fn.Regs[r].Type != ptx.B128
		fr.alias[r] = noSlot
	}
}

// fold resolves a copy of a value that is constant for the whole launch. The register
// becomes another name of the source, and no record is emitted. This holds for loads of
// parameters, and for moves of literals, addresses and special registers:
//
//	ld.param.u64 %rd1, [x];          %rd1 is the register of parameter x
//	cvta.to.global.u64 %rd2, %rd1;   %rd2 too
//	mov.u32 %r1, %ntid.x;            %r1 is the register of %ntid.x
//
// The register must have no other definition, and the copy no guard.
func (l *lowering) fold() bool {
	in, fr := l.in, l.frame
	if in.Guard.Reg != ptx.NoReg || len(in.Args) != 2 || in.Args[0].Kind != ptx.OpReg || in.Args[0].Reg == ptx.NoReg {
		return false
	}
	d := in.Args[0].Reg
	if !fr.single[d] {
		return false
	}
	s := l.uniformSource(l.vregs[fr.first+slot(d)].size)
	if s == noSlot {
		return false
	}
	fr.alias[d] = s
	return true
}

// uniformSource returns the launch constant that the current instruction copies to a
// register of size bytes, or noSlot.
func (l *lowering) uniformSource(size int) slot {
	in := l.in
	src := &in.Args[1]
	switch in.Name {
	case "ld":
		v := src.Var
		if len(in.Suffix) != 2 || in.Suffix[0] != "param" || v == nil || src.Reg != ptx.NoReg || !l.kernelParam(v) {
			return noSlot
		}
		t, ok := ptx.ParseType(in.Suffix[1])
		off := v.Offset + int(src.Imm)
		if !ok || size == 0 || off < 0 || off+t.Size() > l.k.paramBytes {
			return noSlot
		}
		return l.value(uniformKey{home: parameter, size: size, offset: off, read: t.Size(), signed: t.Signed()})
	case "mov":
		if src.Kind == ptx.OpReg {
			return l.aliasOf(src, size)
		}
		if _, local := l.frame.locals[src.Var]; local && l.root != nil {
			return noSlot
		}
		if len(in.Suffix) == 0 || src.Kind == ptx.OpVector || src.Kind == ptx.OpSpecial && findSpecial(src.Name) == noSpecial {
			return noSlot
		}
		t, _ := ptx.ParseType(in.Suffix[len(in.Suffix)-1])
		s, err := l.source(src, size, t)
		if err != nil {
			return noSlot
		}
		return s
	case "cvta":
		if sp := spaceOf(in); sp == ptx.Global || sp == ptx.Const {
			return l.aliasOf(src, size)
		}
	}
	return noSlot
}

// aliasOf returns the launch constant that a register is another name of, or noSlot.
func (l *lowering) aliasOf(op *ptx.Operand, size int) slot {
	if op.Kind != ptx.OpReg || op.Reg == ptx.NoReg || op.Neg {
		return noSlot
	}
	if a := l.frame.alias[op.Reg]; a != noSlot && l.vregs[a].size == size {
		return a
	}
	return noSlot
}

// kernelParam reports whether v is a parameter of the kernel.
func (l *lowering) kernelParam(v *ptx.Var) bool {
	// The parameters of an inlined function are local memory.
	if !l.frame.fn.Entry {
		return false
	}
	for _, p := range l.frame.fn.Params {
		if p == v {
			return true
		}
	}
	return false
}

// value returns the register of a launch constant.
func (l *lowering) value(key uniformKey) slot {
	s, ok := l.uniform[key]
	if !ok {
		s = slot(len(l.vregs))
		l.uniform[key] = s
		l.vregs = append(l.vregs, vreg{home: key.home, size: key.size, uniformKey: key})
	}
	return s
}

// constant returns the register of an immediate.
func (l *lowering) constant(size int, bits uint64) slot {
	if size > 0 {
		bits = signExtend(bits, size, false)
	}
	return l.value(uniformKey{home: immediate, size: size, bits: bits})
}

// temp returns a new register.
func (l *lowering) temp(size int) slot {
	l.vregs = append(l.vregs, vreg{size: size})
	return slot(len(l.vregs) - 1)
}

// placeShared assigns a shared variable its offset in the block's memory.
func (l *lowering) placeShared(v *ptx.Var) {
	if v.Space != ptx.Shared {
		return
	}
	if v.Extern || v.Size() == 0 {
		l.dynAlign = max(l.dynAlign, uint32(max(v.Align, 1)))
		return
	}
	if _, ok := l.shared[v]; ok {
		return
	}
	align := uint32(max(v.Align, v.Type.Size(), 1))
	l.sharedEnd = (l.sharedEnd + align - 1) &^ (align - 1)
	l.shared[v] = l.sharedEnd
	l.sharedEnd += uint32(v.Size())
}

// placeLocals assigns local variables and the parameters of calls their offsets in the
// thread's local memory.
func (l *lowering) placeLocals(f *ptx.Func) {
	for _, v := range f.Vars {
		if v.Space == ptx.Local || v.Space == ptx.ParamSpace {
			l.placeLocal(v)
		}
		l.placeShared(v)
	}
}

// placeLocal assigns a variable its offset.
func (l *lowering) placeLocal(v *ptx.Var) {
	l.frame.locals[v] = l.place(int(v.Size()), max(v.Align, v.Type.Size(), 1)).off
}

// place reserves local memory.
func (l *lowering) place(size, align int) param {
	l.localEnd = roundUp(l.localEnd, align)
	l.localEnd += size
	return param{l.localEnd - size, size}
}

// local returns the address of local memory at an offset from the current frame, as a
// register and an addend.
func (l *lowering) local(off int) (base slot, imm uint64) {
	if l.root == nil {
		return l.constant(8, uint64(off)), 0
	}
	return l.value(uniformKey{home: framePointer, size: 8}), uint64(off)
}

// addressOf returns the address of a variable in its own space, as a register and an
// addend, and that space.
func (l *lowering) addressOf(v *ptx.Var, imm int64) (s slot, addend uint64, space ptx.Space, err error) {
	if off, ok := l.frame.locals[v]; ok {
		s, addend = l.local(off + int(imm))
		return s, addend, ptx.Local, nil
	}
	s, space, err = l.fixedAddress(v, imm)
	return s, 0, space, err
}

// fixedAddress returns the address of a variable outside local memory.
func (l *lowering) fixedAddress(v *ptx.Var, imm int64) (slot, ptx.Space, error) {
	key := uniformKey{home: immediate, size: 8, bits: uint64(imm)}
	switch v.Space {
	case ptx.Global, ptx.Const:
		addr, ok := l.mod.globals[v]
		if !ok {
			return noSlot, 0, l.fail("variable %s is declared .extern; link its module first", v.Name)
		}
		key.bits += addr
		return l.value(key), ptx.Global, nil
	case ptx.Shared:
		l.placeShared(v)
		if off, ok := l.shared[v]; ok {
			key.bits += uint64(off)
		} else {
			key.home = dynamicBase
		}
		return l.value(key), ptx.Shared, nil
	case ptx.ParamSpace:
		key.bits += uint64(v.Offset)
		return l.value(key), ptx.ParamSpace, nil
	}
	return noSlot, 0, l.fail("variable %s has no address", v.Name)
}
