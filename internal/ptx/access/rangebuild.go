package access

import "math/bits"

// rangeBuilder translates SSA values into nodes of a range program.
//
// A value is built for the facts that hold where it is used, so one value may have
// several nodes:
//
//	i                     term i, facts nil            node 7, [0, 255]
//	if (i < n) x[i] …     term i, facts i < n          node 9, clamp(7, < n)
//
// Equal nodes are shared. Selections are refined: each operand is built with the fact
// that selects it. Phis of loops become induction nodes, see induction. Everything is
// memoized; the work is bounded by maxEffort.
//
// Invariants: nodes, known and aligned have the same length, and the arguments of a node
// precede it.
type rangeBuilder struct {
	*facts
	nodes   []node
	known   []known         // by node: which ends are decided
	aligned []uint8         // by node: k, where 2^k divides its value in every launch
	ids     map[node]nodeID // interned nodes
	reasons []*Reason       // of unknown nodes; imm is the index
	reason  map[*Reason]int

	built       map[termAt]nodeID
	phis        map[*term]nodeID
	tripCounts  map[int32]nodeID   // by loop header: the bound on its iterations
	live        map[*fact]nodeID   // see alive
	chosen      map[*fact]bool     // facts of selections, which hold for one operand only
	copies      map[[2]*fact]*fact // by new parent and original, see relevant
	deltas      map[[2]*term]delta
	loopReasons map[loopReasonKey]*Reason
	spacing     spacer // for the texts of strides

	// Phis and loops depend on each other in cycles. A request for one that is being
	// built (open) returns an unknown node, and results that depend on such an answer
	// are not memoized.
	open      map[any]int // by *term or header: its depth, the number opened before it
	requested int         // the least depth that was requested while open, since remembered reset it
	effort    int         // values built
}

// loopReasonKey is the key of a reason that points to a loop.
type loopReasonKey struct {
	header int32
	msg    string
}

// delta is the difference between a value and a loop variable; ok is false if
// it is not known.
type delta struct {
	by nodeID
	ok bool
}

// noRequest is the value of requested if no open phi or loop was requested.
const noRequest = 1 << 30 // requested, if no open phi or loop was requested

// termAt is a value where the facts c hold.
type termAt struct {
	v *term
	c *fact
}

// known states which ends of a node's interval are determined by the launch. The other
// ends are those of the node's type: no range is printed for them, and no fact narrows a
// value by them.
type known struct{ lo, hi bool }

func (k known) both() bool { return k.lo && k.hi }

// Bounds on the work for one kernel, in values built. The kernels of this project take at
// most 1024. Above maxRefined, a selection is the union of its operands, built without
// the facts that select them. Above maxEffort, values are unknown.
const (
	maxRefined = 1 << 16
	maxEffort  = 1 << 18
)

// maxVisits bounds the values that one search through operands visits.
const maxVisits = 256

// always is the liveness of code that is reached in every launch.
const always nodeID = -1 // the liveness of code that is reached in every launch

// newRangeBuilder returns a builder with node 0 only.
func newRangeBuilder(s *ssa) *rangeBuilder {
	b := &rangeBuilder{
		facts: newFacts(s), ids: map[node]nodeID{}, reason: map[*Reason]int{},
		built: map[termAt]nodeID{}, phis: map[*term]nodeID{}, tripCounts: map[int32]nodeID{},
		live: map[*fact]nodeID{}, chosen: map[*fact]bool{}, copies: map[[2]*fact]*fact{}, deltas: map[[2]*term]delta{}, loopReasons: map[loopReasonKey]*Reason{},
		open: map[any]int{}, requested: noRequest, spacing: spacer{whole: true},
	}
	b.nodes = append(b.nodes, node{op: nodeUnknown, bits: 64}) // node 0, the value of unused args
	b.known = append(b.known, known{})
	b.aligned = append(b.aligned, 0)
	b.reasons = append(b.reasons, nil)
	return b
}

// add interns a node, after constant folding.
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

// constant returns the node of a number.
func (b *rangeBuilder) constant(x int64) nodeID { return b.add(node{op: nodeConst, imm: x}) }

// unknown returns a node without bounds, with the reason.
func (b *rangeBuilder) unknown(width uint8, why *Reason) nodeID {
	n, ok := b.reason[why]
	if !ok {
		n = len(b.reasons)
		b.reasons = append(b.reasons, why)
		b.reason[why] = n
	}
	return b.add(node{op: nodeUnknown, bits: width, imm: int64(n)})
}

// binary returns a node of two arguments on 64 bits.
func (b *rangeBuilder) binary(op nodeOp, x, y nodeID) nodeID {
	return b.add(node{op: op, bits: 64, args: [4]nodeID{x, y}})
}

// union returns the union of two nodes, either of which may be noNode.
func (b *rangeBuilder) union(x, y nodeID) nodeID {
	if x == y || y == noNode {
		return x
	}
	if x == noNode {
		return y
	}
	return b.binary(nodeUnion, x, y)
}

// noNode is the union of no nodes, see union.
const noNode nodeID = -1

// fold evaluates operations on constants, and removes operations that change
// nothing. It returns false if it cannot simplify n.
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
	// All arguments are numbers: evaluate the operation now.
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
	case n.op == nodeExtend && x.op == nodeSpecial && n.bits >= 32: // indices have at most 31 bits
		return n.args[0], true
	// The parameter is read with the signedness of the extension.
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

// knowledge derives the known ends of n from those of its arguments, by the monotonicity of
// the operation. An end of the result is known if all ends that it is computed from are
// known. For example, the low end of a - b is a.lo - b.hi.
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
	// A product with a constant that is not negative is monotone; others mix both ends.
	case nodeMul, nodeMulHi, nodeShl, nodeXor:
		if c := &b.nodes[n.args[1]]; c.op == nodeConst && c.imm >= 0 && n.op != nodeXor {
			return x
		}
		return known{join.both(), join.both()}
	// Rounding down is monotone. Any other "and" is between 0 and the smaller operand.
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

// extended returns the known ends of an extension. An unsigned number is at
// least 0. An operand that is in the range of its type already is unchanged.
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

// clamped returns the known ends of x after a comparison with bound.
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

// build returns the node of v where c holds.
func (b *rangeBuilder) build(v *term, c *fact) nodeID {
	v = v.resolved()
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
		for _, one := range b.factsOn(c, v) {
			id = b.clamp(id, one)
		}
		return id
	})
}

// relevant returns c without those facts of selections that are about values made after v.
// These facts cannot narrow v. A value depends on later values only through phis, and facts
// of selections do not hold there.
//
// Otherwise a value would be built anew for each path through n nested selections, of which
// there are 2^n. Dropping a fact is always sound: it can only widen a range.
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

// markChosen marks the facts that side adds to c as facts of a selection.
func (b *rangeBuilder) markChosen(side, c *fact) {
	for ; side != nil && side != c; side = side.parent {
		b.chosen[side] = true
	}
}

// remembered memoizes the result of compute, unless the result depends on a phi or loop
// that is still open. Such a result is valid only inside that phi or loop.
//
// open maps each open phi and loop to its depth, and requested is the least depth that was
// requested during compute. compute closes the objects that it opens. A request therefore
// concerns an object that is still open exactly if its depth is less than len(b.open).
func remembered[K comparable](b *rangeBuilder, memo map[K]nodeID, key K, compute func() nodeID) nodeID {
	outer := b.requested
	b.requested = noRequest
	id := compute()
	if b.requested >= len(b.open) {
		b.requested = noRequest
		memo[key] = id
	}
	b.requested = min(b.requested, outer)
	return id
}

// isOpen reports whether a phi or loop is being built, and records the request for
// remembered.
func (b *rangeBuilder) isOpen(what any) bool {
	n, ok := b.open[what]
	if ok {
		b.requested = min(b.requested, n)
	}
	return ok
}

// tooLarge is the reason of values beyond maxEffort, and of accesses of a kernel that is
// too large for a flat program.
var tooLarge = &Reason{Msg: "the kernel is too large for the analysis of ranges, or its loops depend on each other too deeply"}

// clamp narrows node id by a fact about its value. It returns id itself if the bound that
// matters for the comparison is not known.
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

// intervalOps maps operations that are the same on values and on intervals.
var intervalOps = map[termOp]nodeOp{
	termAdd: nodeAdd, termSub: nodeSub, termMul: nodeMul, termMulHi: nodeMulHi, termShl: nodeShl, termShr: nodeShr,
	termAnd: nodeAnd, termOr: nodeOr, termXor: nodeXor, termNot: nodeNot, termAbs: nodeAbs,
	termMin: nodeMin, termMax: nodeMax, termDiv: nodeDiv, termRem: nodeRem,
}

// raw returns the node of v, without the facts about v itself.
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
	op, ok := intervalOps[v.op]
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
	switch n.op { // the width does not matter here: make equal nodes identical
	case nodeAdd, nodeSub, nodeMul, nodeNot, nodeAbs, nodeMin, nodeMax, nodeDiv, nodeRem, nodeShr:
		n.bits = 64
	}
	return b.add(n)
}

// choice returns the union of the two operands of a selection, each built with the fact
// that selects it. For "i < n ? i : n-1" the result is at most n-1 in both cases.
func (b *rangeBuilder) choice(v *term, c *fact) nodeID {
	out := noNode
	for n, truth := range [2]bool{true, false} {
		// Beyond maxRefined, both operands are built with the facts of the selection
		// itself.
		side := c
		if b.effort < maxRefined {
			side = b.assert(c, v.args[0], truth)
			b.markChosen(side, c)
		}
		out = b.union(out, b.onlyIf(side, c, b.build(v.args[1+n], side)))
	}
	return out
}

// onlyIf makes id empty for launches in which some fact that c adds to outer is
// impossible.
func (b *rangeBuilder) onlyIf(c, outer *fact, id nodeID) nodeID {
	out := id
	for ; c != nil && c != outer; c = c.parent {
		if holds := b.holds(c); holds != always {
			out = b.binary(nodeWhen, holds, out)
		}
	}
	return out
}

// alive returns a node that is empty for launches in which no thread reaches a
// place where c holds, or always. This excludes the remainder loop of an
// unrolled loop, and the buffer that a flag does not select.
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

// holds returns a node that is empty if fact c cannot hold in the launch, or
// always.
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

// uniform reports whether v has one value in a launch, known at its start. The
// search stops, with false, after the given number of visits.
func uniform(v *term, visits *int) bool {
	v = v.resolved()
	switch v.op {
	case termConst, termParam:
		return true
	case termSpecial:
		return uniformSpecial(v.imm)
	case termUnknown, termPhi:
		return false
	}
	if *visits--; *visits < 0 {
		return false
	}
	for _, a := range v.args {
		if !uniform(a, visits) {
			return false
		}
	}
	return true
}

// phi returns the union of what arrives over each edge, or the induction node
// of a loop variable.
func (b *rangeBuilder) phi(v *term) nodeID {
	if id, ok := b.phis[v]; ok {
		return id
	}
	if b.isOpen(v) {
		return b.unknown(v.bits, b.loopReason(v.block, "the index changes in this loop by operations that are not analysed"))
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

// loopReason returns a reason that points to the header of a loop.
func (b *rangeBuilder) loopReason(h int32, msg string) *Reason {
	key := loopReasonKey{h, msg}
	why := b.loopReasons[key]
	if why == nil {
		why = &Reason{b.m.File, b.cfg.steps[b.blocks[h].first].in.Pos, msg}
		b.loopReasons[key] = why
	}
	return why
}

// incoming returns the value that enters a phi from outside its loop, and the indices of
// the arguments that arrive over back edges.
//
//	before                 v = phi(before, next)
//	  │
//	header ◄──┐            init: the value of "before", where it is reached
//	  │       │            next: the index of each argument over a back edge
//	body ─────┘
func (b *rangeBuilder) incoming(v *term) (init nodeID, next []int) {
	init = noNode
	for n, p := range b.blocks[v.block].preds {
		if b.back(p, v.block) {
			next = append(next, n)
			continue
		}
		edge := b.along(p, v.block)
		init = b.union(init, b.onlyIf(edge, b.in(b.blocks[v.block].idom), b.build(v.args[n], edge)))
	}
	if init == noNode {
		init = b.unknown(v.bits, nil)
	}
	return init, next
}

// induction returns the node of a phi at a loop header. Two descriptions are true of it
// and are intersected:
//
//   - It starts at init and grows by a step in each iteration: nodeInduct, init +
//     step·[0, trips-1].
//   - It is the union of the values that arrive over its edges. The loop condition,
//     which holds on the back edges, bounds those.
//
// For "for (i = tid; i < n; i += 256)" the first gives tid + 256·[0, trips-1], and the
// second at most n+255.
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
	// The union adds nothing to the induction.
	if k := b.known[around]; !k.lo && !k.hi {
		return id
	}
	return b.add(node{op: nodeMeet, bits: v.bits, args: [4]nodeID{id, around}})
}

// line returns the source line of a block.
func (b *rangeBuilder) line(blk int32) int64 {
	return int64(b.cfg.steps[b.blocks[blk].first].in.Pos.Line)
}

// step returns what one iteration adds to a phi, the union over its back edges.
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

// delta returns x-phi, if x is computed from phi by sums. depth bounds the recursion. A
// delta that is being computed is treated as unknown, so a cycle that does not pass through
// phi is not followed. A result that depends on an open phi or loop is not memoized.
func (b *rangeBuilder) delta(x, phi *term, depth int) (nodeID, bool) {
	x = x.resolved()
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
	outer := b.requested
	b.requested = noRequest
	// Unknown while it is being computed.
	b.deltas[key] = delta{}
	by, ok := b.deltaOf(x, phi, depth-1)
	b.deltas[key] = delta{by, ok}
	if b.requested != noRequest {
		delete(b.deltas, key)
	}
	b.requested = min(b.requested, outer)
	return by, ok
}

// deltaOf computes delta for the operations that it can pass: additions,
// selections and other phis.
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

// eachDelta returns the union of the deltas of several values.
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

// deltaPhi returns the delta of another phi x inside the loop, of one of two kinds:
//
//   - x is a join of branches: its delta is the union of those of its arguments.
//   - x is the variable of an inner loop that starts at a sum with phi: its delta is an
//     induction of its own.
func (b *rangeBuilder) deltaPhi(x, phi *term, depth int) (nodeID, bool) {
	// x must be inside the loop of phi.
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

// trips bounds the iterations of the loop at header h. It takes the minimum of the bounds
// that follow from the conditions of its back edges. A loop that is being built is
// unbounded in its own description.
func (b *rangeBuilder) trips(h int32) nodeID {
	if id, ok := b.tripCounts[h]; ok {
		return id
	}
	unbounded := b.unknown(64, b.loopReason(h, "the number of iterations of this loop has no known bound"))
	if b.isOpen(h) {
		return unbounded
	}
	return remembered(b, b.tripCounts, h, func() nodeID {
		b.open[h] = len(b.open)
		defer delete(b.open, h)
		out := noNode
		for _, one := range b.backEdgeFacts(h) {
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

// backEdgeFacts returns the facts that hold on all back edges of the loop at h, and
// not already outside of it.
func (b *rangeBuilder) backEdgeFacts(h int32) []*fact {
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

// tripsBy returns the bound that follows from one fact, "target+shift cmp bound", if its
// target is a sum with a variable of the loop: target = phi + offset. The formula is that
// of node.trips.
func (b *rangeBuilder) tripsBy(one *fact, h int32) (nodeID, bool) {
	if one.target == nil {
		return 0, false
	}
	visits := maxVisits
	phi := findPhi(one.target, h, &visits)
	if phi == nil {
		return 0, false
	}
	// start, step, offset and bound are the arguments of node.trips.
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
	visits = maxVisits
	n.fixed = b.invariant(one.bound, h, &visits)
	n.align = min(b.aligned[init], b.aligned[offset], b.aligned[bound], alignOf(one.shift))
	if k := b.knowledge(&n); !k.both() {
		return 0, false
	}
	return b.add(n), true
}

// findPhi searches a sum for a variable of the loop at h. Values that sums
// share lie on many paths, so visits bounds the search.
func findPhi(x *term, h int32, visits *int) *term {
	x = x.resolved()
	switch *visits--; {
	case x.op == termPhi && x.block == h:
		return x
	case *visits < 0 || x.op != termAdd && x.op != termSub:
		return nil
	}
	for _, a := range x.args {
		if phi := findPhi(a, h, visits); phi != nil {
			return phi
		}
	}
	return nil
}

// invariant reports whether v is the same in each iteration of the loop at h.
// The search stops, with false, after the given number of visits.
func (b *rangeBuilder) invariant(v *term, h int32, visits *int) bool {
	v = v.resolved()
	switch v.op {
	case termConst, termParam, termSpecial:
		return true
	}
	if v.block != h && b.dominates(v.block, h) {
		return true
	}
	if *visits--; v.op == termPhi || v.op == termUnknown || *visits < 0 {
		return false
	}
	for _, a := range v.args {
		if !b.invariant(a, h, visits) {
			return false
		}
	}
	return true
}

// alignment computes aligned for a node from that of its args. It is stored for
// each node: a recursive walk would visit each path of a sum of sums.
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

// alignOf returns the largest k, at most 62, such that 2^k divides x.
func alignOf(x int64) uint8 {
	if x == 0 {
		return 62
	}
	return uint8(min(62, bits.TrailingZeros64(uint64(x))))
}
