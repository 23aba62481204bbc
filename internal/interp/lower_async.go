package interp

import (
	"strings"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// cp lowers cp.async, see "Asynchronous copy" in the PTX ISA. Bulk and tensor copies are
// not supported.
//
//	cp.async.ca.shared.global [dst], [src], 16;    copyAsync: reads now, stores when waited for
//	cp.async.commit_group;                         commitAsync: the next copies are of a new group
//	cp.async.wait_group 1;                         waitAsync: all groups but the last complete
//	cp.async.wait_all;                             waitAllAsync
//	cp.async.mbarrier.arrive.noinc [bar];          waitAllAsync, then an arrival
func (l *lowering) cp() error {
	in := l.in
	switch op := strings.Join(in.Suffix, "."); {
	case op == "async.commit_group":
		l.emit(inst{exec: commitAsync, d: noSlot, a: noSlot, b: noSlot, c: noSlot, guard: noSlot}, costALU)
		return nil
	case op == "async.wait_all":
		return l.waitAsync(waitAllAsync, 0)
	case op == "async.wait_group" && len(in.Args) == 1 && in.Args[0].Kind == ptx.OpInt:
		return l.waitAsync(waitAsync, uint64(in.Args[0].Imm))
	case strings.HasPrefix(op, "async.mbarrier.arrive"):
		return l.arriveAsync()
	case in.Suffix[0] != "async" || has(in, "bulk"):
		return l.fail("the interpreter cannot run this copy")
	}
	return l.copyAsync()
}

// waitAsync emits a wait for all groups of copies but the latest few.
func (l *lowering) waitAsync(exec handler, groups uint64) error {
	r := blank()
	r.exec, r.imm = exec, groups
	l.emit(r, costBarrier)
	return nil
}

// copyAsync lowers cp.async [dst], [src], size {, bytes to read | !read};
//
//	record   a, imm   the address in global memory
//	         c        the number of bytes to read, or noSlot
//	extra    e        the register of the address in shared memory
//	         p        the predicate that skips the read
//	         async    its offset and width, and the size
func (l *lowering) copyAsync() error {
	in := l.in
	if len(in.Args) < 3 || len(in.Args) > 4 || in.Args[2].Kind != ptx.OpInt || in.Args[0].Kind != ptx.OpMem {
		return l.fail("needs two addresses and a size")
	}
	size := in.Args[2].Imm
	if size != 4 && size != 8 && size != 16 {
		return l.fail("copies 4, 8 or 16 bytes, not %d", size)
	}
	r := blank()
	if err := l.memory(&r, &in.Args[1], loads, ptx.U8); err != nil {
		return err
	}
	r.x.space, r.x.size = ptx.Global, int(size)
	r.x.elems = []element{{noSlot, int(size)}}
	dst := &in.Args[0]
	s := &asyncSource{offset: uint64(dst.Imm), size: uint64(size)}
	switch {
	case dst.Reg != ptx.NoReg:
		r.x.e = l.register(dst.Reg)
	case dst.Var != nil && dst.Var.Space == ptx.Shared:
		at, _, err := l.fixedAddress(dst.Var, dst.Imm)
		if err != nil {
			return err
		}
		r.x.e, s.offset = at, 0
	default:
		return l.fail("the destination must be in shared memory")
	}
	s.wide = l.vregs[r.x.e].size == 8
	// A 32-bit address in shared memory wraps, a 64-bit one does not.
	if n := l.vregs[r.x.e].size; n != 4 && n != 8 {
		return l.fail("the address register must have 32 or 64 bits")
	}
	r.x.async = s
	if len(in.Args) == 4 {
		var err error
		// The fourth operand is a predicate that skips the copy, or the number of bytes to
		// read.
		if op := &in.Args[3]; l.size(op, 4) == 0 {
			r.x.p, r.x.pNeg, err = l.predicate(op)
		} else {
			r.c, err = l.source(op, 4, ptx.U32)
		}
		if err != nil {
			return err
		}
	}
	r.exec = copyAsync
	l.k.asyncCopies = true
	l.emit(r, costStore)
	return nil
}

// arriveAsync is cp.async.mbarrier.arrive: the copies of the thread complete now, and the
// thread then arrives at the mbarrier. Without .noinc the arrival adds one to the expected
// count as well, so that both cancel out and nothing is emitted for them.
func (l *lowering) arriveAsync() error {
	if len(l.in.Args) != 1 {
		return l.fail("needs an mbarrier")
	}
	if err := l.waitAsync(waitAllAsync, 0); err != nil || !has(l.in, "noinc") {
		return err
	}
	r := blank()
	if err := l.memory(&r, &l.in.Args[0], updates, ptx.B64); err != nil {
		return err
	}
	r.x.atomic, r.x.elems = "mbarrier", []element{{noSlot, 8}}
	r.x.strong, r.x.synchronises = true, true
	r.exec = updateBarrier(arriveAtBarrier, false)
	l.emit(r, costAtomicSM)
	return nil
}

// mbarrier lowers the operations on mbarrier objects, see barrierUpdates. All of them are
// strong accesses by which code may wait for other threads.
func (l *lowering) mbarrier() error {
	in := l.in
	op := in.Suffix[0]
	switch {
	case op == "pending_count":
		return l.pendingCount()
	case op == "test_wait" || op == "try_wait":
		return l.testBarrier()
	case has(in, "expect_tx") && op != "expect_tx":
		op += ".expect_tx"
	}
	f := barrierUpdates[op]
	if f == nil {
		return l.fail("the interpreter cannot run this instruction")
	}
	args := in.Args
	d := noSlot
	if len(args) > 0 && args[0].Kind != ptx.OpMem {
		var err error
		if d, err = l.destOrSink(&args[0], 8); err != nil {
			return err
		}
		args = args[1:]
	}
	if len(args) == 0 || len(args) > 2 {
		return l.fail("needs an mbarrier and at most a count")
	}
	r := blank()
	if err := l.memory(&r, &args[0], updates, ptx.B64); err != nil {
		return err
	}
	r.x.atomic, r.x.elems, r.d = "mbarrier", []element{{noSlot, 8}}, d
	r.x.strong, r.x.synchronises, r.x.ignoresOld = true, true, op == "init"
	if len(args) == 2 {
		var err error
		if r.b, err = l.source(&args[1], 4, ptx.U32); err != nil {
			return err
		}
	}
	r.exec = updateBarrier(f, r.x.ignoresOld)
	l.emit(r, costAtomicSM)
	return nil
}

// testBarrier lowers mbarrier.test_wait and try_wait. They are loads by which code waits
// for other threads, so they order accesses and are watched for polling. try_wait does not
// suspend the thread.
func (l *lowering) testBarrier() error {
	in := l.in
	if len(in.Args) < 3 {
		return l.fail("needs a predicate, an mbarrier and a phase")
	}
	r := blank()
	if err := l.memory(&r, &in.Args[1], loads, ptx.B64); err != nil {
		return err
	}
	r.x.elems = []element{{noSlot, 8}}
	r.x.strong, r.x.synchronises = true, true
	var err error
	if r.d, err = l.dest(&in.Args[0], 0); err != nil {
		return err
	}
	parity, size := has(in, "parity"), 8
	if parity {
		size = 4
	}
	if r.b, err = l.source(&in.Args[2], size, ptx.U64); err != nil {
		return err
	}
	l.k.spinLimit = spinLimit
	r.exec = testBarrier(parity)
	l.emit(r, costShared)
	return nil
}

// pendingCount extracts the pending count from a state.
func (l *lowering) pendingCount() error {
	if len(l.in.Args) != 2 {
		return l.fail("needs a destination and a state")
	}
	r := blank()
	r.exec = lift1(func(state uint64) uint32 { return unpackBarrier(state).pending })
	var err error
	if r.d, err = l.dest(&l.in.Args[0], 4); err != nil {
		return err
	}
	if r.a, err = l.source(&l.in.Args[1], 8, ptx.U64); err != nil {
		return err
	}
	l.emit(r, costALU)
	return nil
}
