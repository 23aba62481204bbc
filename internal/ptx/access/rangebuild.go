package access

import "math/bits"

// rangeBuilder turns SSA values into nodes.
type rangeBuilder struct {
	*facts
	nodes   []node
	known   []known // by node
	aligned []uint8 // by node: the power of two that divides it, whatever the launch
	ids     map[node]nodeID
	reasons []*Reason
	reason  map[*Reason]int

	built  map[termAt]nodeID
	phis   map[*term]nodeID
	turns  map[int32]nodeID // by loop header
	live   map[*fact]nodeID
	chosen map[*fact]bool     // facts of selections, which hold for one operand
	copies map[[2]*fact]*fact // by new parent and original
	deltas map[[2]*term]delta
	turnAt map[turnReason]*Reason

	// Phis and loops are built while others are that ask for them. One that is
	// open counts as unknown, and what depends on that is not remembered.
	open   map[any]int // by *term or header: how many were open before it
	asked  int         // the least open one that was asked for since it was last looked at
	effort int
}

type turnReason struct {
	header int32
	msg    string
}

// delta is how much a value differs from a variable of a loop.
type delta struct {
	by nodeID
	ok bool
}

const noneAsked = 1 << 30

type termAt struct {
	v *term
	c *fact
}

// known says which ends of a node's interval a launch decides; the others are
// those of a type.
type known struct{ lo, hi bool }

func (k known) both() bool { return k.lo && k.hi }

// Bounds of the work on one kernel, in values built; none of this project takes
// more than 1024. Past maxRefined a selection is either of its operands whatever its
// condition says; past maxEffort what comes is unknown.
const (
	maxRefined = 1 << 16
	maxEffort  = 1 << 18
)

// maxLooks bounds how many values one question about where a value comes from looks at.
const maxLooks = 256

const always nodeID = -1 // of liveness

func newRangeBuilder(s *ssa) *rangeBuilder {
	b := &rangeBuilder{
		facts: newFacts(s), ids: map[node]nodeID{}, reason: map[*Reason]int{},
		built: map[termAt]nodeID{}, phis: map[*term]nodeID{}, turns: map[int32]nodeID{},
		live: map[*fact]nodeID{}, chosen: map[*fact]bool{}, copies: map[[2]*fact]*fact{}, deltas: map[[2]*term]delta{}, turnAt: map[turnReason]*Reason{},
		open: map[any]int{}, asked: noneAsked,
	}
	b.nodes = append(b.nodes, node{op: nodeUnknown, bits: 64}) // what unused args name
	b.known = append(b.known, known{})
	b.aligned = append(b.aligned, 0)
	b.reasons = append(b.reasons, nil)
	return b
}

// add returns the node like n, folded if it is a constant.
func (b *rangeBuilder) add(n node) nodeID {
	if id, ok := b.ids[n]; ok {
		return id
	}
	if id, ok := b.fold(n); ok {
		return id
	}
	id := nodeID(len(b.nodes))
	b.nodes = append(b.nodes, n)
	b.known = append(b.known, b.knowledge(&n))
	b.aligned = append(b.aligned, b.alignment(&n))
	b.ids[n] = id
	return id
}

func (b *rangeBuilder) constant(x int64) nodeID { return b.add(node{op: nodeConst, imm: x}) }

func (b *rangeBuilder) unknown(width uint8, why *Reason) nodeID {
	n, ok := b.reason[why]
	if !ok {
		n = len(b.reasons)
		b.reasons = append(b.reasons, why)
		b.reason[why] = n
	}
	return b.add(node{op: nodeUnknown, bits: width, imm: int64(n)})
}

func (b *rangeBuilder) binary(op nodeOp, x, y nodeID) nodeID {
	return b.add(node{op: op, bits: 64, args: [4]nodeID{x, y}})
}

func (b *rangeBuilder) union(x, y nodeID) nodeID {
	if x == y || y == noNode {
		return x
	}
	if x == noNode {
		return y
	}
	return b.binary(nodeUnion, x, y)
}

const noNode nodeID = -1

// fold computes what only constants enter, and drops what changes nothing.
func (b *rangeBuilder) fold(n node) (nodeID, bool) {
	k := 0
	if int(n.op) < len(arity) {
		k = arity[n.op]
	}
	if k == 0 {
		return 0, false
	}
	constants := true
	for _, a := range n.args[:k] {
		constants = constants && b.nodes[a].op == nodeConst
	}
	x, y := &b.nodes[n.args[0]], &b.nodes[n.args[1]]
	switch {
	case constants:
		var arg [4]interval
		for i, a := range n.args[:k] {
			arg[i] = point(b.nodes[a].imm)
		}
		if v := n.eval(nil, &arg); v.single() {
			return b.constant(v.lo), true
		}
	case (n.op == nodeAdd || n.op == nodeSub) && y.op == nodeConst && y.imm == 0:
		return n.args[0], true
	case n.op == nodeAdd && x.op == nodeConst && x.imm == 0:
		return n.args[1], true
	case n.op == nodeMul && y.op == nodeConst && y.imm == 1:
		return n.args[0], true
	case n.op == nodeExtend && n.bits >= 64:
		return n.args[0], true
	case n.op == nodeExtend && x.op == nodeExtend && x.bits == n.bits && x.unsigned == n.unsigned:
		return n.args[0], true
	case n.op == nodeExtend && x.op == nodeSpecial && n.bits >= 32: // no launch has so many threads
		return n.args[0], true
	case n.op == nodeExtend && x.op == nodeParam && n.bits == 8*x.param.size:
		p := *x
		p.param.signed = !n.unsigned
		return b.add(p), true
	case (n.op == nodeAdd || n.op == nodeSub || n.op == nodeMul) && x.op == nodeUnknown && x.bits >= 32:
		return b.add(node{op: nodeUnknown, bits: 64, imm: x.imm}), true
	case (n.op == nodeAdd || n.op == nodeSub || n.op == nodeMul) && y.op == nodeUnknown && y.bits >= 32:
		return b.add(node{op: nodeUnknown, bits: 64, imm: y.imm}), true
	}
	return 0, false
}

// knowledge says which ends of n are known, given its args.
func (b *rangeBuilder) knowledge(n *node) known {
	x, y := b.known[n.args[0]], b.known[n.args[1]]
	join := known{x.lo && y.lo, x.hi && y.hi}
	cross := known{x.lo && y.hi, x.hi && y.lo}
	switch n.op {
	case nodeUnknown:
		return known{n.bits <= 16, n.bits <= 16}
	case nodeConst, nodeParam, nodeSpecial, nodeHolds:
		return known{true, true}
	case nodeExtend:
		return b.extended(n, x)
	case nodeAdd, nodeUnion, nodeOr:
		return join
	case nodeSub:
		return cross
	case nodeNot:
		return known{x.hi, x.lo}
	case nodeAbs:
		return known{true, x.both()}
	case nodeShr, nodeDiv:
		return known{x.lo && y.both(), x.hi && y.both()}
	case nodeMul, nodeMulHi, nodeShl, nodeXor:
		if c := &b.nodes[n.args[1]]; c.op == nodeConst && c.imm >= 0 && n.op != nodeXor {
			return x
		}
		return known{join.both(), join.both()}
	case nodeAnd:
		if c := &b.nodes[n.args[1]]; c.op == nodeConst && c.imm < 0 {
			return x
		}
		return known{true, x.hi || y.hi}
	case nodeMin:
		return known{x.lo && y.lo, x.hi || y.hi}
	case nodeMax:
		return known{x.lo || y.lo, x.hi && y.hi}
	case nodeRem:
		return known{y.both(), y.both()}
	case nodeClamp:
		return clamped(n, x, y)
	case nodeMeet:
		return known{x.lo || y.lo, x.hi || y.hi}
	case nodeInduct, nodeTrips:
		ok := join.both() && b.known[n.args[2]].hi && (n.op == nodeInduct || b.known[n.args[3]].both())
		return known{ok || n.op == nodeTrips, ok}
	case nodeWhen:
		return y
	}
	return known{}
}

// extended is what is known of an extension: an unsigned number is at least 0,
// and one that is in its type already stays as it is.
func (b *rangeBuilder) extended(n *node, x known) known {
	if n.bits <= 16 || x.both() {
		return known{true, true}
	}
	switch b.nodes[n.args[0]].op {
	case nodeClamp, nodeExtend, nodeMeet, nodeUnion, nodeMin, nodeMax:
		return known{x.lo || n.unsigned, x.hi}
	}
	return known{n.unsigned, false}
}

func clamped(n *node, x, bound known) known {
	switch n.cmp {
	case cmpLT, cmpLE:
		return known{x.lo || n.unsigned && bound.hi, x.hi || bound.hi}
	case cmpGT, cmpGE:
		return known{x.lo || bound.lo, x.hi}
	case cmpEQ:
		return known{x.lo || bound.lo, x.hi || bound.hi}
	}
	return x
}

// build is the node of v where c holds.
func (b *rangeBuilder) build(v *term, c *fact) nodeID {
	v = v.is()
	c = b.relevant(c, v)
	key := termAt{v, c}
	if id, ok := b.built[key]; ok {
		return id
	}
	if b.effort++; b.effort > maxEffort {
		return b.unknown(v.bits, tooLarge)
	}
	return remembered(b, b.built, key, func() nodeID {
		id := b.raw(v, c)
		for _, one := range b.knows(c, v) {
			id = b.clamp(id, one)
		}
		return id
	})
}

// relevant is c without the facts of selections that are about values made after v,
// of which v cannot be made, but through phis, where no fact of a selection counts.
// Without it a value would be built anew for each path through nested selections, of
// which there are 2^n. Leaving out facts can only make a range wider.
func (b *rangeBuilder) relevant(c *fact, v *term) *fact {
	if c == nil || !b.chosen[c] {
		return c
	}
	parent := b.relevant(c.parent, v)
	switch {
	case c.target == nil || c.target.id > v.id:
		return parent
	case parent == c.parent:
		return c
	}
	key := [2]*fact{parent, c}
	one := b.copies[key]
	if one == nil {
		copied := *c
		copied.parent = parent
		one = &copied
		b.copies[key], b.chosen[one] = one, true
	}
	return one
}

// choose marks the facts that side has and c has not as those of a selection.
func (b *rangeBuilder) choose(side, c *fact) {
	for ; side != nil && side != c; side = side.parent {
		b.chosen[side] = true
	}
}

// remembered computes a node and keeps it, unless it depends on what is open.
func remembered[K comparable](b *rangeBuilder, memo map[K]nodeID, key K, compute func() nodeID) nodeID {
	outer := b.asked
	b.asked = noneAsked
	id := compute()
	if b.asked >= len(b.open) {
		b.asked = noneAsked
		memo[key] = id
	}
	b.asked = min(b.asked, outer)
	return id
}

// opened reports whether what is open, and notes that somebody asked.
func (b *rangeBuilder) opened(what any) bool {
	n, ok := b.open[what]
	if ok {
		b.asked = min(b.asked, n)
	}
	return ok
}

var tooLarge = &Reason{Msg: "the loops of the kernel are too entangled for ranges, or it is too large"}

// clamp applies a fact about the value of node id.
func (b *rangeBuilder) clamp(id nodeID, one *fact) nodeID {
	bound := b.build(one.bound, one.parent)
	n := node{op: nodeClamp, cmp: one.cmp, bits: one.bits, unsigned: one.unsigned, imm: one.shift}
	n.args[0] = b.add(node{op: nodeExtend, bits: one.bits, unsigned: one.unsigned, args: [4]nodeID{id}})
	n.args[1] = bound
	if k := b.known[bound]; !k.hi && (n.cmp == cmpLT || n.cmp == cmpLE) || !k.lo && (n.cmp == cmpGT || n.cmp == cmpGE) || !k.both() && n.cmp <= cmpNE {
		return id
	}
	return b.add(n)
}

// plain maps operations that are the same on values and on intervals.
var plain = map[termOp]nodeOp{
	termAdd: nodeAdd, termSub: nodeSub, termMul: nodeMul, termMulHi: nodeMulHi, termShl: nodeShl, termShr: nodeShr,
	termAnd: nodeAnd, termOr: nodeOr, termXor: nodeXor, termNot: nodeNot, termAbs: nodeAbs,
	termMin: nodeMin, termMax: nodeMax, termDiv: nodeDiv, termRem: nodeRem,
}

// raw is the node of v but for the facts about v itself.
func (b *rangeBuilder) raw(v *term, c *fact) nodeID {
	switch v.op {
	case termUnknown:
		return b.unknown(v.bits, v.why)
	case termConst:
		return b.constant(v.imm)
	case termParam:
		at := b.kernel.Params[v.param.param].Offset + int(v.param.off)
		return b.add(node{op: nodeParam, param: v.param, imm: int64(at)})
	case termSpecial:
		return b.add(node{op: nodeSpecial, imm: v.imm})
	case termSExt, termZExt:
		x := b.build(v.args[0], c)
		return b.add(node{op: nodeExtend, bits: uint8(v.imm), unsigned: v.op == termZExt, args: [4]nodeID{x}})
	case termSelect:
		return b.choice(v, c)
	case termPhi:
		return b.phi(v)
	}
	op, ok := plain[v.op]
	if !ok { // a predicate as a number
		return b.unknown(64, nil)
	}
	n := node{op: op, bits: v.bits, unsigned: v.unsigned, imm: v.imm}
	n.args[0] = b.build(v.args[0], c)
	if arity[op] > 1 {
		n.args[1] = b.build(v.args[1], c)
	}
	if k := &b.nodes[n.args[1]]; op == nodeShl && k.op == nodeConst && k.imm >= 0 && k.imm < int64(min(v.bits, 63)) {
		n = node{op: nodeMul, bits: v.bits, args: [4]nodeID{n.args[0], b.constant(1 << k.imm)}}
	}
	switch n.op { // nodes that mean the same are to be the same
	case nodeAdd, nodeSub, nodeMul, nodeNot, nodeAbs, nodeMin, nodeMax, nodeDiv, nodeRem, nodeShr:
		n.bits = 64
	}
	return b.add(n)
}

// choice is either of two values, each where the predicate lets it through.
func (b *rangeBuilder) choice(v *term, c *fact) nodeID {
	out := noNode
	for n, truth := range [2]bool{true, false} {
		side := c
		if b.effort < maxRefined {
			side = b.assert(c, v.args[0], truth)
			b.choose(side, c)
		}
		out = b.union(out, b.when(side, c, b.build(v.args[1+n], side)))
	}
	return out
}

// when is id where the facts of c that those of outer do not hold are possible.
func (b *rangeBuilder) when(c, outer *fact, id nodeID) nodeID {
	out := id
	for ; c != nil && c != outer; c = c.parent {
		if holds := b.holds(c); holds != always {
			out = b.binary(nodeWhen, holds, out)
		}
	}
	return out
}

// alive is empty for a launch no thread of which gets to where c holds. This is
// what tells that a loop of an unrolled copy does not run, and which of two
// buffers a flag chooses.
func (b *rangeBuilder) alive(c *fact) nodeID {
	if c == nil {
		return always
	}
	if id, ok := b.live[c]; ok {
		return id
	}
	id := b.alive(c.parent)
	if holds := b.holds(c); holds != always {
		if id == always {
			id = holds
		} else {
			id = b.binary(nodeWhen, id, holds)
		}
	}
	b.live[c] = id
	return id
}

// holds is empty if c cannot hold in this launch.
func (b *rangeBuilder) holds(c *fact) nodeID {
	if c.whole == nil {
		return always
	}
	x, y := b.build(c.whole.args[0], c.parent), b.build(c.whole.args[1], c.parent)
	if !b.known[x].both() || !b.known[y].both() {
		return always
	}
	return b.add(node{op: nodeHolds, cmp: c.cmp, bits: 64, unsigned: c.unsigned, args: [4]nodeID{x, y}})
}

// uniform reports whether v is the same for all threads of a launch and known
// when it starts; what takes more looks to tell counts as not.
func uniform(v *term, looks *int) bool {
	v = v.is()
	switch v.op {
	case termConst, termParam:
		return true
	case termSpecial:
		return v.imm >= 6 && v.imm < 12 // %ntid and %nctaid
	case termUnknown, termPhi:
		return false
	}
	if *looks--; *looks < 0 {
		return false
	}
	for _, a := range v.args {
		if !uniform(a, looks) {
			return false
		}
	}
	return true
}

// phi joins what comes in over each edge.
func (b *rangeBuilder) phi(v *term) nodeID {
	if id, ok := b.phis[v]; ok {
		return id
	}
	if b.opened(v) {
		return b.unknown(v.bits, b.turn(v.block, "the index changes in a loop here in a way that is not followed"))
	}
	return remembered(b, b.phis, v, func() nodeID {
		b.open[v] = len(b.open)
		defer delete(b.open, v)
		init, next := b.incoming(v)
		if len(next) == 0 {
			return init
		}
		return b.induction(v, init, next)
	})
}

// turn is a reason that points at the top of a loop.
func (b *rangeBuilder) turn(h int32, msg string) *Reason {
	key := turnReason{h, msg}
	why := b.turnAt[key]
	if why == nil {
		why = &Reason{b.m.File, b.cfg.steps[b.blocks[h].first].in.Pos, msg}
		b.turnAt[key] = why
	}
	return why
}

// incoming is what enters a phi from outside its loop, and the arguments that
// come around it.
func (b *rangeBuilder) incoming(v *term) (init nodeID, next []int) {
	init = noNode
	for n, p := range b.blocks[v.block].preds {
		if b.back(p, v.block) {
			next = append(next, n)
			continue
		}
		edge := b.along(p, v.block)
		init = b.union(init, b.when(edge, b.in(b.blocks[v.block].idom), b.build(v.args[n], edge)))
	}
	if init == noNode {
		init = b.unknown(v.bits, nil)
	}
	return init, next
}

// induction is a phi at the top of a loop: it starts at init and has a step
// added at each turn. Besides, it is what comes in over one of its edges, which
// the condition of the loop bounds.
func (b *rangeBuilder) induction(v *term, init nodeID, next []int) nodeID {
	around := init
	for _, n := range next {
		around = b.union(around, b.build(v.args[n], b.along(b.blocks[v.block].preds[n], v.block)))
	}
	step, ok := b.step(v, next)
	if !ok {
		return around
	}
	id := b.add(node{op: nodeInduct, bits: v.bits, args: [4]nodeID{init, step, b.trips(v.block)}, imm: b.line(v.block)})
	if k := b.known[around]; !k.lo && !k.hi {
		return id
	}
	return b.add(node{op: nodeMeet, bits: v.bits, args: [4]nodeID{id, around}})
}

// line is where a block starts.
func (b *rangeBuilder) line(blk int32) int64 {
	return int64(b.cfg.steps[b.blocks[blk].first].in.Pos.Line)
}

// step is what one turn adds to a phi.
func (b *rangeBuilder) step(v *term, next []int) (nodeID, bool) {
	step := noNode
	for _, n := range next {
		d, ok := b.delta(v.args[n], v, 512)
		if !ok {
			return 0, false
		}
		step = b.union(step, d)
	}
	return step, true
}

// delta is x minus phi, where x is computed from phi by sums alone.
func (b *rangeBuilder) delta(x, phi *term, depth int) (nodeID, bool) {
	x = x.is()
	if x == phi {
		return b.constant(0), true
	}
	key := [2]*term{x, phi}
	if d, ok := b.deltas[key]; ok {
		return d.by, d.ok
	}
	if depth == 0 {
		return 0, false
	}
	outer := b.asked
	b.asked = noneAsked
	b.deltas[key] = delta{} // until it is known: a way back to x alone is not followed
	by, ok := b.deltaOf(x, phi, depth-1)
	b.deltas[key] = delta{by, ok}
	if b.asked != noneAsked {
		delete(b.deltas, key)
	}
	b.asked = min(b.asked, outer)
	return by, ok
}

func (b *rangeBuilder) deltaOf(x, phi *term, depth int) (nodeID, bool) {
	switch x.op {
	case termAdd, termSub:
		if d, ok := b.delta(x.args[0], phi, depth); ok {
			op := nodeAdd
			if x.op == termSub {
				op = nodeSub
			}
			return b.binary(op, d, b.build(x.args[1], b.in(x.block))), true
		}
		if x.op == termSub {
			return 0, false
		}
		if d, ok := b.delta(x.args[1], phi, depth); ok {
			return b.binary(nodeAdd, d, b.build(x.args[0], b.in(x.block))), true
		}
	case termSelect:
		return b.eachDelta(x.args[1:], phi, depth)
	case termPhi:
		return b.deltaPhi(x, phi, depth)
	}
	return 0, false
}

// eachDelta joins the deltas of several values.
func (b *rangeBuilder) eachDelta(xs []*term, phi *term, depth int) (nodeID, bool) {
	out := noNode
	for _, x := range xs {
		d, ok := b.delta(x, phi, depth)
		if !ok {
			return 0, false
		}
		out = b.union(out, d)
	}
	return out, out != noNode
}

// deltaPhi is the delta of another phi in the loop: a join, or the variable of
// an inner loop that started from phi.
func (b *rangeBuilder) deltaPhi(x, phi *term, depth int) (nodeID, bool) {
	if x.block == phi.block || !b.dominates(phi.block, x.block) {
		return 0, false
	}
	var outside []*term
	var next []int
	for n, p := range b.blocks[x.block].preds {
		if b.back(p, x.block) {
			next = append(next, n)
		} else {
			outside = append(outside, x.args[n])
		}
	}
	start, ok := b.eachDelta(outside, phi, depth)
	if !ok || len(next) == 0 {
		return start, ok
	}
	step, ok := b.step(x, next)
	if !ok {
		return 0, false
	}
	return b.add(node{op: nodeInduct, bits: 64, args: [4]nodeID{start, step, b.trips(x.block)}, imm: b.line(x.block)}), true
}

// trips bounds how often the loop at header h runs, from each condition that
// every turn but the last fulfils.
func (b *rangeBuilder) trips(h int32) nodeID {
	if id, ok := b.turns[h]; ok {
		return id
	}
	unbounded := b.unknown(64, b.turn(h, "no bound is known for the loop here"))
	if b.opened(h) {
		return unbounded
	}
	return remembered(b, b.turns, h, func() nodeID {
		b.open[h] = len(b.open)
		defer delete(b.open, h)
		out := noNode
		for _, one := range b.everyTurn(h) {
			id, ok := b.tripsBy(one, h)
			switch {
			case !ok:
			case out == noNode:
				out = id
			default:
				out = b.binary(nodeMin, out, id)
			}
		}
		if out == noNode {
			return unbounded
		}
		return out
	})
}

// everyTurn lists the facts that hold whenever the loop at h goes around.
func (b *rangeBuilder) everyTurn(h int32) []*fact {
	var edges []*fact
	for _, p := range b.blocks[h].preds {
		if b.back(p, h) {
			edges = append(edges, b.along(p, h))
		}
	}
	var list []*fact
	outer := b.in(h)
next:
	for c := edges[0]; c != nil && c != outer; c = c.parent {
		for _, e := range edges[1:] {
			if !e.has(c) {
				continue next
			}
		}
		list = append(list, c)
	}
	return list
}

// tripsBy is the bound that one fact gives, if it is about a variable of the loop.
func (b *rangeBuilder) tripsBy(one *fact, h int32) (nodeID, bool) {
	if one.target == nil {
		return 0, false
	}
	looks := maxLooks
	phi := findPhi(one.target, h, &looks)
	if phi == nil {
		return 0, false
	}
	init, next := b.incoming(phi)
	step, ok := b.step(phi, next)
	if !ok {
		return 0, false
	}
	offset, ok := b.delta(one.target, phi, 512)
	if !ok {
		return 0, false
	}
	bound := b.build(one.bound, one.parent)
	n := node{op: nodeTrips, cmp: one.cmp, bits: one.bits, unsigned: one.unsigned, imm: one.shift}
	n.args = [4]nodeID{init, step, offset, bound}
	looks = maxLooks
	n.fixed = b.invariant(one.bound, h, &looks)
	n.align = min(b.aligned[init], b.aligned[offset], b.aligned[bound], alignOf(one.shift))
	if k := b.knowledge(&n); !k.both() {
		return 0, false
	}
	return b.add(n), true
}

// findPhi looks in a sum for a variable of the loop at h, with so many looks: values
// that sums share lie on many paths.
func findPhi(x *term, h int32, looks *int) *term {
	x = x.is()
	switch *looks--; {
	case x.op == termPhi && x.block == h:
		return x
	case *looks < 0 || x.op != termAdd && x.op != termSub:
		return nil
	}
	for _, a := range x.args {
		if phi := findPhi(a, h, looks); phi != nil {
			return phi
		}
	}
	return nil
}

// invariant reports whether v is the same at each turn of the loop at h; what takes
// more looks to tell counts as not.
func (b *rangeBuilder) invariant(v *term, h int32, looks *int) bool {
	v = v.is()
	switch v.op {
	case termConst, termParam, termSpecial:
		return true
	}
	if v.block != h && b.dominates(v.block, h) {
		return true
	}
	if *looks--; v.op == termPhi || v.op == termUnknown || *looks < 0 {
		return false
	}
	for _, a := range v.args {
		if !b.invariant(a, h, looks) {
			return false
		}
	}
	return true
}

// alignment is what aligned holds for a node, from that of its arguments: without
// what is known of them a sum of sums would be walked once for each of its paths.
func (b *rangeBuilder) alignment(n *node) uint8 {
	of := func(i int) uint8 { return b.aligned[n.args[i]] }
	switch n.op {
	case nodeConst:
		return alignOf(n.imm)
	case nodeAnd:
		return max(of(0), of(1))
	case nodeAdd, nodeSub, nodeUnion, nodeInduct:
		return min(of(0), of(1))
	case nodeMul:
		return min(62, of(0)+of(1))
	case nodeExtend, nodeClamp:
		return min(of(0), n.bits) // a multiple of 2^bits wraps to 0
	case nodeWhen:
		return of(1)
	}
	return 0
}

func alignOf(x int64) uint8 {
	if x == 0 {
		return 62
	}
	return uint8(min(62, bits.TrailingZeros64(uint64(x))))
}
