package access

import "math"

// stridedProgram computes the strides of addresses. It evaluates a part of the nodes a
// second time, as strided sets, after all of them were evaluated as intervals:
//
//	address  a + 4·(row·pitch + column)     row, column   intervals suffice
//	                                        row·pitch     one level, {pitch, rows}
//	                                        the sum       two, {1, columns} {pitch, rows}
//
// It holds only the nodes that addresses with strides depend on. Kernels over vectors have
// none, so that their launches are evaluated as quickly as without strides.
type stridedProgram struct {
	nodes []nodeID  // in topological order
	slot  []int32   // by node: 1 + its index in nodes and vals; 0 for an interval
	vals  []strided // by index in nodes
	rows  []bool    // by row: some address through this pointer may have strides
	reach []strides // by row, of those: the bytes touched
}

// strides is what a launch may read and write through one pointer, as bytes relative to it.
type strides struct{ read, write strided }

// newStridedProgram returns the program for whole launches, or for their parts (see
// Launch.Within). It returns nil if no address of fp may have strides.
func newStridedProgram(fp *Footprint, whole bool) *stridedProgram {
	steps := spacings(fp.nodes, whole)
	p := &stridedProgram{rows: make([]bool, len(fp.rows)), reach: make([]strides, len(fp.rows))}
	found := false
	for i := range fp.outs {
		if o := &fp.outs[i]; steps[o.addr] == sparse || int64(steps[o.addr]) > o.hi-o.lo {
			p.rows[o.row], found = true, true
		}
	}
	if !found {
		return nil
	}
	p.collect(fp, steps)
	return p
}

// collect fills in the nodes that addresses of rows with strides depend on, except those
// that are intervals in every launch.
func (p *stridedProgram) collect(fp *Footprint, steps []spacing) {
	p.slot = make([]int32, len(fp.nodes))
	need := func(id nodeID) {
		if s := steps[id]; s == sparse || s > 1 {
			p.slot[id] = 1
		}
	}
	for i := range fp.outs {
		if o := &fp.outs[i]; p.rows[o.row] {
			need(o.addr)
		}
	}
	for id := len(fp.nodes) - 1; id >= 0; id-- {
		if n := &fp.nodes[id]; p.slot[id] > 0 && int(n.op) < len(arity) {
			for _, a := range n.args[:arity[n.op]] {
				need(a)
			}
		}
	}
	for id := range p.slot {
		if p.slot[id] > 0 {
			p.nodes = append(p.nodes, nodeID(id))
			p.slot[id] = int32(len(p.nodes))
		}
	}
	p.vals = make([]strided, len(p.nodes))
}

// spacing describes the values of a node in any launch: 0 for one number, n > 0 for multiples
// of n without gaps and a constant, or sparse.
type spacing int64

// sparse is the spacing of a node whose values may have gaps that depend on the launch.
const sparse spacing = -1

// spacings returns the spacings of all nodes. It decides only whether strides are computed,
// so that an error would lose strides and nothing else.
func spacings(nodes []node, whole bool) []spacing {
	s := spacer{whole: whole}
	s.grow(nodes)
	return s.of
}

// spacer computes spacings. whole excludes parts of launches, so that the threads of the grid
// are all there.
type spacer struct {
	nodes []node
	of    []spacing
	whole bool
}

// grow adds the spacings of new nodes.
func (s *spacer) grow(nodes []node) {
	s.nodes = nodes
	for id := len(s.of); id < len(nodes); id++ {
		s.of = append(s.of, 0) // also the argument of nodes without one, if it is node 0
		s.of[id] = s.node(&nodes[id])
	}
}

func (s *spacer) node(n *node) spacing {
	a, b := s.of[n.args[0]], s.of[n.args[1]]
	switch n.op {
	case nodeConst, nodeParam, nodeHolds:
		return 0
	case nodeSpecial:
		if uniformSpecial(n.imm) {
			return 0
		}
		return 1
	case nodeExtend, nodeClamp, nodeMeet, nodeNot:
		return a
	case nodeWhen:
		return b
	case nodeAdd, nodeSub:
		return s.sum(n, a, b)
	case nodeMul:
		return s.product(n, a, b)
	case nodeUnion, nodeMin, nodeMax, nodeOr:
		return joint(a, b)
	case nodeInduct:
		return s.loop(n, a)
	case nodeShl:
		return sparse
	case nodeAnd:
		if c := &s.nodes[n.args[1]]; c.op == nodeConst && c.imm < 0 {
			return sparse
		}
	}
	return 1
}

// joint returns the spacing of a union, a minimum or a maximum.
func joint(a, b spacing) spacing {
	if min(a, b) >= 0 && max(a, b) <= 1 {
		return 1
	}
	return sparse
}

// sum returns the spacing of a sum. The index of a thread in the grid has no gaps, since the
// index in the block is less than the size of the block.
func (s *spacer) sum(n *node, a, b spacing) spacing {
	switch {
	case a == 0:
		return b
	case b == 0 || a == b:
		return a
	case s.gridIndex(n) >= 0:
		return 1
	}
	return sparse
}

// product returns the spacing of a product.
func (s *spacer) product(n *node, a, b spacing) spacing {
	x, y := &s.nodes[n.args[0]], &s.nodes[n.args[1]]
	switch {
	case a == 0 && b == 0:
		return 0
	case y.op == nodeConst && a > 0:
		return a * spacing(max(y.imm, -y.imm))
	case x.op == nodeConst && b > 0:
		return b * spacing(max(x.imm, -x.imm))
	}
	return sparse
}

// loop returns the spacing of a loop variable. Loops of all threads of a block over its size,
// or of the grid over its size, leave no gaps:
//
//	for (i = tid; i < n; i += ntid)                        the axes are the same
//	for (i = ctaid·ntid + tid; i < n; i += ntid·nctaid)
func (s *spacer) loop(n *node, start spacing) spacing {
	if start != 1 {
		return sparse
	}
	first, step := s.stripped(n.args[0]), s.stripped(n.args[1])
	if first.op == nodeSpecial && first.imm < 3 && step.op == nodeSpecial && step.imm == first.imm+6 {
		return 1
	}
	if axis := s.gridIndex(first); s.whole && axis >= 0 && s.isProduct(step, axis+6, axis+9) {
		return 1
	}
	return sparse
}

// stripped returns a node without extensions, and without uniform summands.
func (s *spacer) stripped(id nodeID) *node {
	for {
		n := &s.nodes[id]
		switch {
		case n.op == nodeExtend || n.op == nodeMeet:
			id = n.args[0]
		case n.op == nodeAdd && s.of[n.args[1]] == 0:
			id = n.args[0]
		case n.op == nodeAdd && s.of[n.args[0]] == 0:
			id = n.args[1]
		default:
			return n
		}
	}
}

// gridIndex returns the axis of %ctaid·%ntid + %tid, or -1 if n is something else.
func (s *spacer) gridIndex(n *node) int64 {
	if n.op != nodeAdd {
		return -1
	}
	for k := range 2 {
		x, y := s.stripped(n.args[k]), s.stripped(n.args[1-k])
		if y.op == nodeSpecial && y.imm < 3 && s.isProduct(x, y.imm+3, y.imm+6) {
			return y.imm
		}
	}
	return -1
}

// isProduct reports whether n is the product of two special registers.
func (s *spacer) isProduct(n *node, x, y int64) bool {
	if n.op != nodeMul {
		return false
	}
	p, q := s.stripped(n.args[0]), s.stripped(n.args[1])
	return p.op == nodeSpecial && q.op == nodeSpecial && (p.imm == x && q.imm == y || p.imm == y && q.imm == x)
}

// eval evaluates the program behind the intervals of fp, and computes the reach of its rows.
func (p *stridedProgram) eval(fp *Footprint) {
	var arg [2]strided
	for i, id := range p.nodes {
		n := &fp.nodes[id]
		arg[0], arg[1] = p.value(fp, n.args[0]), p.value(fp, n.args[1])
		p.vals[i] = n.strided(&arg, fp.vals[n.args[2]], fp.vals[id])
	}
	clear(p.reach)
	for row := range p.reach {
		p.reach[row] = strides{gapless(empty), gapless(empty)}
	}
	for i := range fp.outs {
		o := &fp.outs[i]
		if !p.rows[o.row] {
			continue
		}
		bytes, reach := p.bytes(fp, o), &p.reach[o.row]
		if o.access&Read != 0 {
			reach.read = reach.read.union(bytes)
		}
		if o.access&Write != 0 {
			reach.write = reach.write.union(bytes)
		}
	}
}

// value returns the value of a node.
func (p *stridedProgram) value(fp *Footprint, id nodeID) strided {
	if k := p.slot[id]; k > 0 {
		return p.vals[k-1]
	}
	return gapless(fp.vals[id])
}

// bytes returns the bytes of one result relative to its pointer, as Footprint.span does.
func (p *stridedProgram) bytes(fp *Footprint, o *spanOut) strided {
	span := fp.span(o)
	switch {
	case span.Empty():
		return gapless(empty)
	case span == Whole:
		return gapless(all)
	}
	from := interval{o.lo, o.hi - 1}.sub(fp.pointers[o.row])
	return p.value(fp, o.addr).add(gapless(from))
}

// strided computes one node. plain is the value of the node as an interval. trips is that of
// its third argument, the iterations of a loop.
//
// Where the result has no strides, it is plain. Both describe the register in each thread,
// so that either is a result.
func (n *node) strided(arg *[2]strided, trips, plain interval) strided {
	out := n.levels(arg, trips, plain)
	if out.used == 0 {
		return gapless(plain)
	}
	return out
}

// levels returns a set with levels, or any other set if the result has none.
func (n *node) levels(arg *[2]strided, trips, plain interval) strided {
	a, b := arg[0], arg[1]
	switch n.op {
	case nodeExtend:
		return a.extend(n.bits, !n.unsigned)
	case nodeAdd:
		return a.add(b)
	case nodeSub:
		return a.sub(b)
	case nodeNot:
		return gapless(point(-1)).sub(a)
	case nodeMul:
		return a.mul(b)
	case nodeShl:
		if b.single() && b.lo >= 0 && b.lo < int64(min(n.bits, 63)) {
			return a.mul(gapless(point(1 << b.lo)))
		}
	case nodeOr:
		if disjointBits(&a, &b) || disjointBits(&b, &a) {
			return a.add(b)
		}
	case nodeAnd:
		return roundedDown(a.interval, b.interval)
	case nodeMin, nodeMax:
		return n.either(a, b)
	case nodeClamp:
		return a.within(a.clamp(n.cmp, b.interval, n.imm, n.bits, n.unsigned))
	case nodeUnion:
		return a.union(b)
	case nodeMeet:
		return a.meet(b, n.bits)
	case nodeInduct:
		return a.induct(b, trips)
	case nodeWhen:
		if !a.isEmpty() {
			return b
		}
	}
	return gapless(plain)
}

// disjointBits reports whether a has only multiples of a power of two, and b is less than
// that. An "or" of the two is their sum.
func disjointBits(a, b *strided) bool {
	if a.lo < 0 || b.lo < 0 || a.isEmpty() || b.isEmpty() || a.used == 0 && !a.single() {
		return false
	}
	bits := a.lo
	for _, l := range a.levels[:a.used] {
		bits |= l.step
	}
	return bits == 0 || b.hi < bits&-bits
}

// roundedDown returns a & m for m = -2^k: multiples of 2^k.
func roundedDown(a, m interval) strided {
	n, ok := a.extent()
	if !ok || !m.single() || m.lo >= 0 || -m.lo&(-m.lo-1) != 0 || n == 0 {
		return gapless(all)
	}
	lo, hi := a.lo&m.lo, a.hi&m.lo
	return fromLevels(lo, []level{{-m.lo, (hi-lo)/-m.lo + 1}})
}

// either returns the operand that is the minimum or the maximum in every thread.
func (n *node) either(a, b strided) strided {
	low, high := a, b
	if n.op == nodeMax {
		low, high = b, a
	}
	switch {
	case a.isEmpty() || b.isEmpty() || a.large(n.unsigned) || b.large(n.unsigned):
	case low.hi <= high.lo:
		return a
	case high.hi <= low.lo:
		return b
	}
	return gapless(all)
}

// meet returns the more precise of two descriptions of one register. If the register is the
// same number in both, it has the elements of a inside b.
func (a strided) meet(b strided, width uint8) strided {
	if a.used == 0 {
		a, b = b, a
	}
	if a.used == 0 || a.isEmpty() || b.isEmpty() || b.interval == all || !sameNumber(a.interval, b.interval, width) {
		return a
	}
	return a.within(a.intersect(b.interval))
}

// sameNumber reports whether two descriptions of one register describe it by the same
// number: both are inside the range of one type.
func sameNumber(a, b interval, width uint8) bool {
	for _, signed := range [2]bool{true, false} {
		if a.extend(width, signed) == a && b.extend(width, signed) == b {
			return true
		}
	}
	return false
}

// induct returns the values of a variable that starts in a and has a number added in each
// iteration but the last.
func (a strided) induct(step strided, iterations interval) strided {
	if !step.single() || step.lo == 0 || iterations.isEmpty() || iterations.hi == math.MaxInt64 {
		return gapless(all)
	}
	return a.add(step.mul(gapless(interval{0, max(iterations.hi-1, 0)})))
}
