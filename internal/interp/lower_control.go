package interp

import (
	"github.com/reprise-gpu/reprise/internal/ptx"
)

// nothing lowers instructions that have no effect on results, such as prefetch.
func (l *lowering) nothing() error { return l.noRecord(costFree) }

// fence lowers membar and fence.
func (l *lowering) fence() error { return l.noRecord(costFence) }

// noRecord counts an instruction that has no effect here: memory is sequentially
// consistent within a launch.
func (l *lowering) noRecord(c cost) error {
	l.emit(blank(), c).free = true
	return nil
}

// bra lowers a branch to a label.
func (l *lowering) bra() error {
	in := l.in
	if len(in.Args) != 1 || in.Args[0].Kind != ptx.OpLabel {
		return l.fail("needs a label")
	}
	l.jump(in.Args[0].Target)
	return nil
}

// jump emits a branch to an instruction of the current function.
func (l *lowering) jump(target int) {
	it := l.emit(blank(), costBranch)
	it.ending, it.frame, it.targets = branches, l.frame, []int{target}
}

// brx lowers a branch by an index into a list of labels.
func (l *lowering) brx() error {
	in := l.in
	if len(in.Args) != 2 || in.Args[1].Kind != ptx.OpList || len(in.Args[1].Elems) == 0 {
		return l.fail("needs an index and a list of labels")
	}
	r := blank()
	var err error
	if r.a, err = l.source(&in.Args[0], 4, ptx.U32); err != nil {
		return err
	}
	it := l.emit(r, costBranch)
	it.ending, it.frame = branchesByTable, l.frame
	for _, label := range in.Args[1].Elems {
		it.targets = append(it.targets, label.Target)
	}
	return nil
}

// ret leaves a kernel, or jumps to the end of a function. After an inlined body this is the
// code behind the call; in a routine the ending "returns" is there.
func (l *lowering) ret() error {
	if l.frame.fn.Entry {
		return l.exit()
	}
	l.jump(len(l.frame.fn.Body))
	return nil
}

// exit ends the lanes of the current guard.
func (l *lowering) exit() error {
	l.emit(blank(), costBranch).ending = exits
	return nil
}

// trap lowers the end of a launch by the program.
func (l *lowering) trap() error {
	r := blank()
	r.exec = func(w *warp, in *inst) { w.fail(Trap, in, firstLane(w.live), 0, "the kernel executed trap") }
	l.emit(r, costALU)
	return nil
}

// bar lowers bar and barrier, see "Parallel Synchronization and Communication Instructions"
// in the PTX ISA:
//
//	bar.sync a{, n}              waits for all threads, or n
//	bar.arrive a, n              arrives and continues
//	bar.red.popc.u32 d, a{, n}, p    d = the number of threads whose p is true
//	bar.red.and.pred d, a{, n}, p    d = p of all threads; or: of any
//	bar.warp.sync m              waits for the lanes of m
//	barrier.cluster.arrive|wait  for the block, which is the whole cluster
func (l *lowering) bar() error {
	in := l.in
	if has(in, "warp") && len(in.Args) == 1 {
		return l.warpSync(syncOnly, blank(), &in.Args[0], costBarrier)
	}
	if has(in, "cluster") {
		return l.clusterBarrier()
	}
	args := in.Args
	r := blank()
	r.x = newExtra()
	var err error
	if has(in, "red") {
		if r.d, args, err = l.barrierResult(r.x, args); err != nil {
			return err
		}
		// The predicate is the last operand; the thread count before it is optional.
		last := len(args) - 1
		if last < 1 {
			return l.fail("needs a predicate")
		}
		if r.x.p, r.x.pNeg, err = l.predicate(&args[last]); err != nil {
			return err
		}
		args = args[:last]
	} else if has(in, "arrive") {
		r.x.mode = barrierArrive
	} else if !has(in, "sync") {
		return l.fail("the interpreter cannot run this barrier")
	}
	if len(args) < 1 || len(args) > 2 {
		return l.fail("needs a barrier and at most a thread count")
	}
	r.x.idReg = true
	if r.a, err = l.source(&args[0], 4, ptx.U32); err != nil {
		return err
	}
	if len(args) == 2 {
		r.x.count = true
		if r.b, err = l.source(&args[1], 4, ptx.U32); err != nil {
			return err
		}
	}
	l.emit(r, costBarrier).ending = barriers
	return nil
}

// clusterBarrier lowers barrier.cluster for a cluster of one block: an arrival
// continues at once, and a wait is one for the block.
func (l *lowering) clusterBarrier() error {
	if has(l.in, "arrive") {
		return l.noRecord(costBarrier)
	}
	r := blank()
	r.x = newExtra()
	r.imm = clusterBarrier
	l.emit(r, costBarrier).ending = barriers
	return nil
}

// barrierResult resolves the destination of a barrier reduction, and returns the other
// operands.
func (l *lowering) barrierResult(x *extra, args []ptx.Operand) (d slot, rest []ptx.Operand, err error) {
	size := 0
	switch {
	case has(l.in, "and"):
		x.mode = barrierAnd
	case has(l.in, "or"):
		x.mode = barrierOr
	case has(l.in, "popc"):
		x.mode, size = barrierPopc, 4
	}
	if x.mode == barrierSync || len(args) < 3 {
		return noSlot, nil, l.fail("the interpreter cannot run this barrier")
	}
	d, err = l.dest(&args[0], size)
	return d, args[1:], err
}

// warpSync completes a warp-wide operation that waits for the lanes of mask. If the mask is
// a literal, synchronise takes a short cut. syncShape describes the operands for lanes that
// arrive at another instruction.
func (l *lowering) warpSync(exec handler, r inst, mask *ptx.Operand, c cost) error {
	if r.x == nil {
		r.x = newExtra()
	}
	var err error
	if r.x.members, err = l.source(mask, 4, ptx.B32); err != nil {
		return err
	}
	// A literal mask is the same in all lanes.
	r.x.uniform = l.vregs[r.x.members].home == immediate
	r.x.sync = syncShape{name: l.in.Opcode(), value: 4}
	if r.a != noSlot {
		r.x.sync.value = l.vregs[r.a].size
	}
	if r.d != noSlot {
		r.x.sync.result = l.vregs[r.d].size
	}
	l.k.warpSyncs = true
	r.exec = exec
	l.emit(r, c).ending = synchronise
	return nil
}

// elect selects the first lane of a member mask.
func (l *lowering) elect() error {
	in := l.in
	if len(in.Args) != 2 {
		return l.fail("needs a destination with a predicate and a member mask")
	}
	r := blank()
	r.x = newExtra()
	var err error
	if r.d, err = l.destOrSink(&in.Args[0], 4); err != nil {
		return err
	}
	if r.x.d2, err = l.second(&in.Args[0]); err != nil {
		return err
	}
	return l.warpSync(electFirst, r, &in.Args[1], costShuffle)
}

// shfl lowers a shuffle, with or without .sync:
//
//	shfl.sync.mode.b32 d|p, a, b, c, members
//
//	record   d, a, b, c     b is the lane or offset, c the clamp and segment mask
//	extra    d2 p           members: the register of the mask
//	         mode           one of shuffleModes
//
// Without .sync the lanes that execute the instruction take part, and none waits.
func (l *lowering) shfl() error {
	in := l.in
	r := blank()
	r.x = newExtra()
	known := false
	for _, s := range in.Suffix {
		if m, ok := shuffleModes[s]; ok {
			r.x.mode, known = m, true
		}
	}
	sync := has(in, "sync")
	if !known || len(in.Args) < 4 || sync && len(in.Args) != 5 {
		return l.fail("needs a mode and its operands")
	}
	var err error
	if r.d, err = l.destOrSink(&in.Args[0], 4); err != nil {
		return err
	}
	if r.x.d2, err = l.second(&in.Args[0]); err != nil {
		return err
	}
	for i, to := range []*slot{&r.a, &r.b, &r.c} {
		if *to, err = l.source(&in.Args[i+1], 4, ptx.B32); err != nil {
			return err
		}
	}
	// Lanes read registers of other lanes, also before these wrote them: see assignClears.
	l.k.shuffles = true
	if !sync {
		r.exec = shuffle
		l.emit(r, costShuffle)
		return nil
	}
	return l.warpSync(shuffle, r, &in.Args[4], costShuffle)
}

// vote lowers vote, with or without .sync: a reduction of a predicate over the lanes of a
// member mask.
//
//	vote.sync.all|any|uni.pred p, a, members     d is a predicate
//	vote.sync.ballot.b32       d, a, members     d has 32 bits
//	extra                      p is the source predicate, pNeg its negation
func (l *lowering) vote() error {
	in := l.in
	if len(in.Args) < 2 || has(in, "sync") != (len(in.Args) == 3) {
		return l.fail("needs a predicate and, with .sync, a member mask")
	}
	r := blank()
	r.x = newExtra()
	size := 0
	var exec handler
	for _, s := range in.Suffix {
		switch s {
		case "all":
			exec = voteAll
		case "any":
			exec = voteAny
		case "uni":
			exec = voteUniform
		case "ballot":
			exec, size = voteBallot, 4
		}
	}
	if exec == nil {
		return l.fail("the interpreter cannot run this vote")
	}
	var err error
	if r.d, err = l.dest(&in.Args[0], size); err != nil {
		return err
	}
	if r.x.p, r.x.pNeg, err = l.predicate(&in.Args[1]); err != nil {
		return err
	}
	if len(in.Args) == 2 {
		r.exec = exec
		l.emit(r, costVote)
		return nil
	}
	return l.warpSync(exec, r, &in.Args[2], costVote)
}

// match lowers match.any and match.all, which compare a register of 32 or 64 bits over the
// lanes of a member mask:
//
//	values of lanes 0 … 3    7  9  7  7
//	match.any                1101b for lanes 0, 2 and 3; 0010b for lane 1
//	match.all                0, p false: the values differ
func (l *lowering) match() error {
	in := l.in
	list := types(in)
	if len(list) != 1 || len(in.Args) != 3 || list[0].Size() < 4 {
		return l.fail("needs a type and three operands")
	}
	wide, all := list[0].Size() == 8, has(in, "all")
	r := blank()
	r.x = newExtra()
	var err error
	if r.d, err = l.dest(&in.Args[0], 4); err != nil {
		return err
	}
	if r.x.d2, err = l.second(&in.Args[0]); err != nil {
		return err
	}
	if r.a, err = l.source(&in.Args[1], list[0].Size(), list[0]); err != nil {
		return err
	}
	exec := matchAny[uint32]
	switch {
	case wide && all:
		exec = matchAll[uint64]
	case wide:
		exec = matchAny[uint64]
	case all:
		exec = matchAll[uint32]
	}
	return l.warpSync(exec, r, &in.Args[2], costShuffle)
}

// redux lowers redux.sync, a reduction of a register over the lanes of a member mask. The
// operation and .sync may come in either order.
func (l *lowering) redux() error {
	in := l.in
	list := types(in)
	if len(list) != 1 || len(in.Args) != 3 || len(in.Suffix) != 3 {
		return l.fail("needs an operation, a type and three operands")
	}
	op := in.Suffix[1]
	if op == "sync" {
		op = in.Suffix[0]
	}
	f := reduxOps[op+"."+in.Suffix[2]]
	if f == nil {
		return l.fail("the interpreter cannot run this reduction")
	}
	r := blank()
	var err error
	if r.d, err = l.dest(&in.Args[0], 4); err != nil {
		return err
	}
	if r.a, err = l.source(&in.Args[1], 4, list[0]); err != nil {
		return err
	}
	return l.warpSync(redux(f), r, &in.Args[2], costShuffle)
}

// activemask lowers the mask of the lanes that execute it.
func (l *lowering) activemask() error {
	if len(l.in.Args) != 1 {
		return l.fail("needs a destination")
	}
	r := blank()
	r.exec = activeMask
	var err error
	if r.d, err = l.dest(&l.in.Args[0], 4); err != nil {
		return err
	}
	l.emit(r, costALU)
	return nil
}
