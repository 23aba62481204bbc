package access

// fact is a comparison that holds at a place of the program. It is a node of a list: all
// facts of its parents hold as well. The conditions that dominate an address form such a
// list:
//
//	setp.ge.s32 %p1, %r1, %r2;
//	@%p1 bra EXIT;
//	…                             %r1 < %r2
//	setp.lt.s32 %p2, %r3, 0;
//	@%p2 bra NEXT;
//	…                             %r3 >= 0 ──► %r1 < %r2 ──► nil
//
// Lists share their tails, as blocks share their dominators. Facts are immutable and are
// compared by address.
//
// Values are in SSA form. A fact about a value is therefore true until the value is
// computed anew, and in that case the branch is executed anew, too.
type fact struct {
	parent *fact

	target   *term // the fact is "target+shift cmp bound", on numbers of the given bits; nil if it narrows no value
	cmp      comparison
	bound    *term
	shift    int64
	bits     uint8
	unsigned bool

	whole *term // the comparison that the fact follows from, in the first of its facts; else nil
}

// facts derives the facts that hold at each block and along each edge, on
// demand.
type facts struct {
	*ssa
	at      map[int32]*fact // by block
	asserts map[assertion]*fact
	targets map[*term]bool // the targets of all facts, as a filter for about
}

// assertion is the key of a memoized call of assert.
type assertion struct {
	before *fact
	p      *term
	truth  bool
}

// newFacts returns facts without any block's memo.
func newFacts(s *ssa) *facts {
	return &facts{ssa: s, at: map[int32]*fact{}, asserts: map[assertion]*fact{}, targets: map[*term]bool{}}
}

// in returns the facts that hold throughout block b: those of its dominator,
// and the condition of its only entry edge, back edges aside.
func (f *facts) in(b int32) *fact {
	if c, ok := f.at[b]; ok {
		return c
	}
	var c *fact
	if d := f.blocks[b].idom; d >= 0 {
		c = f.in(d)
		// Control enters b only from its dominator, so the condition of that edge holds.
		if entry := f.onlyEntry(b); entry == d {
			c = f.along(d, b)
		}
	}
	f.at[b] = c
	return c
}

// onlyEntry returns the only predecessor of b that is no back edge, or -1 if
// there are several.
func (f *facts) onlyEntry(b int32) int32 {
	entry := int32(-1)
	for _, p := range f.blocks[b].preds {
		switch {
		case f.back(p, b):
		case entry >= 0:
			return -1
		default:
			entry = p
		}
	}
	return entry
}

// along returns the facts that hold when control passes from p to b.
func (f *facts) along(p, b int32) *fact {
	blk := &f.blocks[p]
	c := f.in(p)
	last := blk.end - 1
	guard := f.guard(last)
	// Without a condition, or with one that does not matter.
	if guard == nil || len(blk.succs) == 2 && blk.succs[0] == blk.succs[1] {
		return c
	}
	switch f.cfg.steps[last].kind {
	case stepBranch, stepReturn:
		return f.assert(c, guard, b == blk.succs[0])
	case stepLeave:
		return f.assert(c, guard, false)
	}
	return c
}

// assert extends c by the facts that follow from predicate p having the given truth
// value. It splits conjunctions that are true and disjunctions that are false. A
// comparison gives facts about both of its sides: x < y bounds x from above and y from
// below.
func (f *facts) assert(c *fact, p *term, truth bool) *fact {
	p = p.resolved()
	key := assertion{c, p, truth}
	if done, ok := f.asserts[key]; ok {
		return done
	}
	out := c
	switch {
	case p.op == termLogicNot:
		out = f.assert(c, p.args[0], !truth)
	case p.op == termLogicAnd && truth, p.op == termLogicOr && !truth:
		out = f.assert(f.assert(c, p.args[0], truth), p.args[1], truth)
	case p.op == termCmp:
		cmp := p.cmp
		if !truth {
			cmp = cmp.negated()
		}
		x, y := p.args[0].resolved(), p.args[1].resolved()
		one := fact{parent: c, cmp: cmp, bound: y, bits: 64, unsigned: p.unsigned, whole: p}
		out = f.about(one, x)
		one = fact{parent: out, cmp: cmp.mirrored(), bound: x, bits: 64, unsigned: p.unsigned}
		out = f.about(one, y)
	}
	f.asserts[key] = out
	return out
}

// about adds fact one about v, and the facts that follow for the operands of v. For
// example, 0 <= zext(x + 3) gives facts about the extension, about x + 3 and, with a
// shift of 3, about x.
//
// It passes through three kinds of operations: extensions that lose no bits, additions of
// constants, and an "or" that is not negative, since no operand of it is then negative.
func (f *facts) about(one fact, v *term) *fact {
	v = v.resolved()
	if visits := maxVisits; uniform(v, &visits) { // one value in the whole launch, which a fact cannot narrow
		if one.whole == nil {
			return one.parent
		}
		return &one
	}
	one.target = v
	f.targets[v] = true
	// next is the fact about the operand, which follows from the fact about v.
	next := one
	next.parent, next.whole = &one, nil
	switch {
	case v.op == termSExt && !one.unsigned || v.op == termZExt:
		if !v.args[0].within(uint8(v.imm)) {
			break // the comparison ignores its high bits
		}
		next.bits, next.unsigned = uint8(v.imm), v.op == termZExt
		return f.about(next, v.args[0])
	case v.op == termAdd || v.op == termSub:
		k := v.args[1].resolved()
		if k.op != termConst {
			break
		}
		if next.shift += k.imm; v.op == termSub {
			next.shift -= 2 * k.imm
		}
		return f.about(next, v.args[0])
	case v.op == termOr && f.notNegative(&one):
		for _, arg := range v.args {
			next.parent = f.about(next, arg.resolved().stripZExt(one.bits))
		}
		return next.parent
	}
	return &one
}

// within reports whether v has at most the given number of significant bits.
func (v *term) within(bits uint8) bool {
	v = v.resolved()
	return v.bits <= bits || (v.op == termSExt || v.op == termZExt) && v.imm <= int64(bits)
}

// notNegative reports whether a fact states that its target is at least 0.
func (f *facts) notNegative(one *fact) bool {
	k := one.bound
	return !one.unsigned && one.shift == 0 && k.op == termConst &&
		(one.cmp == cmpGE && k.imm == 0 || one.cmp == cmpGT && k.imm == -1)
}

// stripZExt removes a zero extension to the given number of bits.
func (v *term) stripZExt(bits uint8) *term {
	if v.op == termZExt && v.imm == int64(bits) {
		return v.args[0].resolved()
	}
	return v
}

// factsOn returns the facts of c about v, the outermost first. The clamps of an outer
// place are then the first clamps of an inner place, and their nodes are shared.
func (f *facts) factsOn(c *fact, v *term) []*fact {
	if !f.targets[v] {
		return nil
	}
	var list []*fact
	for ; c != nil; c = c.parent {
		if c.target == v {
			list = append(list, c)
		}
	}
	for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
		list[i], list[j] = list[j], list[i]
	}
	return list
}

// has reports whether fact one is in the list c.
func (c *fact) has(one *fact) bool {
	for ; c != nil; c = c.parent {
		if c == one {
			return true
		}
	}
	return false
}
