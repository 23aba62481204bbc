package access

// fact is something that holds at a place of the program, and everything its
// parents say. A condition that dominates an address is a list of facts:
//
//	setp.ge.s32 %p1, %r1, %r2;
//	@%p1 bra EXIT;
//	…                             %r1 < %r2
//
// Registers are in SSA form, so that what held of a value when a branch was taken
// holds until the value is computed anew; the branch then comes again too.
type fact struct {
	parent *fact

	target   *term // target+shift cmp bound, as numbers of so many bits
	cmp      comparison
	bound    *term
	shift    int64
	bits     uint8
	unsigned bool

	whole *term // the comparison itself, in the first fact it gives; else nil
}

// facts knows what holds where.
type facts struct {
	*ssa
	at      map[int32]*fact // by block
	asserts map[assertion]*fact
	targets map[*term]bool // of all facts there are
}

type assertion struct {
	before *fact
	p      *term
	truth  bool
}

func newFacts(s *ssa) *facts {
	return &facts{ssa: s, at: map[int32]*fact{}, asserts: map[assertion]*fact{}, targets: map[*term]bool{}}
}

// in is what holds throughout block b: what held in its dominator, and the
// condition of the only edge into it but for those that close its loop.
func (f *facts) in(b int32) *fact {
	if c, ok := f.at[b]; ok {
		return c
	}
	var c *fact
	if d := f.blocks[b].idom; d >= 0 {
		c = f.in(d)
		if entry := f.onlyEntry(b); entry == d {
			c = f.along(d, b)
		}
	}
	f.at[b] = c
	return c
}

// onlyEntry is the only predecessor of b that b does not dominate, or -1.
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

// along is what holds when control goes from p to b.
func (f *facts) along(p, b int32) *fact {
	blk := &f.blocks[p]
	c := f.in(p)
	last := blk.end - 1
	guard := f.guard(last)
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

// assert adds that p is true, or false.
func (f *facts) assert(c *fact, p *term, truth bool) *fact {
	p = p.is()
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
		x, y := p.args[0].is(), p.args[1].is()
		one := fact{parent: c, cmp: cmp, bound: y, bits: 64, unsigned: p.unsigned, whole: p}
		out = f.about(one, x)
		one = fact{parent: out, cmp: cmp.mirrored(), bound: x, bits: 64, unsigned: p.unsigned}
		out = f.about(one, y)
	}
	f.asserts[key] = out
	return out
}

// about adds a fact about v, and what follows from it for what v is made of.
func (f *facts) about(one fact, v *term) *fact {
	v = v.is()
	if looks := maxLooks; uniform(v, &looks) { // it has one value in a launch, which a fact cannot narrow
		if one.whole == nil {
			return one.parent
		}
		return &one
	}
	one.target = v
	f.targets[v] = true
	next := one
	next.parent, next.whole = &one, nil
	switch {
	case v.op == termSExt && !one.unsigned || v.op == termZExt:
		if !v.args[0].within(uint8(v.imm)) {
			break // only its low bits were compared
		}
		next.bits, next.unsigned = uint8(v.imm), v.op == termZExt
		return f.about(next, v.args[0])
	case v.op == termAdd || v.op == termSub:
		k := v.args[1].is()
		if k.op != termConst {
			break
		}
		if next.shift += k.imm; v.op == termSub {
			next.shift -= 2 * k.imm
		}
		return f.about(next, v.args[0])
	case v.op == termOr && f.notNegative(&one):
		for _, arg := range v.args {
			next.parent = f.about(next, arg.is().stripZExt(one.bits))
		}
		return next.parent
	}
	return &one
}

// within reports whether v has no more than so many bits.
func (v *term) within(bits uint8) bool {
	v = v.is()
	return v.bits <= bits || (v.op == termSExt || v.op == termZExt) && v.imm <= int64(bits)
}

// notNegative reports whether a fact says that its target has no sign: neither
// has a part of a target that is an or.
func (f *facts) notNegative(one *fact) bool {
	k := one.bound
	return !one.unsigned && one.shift == 0 && k.op == termConst &&
		(one.cmp == cmpGE && k.imm == 0 || one.cmp == cmpGT && k.imm == -1)
}

// stripZExt takes an extension off that adds no sign to so many bits.
func (v *term) stripZExt(bits uint8) *term {
	if v.op == termZExt && v.imm == int64(bits) {
		return v.args[0].is()
	}
	return v
}

// knows lists what c says about v, the oldest first.
func (f *facts) knows(c *fact, v *term) []*fact {
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

// has reports whether one is among the facts of c.
func (c *fact) has(one *fact) bool {
	for ; c != nil; c = c.parent {
		if c == one {
			return true
		}
	}
	return false
}
