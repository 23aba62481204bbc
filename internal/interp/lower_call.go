package interp

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// Most calls are inlined: nvcc emits few calls, and an inlined body needs no frame per
// lane. Parameters are variables in local memory, and a formal parameter of an inlined
// function is an alias of the actual one. Functions that cannot be inlined are called as
// routines:
//
//	kernel                    items
//	st.param [a], %r1         store to local memory at a
//	call (r), f, (a)          the body of f, whose parameter is at a and whose result is at r
//	ld.param %r2, [r]         load from local memory at r
//
//	call (r), g, (a)          an item with the ending "calls" and a callSite
//	                          g is recursive: it is lowered once, after the kernel

// call lowers a call of a function of the driver, of an inlined function or of a routine.
func (l *lowering) call() error {
	results, callee, args, err := l.callOperands()
	if err != nil {
		return err
	}
	if callee.Kind == ptx.OpReg {
		return l.callPointer(callee, results, args)
	}
	if b := builtins[callee.Name]; b != nil {
		return b(l, results, args)
	}
	f := l.mod.calls.functions[callee.Name]
	switch {
	case f == nil || f.Extern:
		return l.fail("function %s has no body in this module", callee.Name)
	case f.Entry:
		return l.fail("%s is a kernel; only functions can be called", callee.Name)
	case len(results) != len(f.Return) || len(args) != len(f.Params):
		return l.fail("function %s has %d results and %d parameters", callee.Name, len(f.Return), len(f.Params))
	case l.mod.calls.framed[f]:
		r := l.routineFor(f)
		r.direct = true
		return l.callRoutine(r, noSlot, results, args)
	}
	return l.inline(f, results, args)
}

// callOperands splits a call: (results), callee, (args), prototype.
func (l *lowering) callOperands() (results []ptx.Operand, callee ptx.Operand, args []ptx.Operand, err error) {
	ops := l.in.Args
	if len(ops) > 0 && ops[0].Kind == ptx.OpList {
		results, ops = ops[0].Elems, ops[1:]
	}
	if len(ops) == 0 || ops[0].Kind != ptx.OpFunc && ops[0].Kind != ptx.OpReg {
		return nil, callee, nil, l.fail("needs a function")
	}
	callee, ops = ops[0], ops[1:]
	if len(ops) > 0 && ops[0].Kind == ptx.OpList {
		args = ops[0].Elems
	}
	return results, callee, args, nil
}

// actual returns the variable in the caller's frame that contains an argument. A
// register or a number is stored to one first.
func (l *lowering) actual(op *ptx.Operand, typ ptx.Type) (param, error) {
	if p, ok := l.variable(op); ok {
		return p, nil
	}
	size := typ.Size()
	if op.Kind == ptx.OpReg && op.Reg != ptx.NoReg {
		reg := l.register(op.Reg)
		if size = l.vregs[reg].size; size == 0 {
			p := l.place(1, 1)
			l.localAccess(stores, p, reg)
			return p, nil
		}
	}
	if size == 0 || size > 8 {
		return param{}, l.fail("an argument must be a .param variable, a register or a number")
	}
	s, err := l.source(op, registerSizeOf(size), typ)
	if err != nil {
		return param{}, err
	}
	p := l.place(size, size)
	l.localAccess(stores, p, s)
	return p, nil
}

// variable returns the place of a .param variable of the caller.
func (l *lowering) variable(op *ptx.Operand) (param, bool) {
	if op.Kind != ptx.OpSymbol || op.Var == nil {
		return param{}, false
	}
	off, ok := l.frame.locals[op.Var]
	return param{off, int(op.Var.Size())}, ok
}

// passed contains the caller's variables of a call, and the registers of results that
// are not variables.
type passed struct {
	results, args []param
	registers     []slot // by result; noSlot for a variable
}

// pass stores the arguments of a call to variables of the caller, and assigns variables to
// the results. types returns the type of formal parameter i.
func (l *lowering) pass(results, args []ptx.Operand, types func(i int) ptx.Type) (c passed, err error) {
	for i := range args {
		p, err := l.actual(&args[i], types(i))
		if err != nil {
			return c, err
		}
		c.args = append(c.args, p)
	}
	for i := range results {
		op := &results[i]
		p, ok := l.variable(op)
		to := noSlot
		if !ok {
			if op.Kind != ptx.OpReg {
				return c, l.fail("a result must be a .param variable or a register")
			}
			size := 8
			if op.Reg != ptx.NoReg {
				to = l.register(op.Reg)
				size = l.bytesOf(to)
			}
			p = l.place(size, size)
		}
		c.results, c.registers = append(c.results, p), append(c.registers, to)
	}
	return c, nil
}

// receive loads the results that are registers.
func (l *lowering) receive(c *passed) {
	for i, to := range c.registers {
		if to != noSlot {
			l.localAccess(loads, c.results[i], to)
		}
	}
}

// bytesOf returns the bytes of a register in memory. A predicate takes one byte, 0 or
// 1.
func (l *lowering) bytesOf(reg slot) int { return max(l.vregs[reg].size, 1) }

// localAccess loads or stores a register from or to a variable of the frame.
func (l *lowering) localAccess(kind accessKind, p param, reg slot) {
	if l.vregs[reg].size == 0 {
		l.predicateAccess(kind, p, reg)
		return
	}
	r := blank()
	r.x = newExtra()
	r.x.kind, r.x.space, r.x.size = kind, ptx.Local, p.size
	r.x.elems = []element{{reg, l.vregs[reg].size}}
	r.a, r.imm = l.local(p.off)
	r.exec = loadAny
	c := costLocal
	if kind == stores {
		r.exec, c = storeAny, costStore
	}
	r.site = int32(l.k.sites)
	l.k.sites++
	l.emit(r, c).reads = kind == stores
}

// predicateAccess is localAccess for a predicate, through a register that is 0 or 1.
func (l *lowering) predicateAccess(kind accessKind, p param, reg slot) {
	bit, r := l.temp(2), blank()
	if kind == stores {
		r.d, r.a, r.b, r.c = bit, l.constant(2, 1), l.constant(2, 0), reg
		r.exec = ops["selp.b16"]
		l.emit(r, costALU)
		l.localAccess(stores, p, bit)
		return
	}
	l.localAccess(loads, p, bit)
	r.x = newExtra()
	r.d, r.a, r.b, r.x.test, r.exec = reg, bit, l.constant(2, 0), tests["ne.b16"], setpOnly
	l.emit(r, costALU)
}

// inline lowers the body of f in place of the call, with a branch around it for lanes whose
// guard is false. The call itself is counted as an instruction. Local memory of the body is
// free again after it.
func (l *lowering) inline(f *ptx.Func, results, args []ptx.Operand) error {
	caller, call := l.frame, l.in
	c, err := l.pass(results, args, func(i int) ptx.Type { return f.Params[i].Type })
	if err != nil {
		return err
	}
	l.emit(blank(), costBranch).free = true
	if call.Guard.Reg != ptx.NoReg {
		skip := &l.items[len(l.items)-1]
		skip.free, skip.neg = false, !skip.neg
		skip.ending, skip.frame, skip.targets = branches, caller, []int{caller.at + 1}
	}
	// Variables of the body are placed behind those of the caller.
	own := l.localEnd
	fr := l.enter(f)
	for i, v := range f.Return {
		fr.locals[v] = c.results[i].off
	}
	for i, v := range f.Params {
		fr.locals[v] = c.args[i].off
	}
	if err := l.function(fr); err != nil {
		return err
	}
	l.frame, l.in = caller, call
	l.maxLocal, l.localEnd = max(l.maxLocal, l.localEnd), own // the next call may use the same bytes
	l.receive(&c)
	return nil
}

// function lowers a body whose parameters have places, including those in registers.
func (l *lowering) function(fr *frame) error {
	f := fr.fn
	l.registerParams(loads, f.Params)
	if err := l.body(fr); err != nil {
		return err
	}
	l.registerParams(stores, f.Return)
	return nil
}

// registerParams moves the parameters declared in .reg from their places in local memory to
// their registers, or results back.
func (l *lowering) registerParams(kind accessKind, list []*ptx.Var) {
	for _, v := range list {
		if v.Space != ptx.RegSpace {
			continue
		}
		l.in = &ptx.Inst{Pos: v.Pos, Guard: ptx.Guard{Reg: ptx.NoReg}}
		reg := l.register(registerOf(l.frame.fn, v))
		l.localAccess(kind, param{l.frame.locals[v], l.bytesOf(reg)}, reg)
	}
}

// registerOf returns the register of a parameter declared in .reg.
func registerOf(f *ptx.Func, v *ptx.Var) ptx.RegID {
	return ptx.RegID(slices.IndexFunc(f.Regs, func(r ptx.Reg) bool { return r.Name == v.Name }))
}

// routineFor returns the routine of f in this kernel. Its body is lowered after that of
// the kernel.
func (l *lowering) routineFor(f *ptx.Func) *routine {
	if r := l.routines[f]; r != nil {
		return r
	}
	r := &routine{fn: f, address: l.mod.calls.address[f.Name]}
	if l.routines == nil {
		l.routines = map[*ptx.Func]*routine{}
	}
	l.routines[f] = r
	l.k.routines = append(l.k.routines, r)
	return r
}

// callPointer calls through a register. Any function whose address is taken may be the
// target, so all of them become routines. At run time, lanes are grouped by their target,
// see warp.call.
func (l *lowering) callPointer(callee ptx.Operand, results, args []ptx.Operand) error {
	s, err := l.source(&callee, 8, ptx.U64)
	if err != nil {
		return err
	}
	for _, f := range l.mod.calls.addressTaken {
		l.routineFor(f)
	}
	return l.callRoutine(nil, s, results, args)
}

// callRoutine emits a call of a routine, or through a pointer if callee is nil. The
// types of the arguments are then unknown, and they are stored as bits.
func (l *lowering) callRoutine(callee *routine, pointer slot, results, args []ptx.Operand) error {
	c, err := l.pass(results, args, func(i int) ptx.Type {
		if callee != nil {
			return callee.fn.Params[i].Type
		}
		return ptx.B64
	})
	if err != nil {
		return err
	}
	r := blank()
	r.a = pointer
	r.x = newExtra()
	r.x.call = &callSite{callee: callee, results: c.results, args: c.args}
	l.emit(r, costCall).ending = calls
	l.receive(&c)
	return nil
}

// lowerRoutines lowers the routines that the kernel calls, transitively: the list grows
// while it is processed. Routines have no registers in common with the kernel, but liveness
// may assign the same slots, which calls save.
func (l *lowering) lowerRoutines() error {
	if len(l.k.routines) == 0 {
		return nil
	}
	// Routines follow the kernel in the code.
	l.exit() // the kernel must not fall through into them
	for i := 0; i < len(l.k.routines); i++ {
		r := l.k.routines[i]
		first, local := len(l.items), max(l.maxLocal, l.localEnd)
		err := l.lowerRoutine(r)
		// A function that only a pointer may reach is refused when it is called.
		if err != nil && r.direct {
			return err
		}
		if err != nil {
			l.items = append(l.items[:first], l.refusal(err.(*unsupported)))
		}
		r.firstItem, r.endItem = first, len(l.items)
		r.frame, l.localEnd, l.maxLocal = max(l.maxLocal, l.localEnd), local, local
	}
	return nil
}

// lowerRoutine lowers one body. Its variables are placed from the start of its frame.
func (l *lowering) lowerRoutine(r *routine) error {
	l.root, l.frame, l.localEnd, l.maxLocal = r, nil, 0, 0
	fr := l.enter(r.fn)
	place := func(list []*ptx.Var) (places []param) {
		for _, v := range list {
			l.placeLocal(v)
			places = append(places, param{fr.locals[v], int(v.Size())})
		}
		return places
	}
	r.results, r.params = place(r.fn.Return), place(r.fn.Params)
	if err := l.function(fr); err != nil {
		return err
	}
	l.in = &ptx.Inst{Pos: r.fn.Pos, Guard: ptx.Guard{Reg: ptx.NoReg}}
	l.emit(blank(), costBranch).ending = returns
	return nil
}

// refusal returns the body of a function that is not supported and that no direct call
// reaches: it faults if it is called.
func (l *lowering) refusal(u *unsupported) item {
	r := blank()
	r.exec = func(w *warp, in *inst) { w.fail(Unsupported, in, firstLane(w.live), 0, u.reason) }
	return item{inst: r, place: u.place, cost: costALU, ending: falls}
}
