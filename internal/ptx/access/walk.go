package access

// threadWalk executes one thread of a launch on the flat program of a kernel. It computes
// only branches and addresses, from the terms that they consist of. Values loaded from
// memory are unknown. At a branch whose direction is unknown, execution continues at the
// immediate postdominator, where all paths join, and the variables that those paths may
// assign become unknown:
//
//	  B0: tid < n           known: follow one edge
//	  │
//	  B1: x[tid] > 0        unknown: skip to the join
//	 ╱  ╲
//	B2    B3                not executed; their variables become unknown
//	 ╲  ╱
//	  B4                    certain again
//
// Every access that it finds outside of such regions is therefore certain.
type threadWalk struct {
	*certain
	launch        *Launch
	block, thread [3]uint32
	variables     map[*term]number // the current values of phis; absent if unknown
	memo          map[*term]number // other terms, valid until a variable changes
}

// number is a value that may be unknown. Only the low bits of a term count.
type number struct {
	x  int64
	ok bool
}

// walk executes the thread at the corner of the launch's box, for at most
// maxBlocks blocks, and returns its first access through a row outside span
// within. It stops at calls of unknown code, which may end the thread.
func (c *certain) walk(l *Launch, row int, pointer interval, within Span) (Touch, bool) {
	c.complete()
	w := threadWalk{certain: c, launch: l, block: l.box.corner(0), thread: l.box.corner(3), variables: map[*term]number{}, memo: map[*term]number{}}
	if !pointer.single() {
		return Touch{}, false
	}
	at := int32(0)
	for n := 0; n < maxBlocks && l.spend(); n++ {
		for i := range c.accesses[at] {
			a := &c.accesses[at][i]
			// Code that was not inlined may end the thread.
			if call, some := c.calls[at]; some && a.step > call {
				break
			}
			if s, touches := w.span(a, pointer.lo); touches && a.row == row && !within.Holds(s) {
				return Touch{s, a.access, c.cfg.steps[a.step].in.Pos, w.block, w.thread}, true
			}
		}
		if at = w.follow(at); at < 0 {
			break
		}
	}
	return Touch{}, false
}

// span returns the bytes that an access touches, relative to its pointer, or
// false if it is not executed or not known.
func (w *threadWalk) span(a *certainAccess, pointer int64) (Span, bool) {
	if a.guard != nil && w.value(a.guard) != (number{1, true}) {
		return Span{}, false
	}
	addr := w.value(a.addr)
	if !addr.ok {
		return Span{}, false
	}
	at := addr.x - pointer
	return Span{at + a.lo, at + a.hi}, true
}

// follow returns the block that the thread executes after b. It returns -1 if
// the thread ends or if the next block is unknown.
func (w *threadWalk) follow(b int32) int32 {
	blk := &w.blocks[b]
	if _, calls := w.calls[b]; calls || blk.first == len(w.cfg.steps) {
		return -1
	}
	last := blk.end - 1
	kind, guard := w.cfg.steps[last].kind, w.guard(last)
	switch {
	case kind == stepPlain:
		return w.enter(blk.succs[0], b)
	case kind == stepTable:
		return w.skip(b)
	case guard == nil && kind == stepLeave:
		return -1
	case guard == nil:
		return w.enter(blk.succs[0], b)
	}
	switch taken := w.value(guard); {
	case !taken.ok:
		return w.skip(b)
	case taken.x == 0:
		return w.enter(blk.succs[len(blk.succs)-1], b)
	case kind == stepLeave:
		return -1
	}
	return w.enter(blk.succs[0], b)
}

// enter assigns the phis of block b for control that comes from block from, and returns
// b. All arguments are read before the first assignment, as phis execute in parallel.
func (w *threadWalk) enter(b, from int32) int32 {
	var values []number
	for n, p := range w.blocks[b].preds {
		if p != from {
			continue
		}
		for _, v := range w.phis[b] {
			values = append(values, w.value(v.args[n]))
		}
	}
	if len(values) > 0 {
		clear(w.memo)
	}
	for i, v := range w.phis[b] {
		w.variables[v] = values[i]
	}
	return b
}

// skip continues where all paths from b join, with unknown values for the
// variables that may have changed. It returns -1 if the paths do not join or
// may call unknown code.
func (w *threadWalk) skip(b int32) int32 {
	join := w.next[b]
	if join < 0 {
		return -1
	}
	clear(w.memo)
	for _, r := range w.region(b) {
		for _, v := range w.phis[r] {
			delete(w.variables, v)
		}
		if _, calls := w.calls[r]; calls && r != join {
			return -1
		}
	}
	return join
}

// value returns the value of a term, memoized.
func (w *threadWalk) value(v *term) number {
	v = v.resolved()
	if v.op == termPhi {
		return w.variables[v]
	}
	if n, done := w.memo[v]; done {
		return n
	}
	n := w.compute(v)
	w.memo[v] = n
	return n
}

// compute evaluates a term from its arguments. The result is unknown if it depends on an
// unknown argument.
func (w *threadWalk) compute(v *term) number {
	switch v.op {
	case termConst:
		return number{v.imm, true}
	case termParam:
		p := w.launch.value(v.param, w.kernel.Params[v.param.param].Offset+int(v.param.off))
		return number{p.lo, p.single()}
	case termSpecial:
		return w.special(v.imm)
	case termSelect:
		switch p := w.value(v.args[0]); {
		case !p.ok:
			return number{}
		case p.x != 0:
			return w.value(v.args[1])
		}
		return w.value(v.args[2])
	case termLogicAnd, termLogicOr:
		return logical(v.op == termLogicOr, w.value(v.args[0]), w.value(v.args[1]))
	case termUnknown:
		return number{}
	}
	var args [2]number
	for i, a := range v.args {
		if args[i] = w.value(a); !args[i].ok {
			return number{}
		}
	}
	return v.evaluate(args[0].x, args[1].x)
}

// laneid is the index of %laneid in affineSpecials, the first register that
// differs between devices.
const laneid = 12

// special returns the value of a special register for this thread.
func (w *threadWalk) special(n int64) number {
	axis := n % 3
	switch n / 3 {
	case 0:
		return number{int64(w.thread[axis]), true}
	case 1:
		return number{int64(w.block[axis]), true}
	case 2:
		return number{int64(w.launch.Block[axis]), true}
	case 3:
		return number{int64(w.launch.Grid[axis]), true}
	}
	return number{}
}

// logical returns a&b or a|b. One known operand may decide the result.
func logical(or bool, a, b number) number {
	decides := int64(0)
	if or {
		decides = 1
	}
	switch {
	case a.ok && a.x == decides, b.ok && b.x == decides:
		return number{decides, true}
	}
	return number{1 - decides, a.ok && b.ok}
}

// evaluate applies the operation of v to known arguments. Operations without a rule
// of their own are evaluated on intervals of one number.
func (v *term) evaluate(x, y int64) number {
	switch v.op {
	case termCmp:
		return number{truth(v.cmp.holds(x, y, v.unsigned)), true}
	case termLogicNot:
		return number{1 - x, true}
	case termAnd:
		return number{x & y, true}
	case termOr:
		return number{x | y, true}
	case termXor:
		return number{x ^ y, true}
	case termRem:
		return number{x % max(y, 1), x >= 0 && y > 0}
	case termSExt, termZExt:
		return number{point(x).extend(uint8(v.imm), v.op == termSExt).lo, true}
	}
	op, ok := intervalOps[v.op]
	if !ok {
		return number{}
	}
	n := node{op: op, bits: v.bits, unsigned: v.unsigned, imm: v.imm}
	result := n.eval(nil, &[4]interval{point(x), point(y)})
	return number{result.lo, result.single()}
}

// truth returns 1 for true and 0 for false.
func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// holds evaluates the comparison.
func (c comparison) holds(x, y int64, unsigned bool) bool {
	less := x < y
	if unsigned {
		less = uint64(x) < uint64(y)
	}
	switch c {
	case cmpEQ:
		return x == y
	case cmpNE:
		return x != y
	case cmpLT:
		return less
	case cmpLE:
		return less || x == y
	case cmpGT:
		return !less && x != y
	}
	return !less
}
