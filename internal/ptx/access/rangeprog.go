package access

import (
	"encoding/binary"
	"math"
)

// nodeID is an index into a range program, a list of nodes whose arguments are earlier
// nodes. The program is built once per kernel, from the SSA values that addresses depend
// on and the facts that hold where they are used. It computes intervals for one launch.
type nodeID int32

// node is one operation on intervals. Nodes are comparable, so that equal ones can be
// shared. Fields that an operation does not use are zero.
type node struct {
	op       nodeOp
	cmp      comparison
	bits     uint8 // width of the operation or of its result, in bits
	unsigned bool
	align    uint8 // nodeTrips: 2^align divides start, offset and bound
	fixed    bool  // nodeTrips: the bound is the same in each iteration
	args     [4]nodeID
	imm      int64
	param    paramRef
}

// nodeOp is an operation. In the comments below, a to d are args[0] to args[3].
type nodeOp uint8

// The operations on intervals. Those up to nodeSpecial have no arguments.
const (
	nodeUnknown nodeOp = iota // any pattern of bits; imm is the index of the reason
	nodeConst                 // imm
	nodeParam                 // bytes of a parameter
	nodeSpecial               // imm is an index into affineSpecials
	nodeExtend                // of a to bits
	nodeAdd                   // a + b
	nodeSub                   // a - b
	nodeMul                   // a * b
	nodeMulHi                 // a * b >> imm
	nodeShl                   // a << b
	nodeShr                   // a >> b
	nodeAnd                   // a & b
	nodeOr                    // a | b
	nodeXor                   // a ^ b
	nodeNot                   // ^a
	nodeAbs                   // |a|
	nodeMin                   // min(a, b)
	nodeMax                   // max(a, b)
	nodeDiv                   // a / b
	nodeRem                   // a % b
	nodeClamp                 // the x of a with x+imm cmp some element of b
	nodeUnion                 // the hull of a and b
	nodeMeet                  // the values that both a and b describe
	nodeInduct                // a loop variable: starts in a, adds an element of b up to c-1 times
	nodeTrips                 // iterations of a loop: a start, b step, c offset, d bound
	nodeHolds                 // 0 if a cmp b is possible, else empty
	nodeWhen                  // b if a is not empty, else empty
)

// arity is the number of arguments of an operation. Operations at the end of nodeOp that
// are missing here have none.
var arity = [...]int{
	nodeExtend: 1, nodeAdd: 2, nodeSub: 2, nodeMul: 2, nodeMulHi: 2, nodeShl: 2, nodeShr: 2,
	nodeAnd: 2, nodeOr: 2, nodeXor: 2, nodeNot: 1, nodeAbs: 1, nodeMin: 2, nodeMax: 2, nodeDiv: 2,
	nodeRem: 2, nodeClamp: 2, nodeUnion: 2, nodeMeet: 2, nodeInduct: 3, nodeTrips: 4, nodeHolds: 2,
	nodeWhen: 2,
}

// Launch is the launch that a footprint is evaluated for. Eval and Outside do not retain
// it.
type Launch struct {
	Grid, Block [3]uint32
	Params      []byte // the parameter block; values beyond its end are unknown
	Varies      []bool // by parameter: its value is not known yet; nil if all are known
	// Work, if not nil, is a budget for calls of Outside in addition to their own bounds.
	// They decrement it for each part of a launch that they evaluate and for each basic
	// block that they execute.
	Work *int

	box *launchBox // restricts the threads; nil for all threads
}

// Within returns the part of l that consists of the blocks first to first+count-1 on each
// axis. Threads keep their indices, and %nctaid keeps the extents of the whole grid. Eval
// and Outside then consider these blocks only. Each count must be at least 1, and the
// blocks must be inside the grid.
func (l *Launch) Within(first, count [3]uint32) Launch {
	part, box := *l, wholeBox(l)
	for axis := range first {
		box[axis] = interval{int64(first[axis]), int64(first[axis]) + int64(count[axis]) - 1}
	}
	part.box = &box
	return part
}

// spend takes one unit of Work, and reports whether one was left.
func (l *Launch) spend() bool {
	if l.Work == nil {
		return true
	}
	if *l.Work <= 0 {
		return false
	}
	*l.Work--
	return true
}

// special returns the interval of a special register, an index into affineSpecials:
//
//	n        0 1 2     3 4 5       6 7 8      9 10 11      12
//	         %tid      %ctaid      %ntid      %nctaid      %laneid
//	axis     x y z     x y z       x y z      x y z
//
// A box lists block indices first, hence (n+3)%6.
func (l *Launch) special(n int64) interval {
	axis := n % 3
	if l.box != nil && n < 6 {
		return l.box[(n+3)%6]
	}
	switch n / 3 {
	case 0:
		return interval{0, int64(l.Block[axis]) - 1}
	case 1:
		return interval{0, int64(l.Grid[axis]) - 1}
	case 2:
		return point(int64(l.Block[axis]))
	case 3:
		return point(int64(l.Grid[axis]))
	}
	return interval{0, 31} // %laneid
}

// value returns the number in some bytes of a parameter, at byte offset at of the
// parameter block. It is the range of its type if the parameter varies or at is unknown.
func (l *Launch) value(ref paramRef, at int) interval {
	width := 8 * ref.size
	if at < 0 || l.Varies != nil && l.Varies[ref.param] || at+int(ref.size) > len(l.Params) {
		return window(width, ref.signed)
	}
	var x uint64
	switch b := l.Params[at:]; ref.size {
	case 8:
		return point(int64(binary.LittleEndian.Uint64(b)))
	case 4:
		x = uint64(binary.LittleEndian.Uint32(b))
	case 2:
		x = uint64(binary.LittleEndian.Uint16(b))
	default:
		x = uint64(b[0])
	}
	if ref.signed {
		return point(signExtend(int64(x), width))
	}
	return point(int64(x))
}

// eval computes one node from the values of its arguments. l may be nil for operations on
// constants.
func (n *node) eval(l *Launch, arg *[4]interval) interval {
	a, b := arg[0], arg[1]
	switch n.op {
	case nodeConst:
		return point(n.imm)
	case nodeParam:
		return l.value(n.param, int(n.imm))
	case nodeSpecial:
		return l.special(n.imm)
	case nodeExtend:
		return a.extend(n.bits, !n.unsigned)
	case nodeAdd:
		return a.add(b)
	case nodeSub:
		return a.sub(b)
	case nodeMul:
		return a.mul(b)
	case nodeMulHi:
		return a.mulHigh(b, uint(n.imm))
	case nodeShl:
		return a.shl(b, n.bits)
	case nodeShr:
		return a.shr(b, n.unsigned)
	case nodeAnd:
		return a.and(b, n.bits)
	case nodeOr:
		return a.or(b, n.bits)
	case nodeXor:
		return a.xor(b, n.bits)
	case nodeNot:
		return point(-1).sub(a)
	case nodeAbs:
		return a.abs()
	case nodeMin:
		return a.min(b, n.unsigned)
	case nodeMax:
		return a.max(b, n.unsigned)
	case nodeDiv:
		return a.div(b, n.unsigned)
	case nodeRem:
		return a.rem(b, n.unsigned)
	case nodeClamp:
		return a.clamp(n.cmp, b, n.imm, n.bits, n.unsigned)
	case nodeUnion:
		return a.union(b)
	case nodeMeet:
		return a.meet(b, n.bits)
	case nodeInduct:
		return a.induct(b, arg[2], n.bits)
	case nodeTrips:
		return n.trips(a, b, arg[2], arg[3])
	case nodeHolds:
		if a.clamp(n.cmp, b, 0, n.bits, n.unsigned).isEmpty() {
			return empty
		}
		return point(0)
	case nodeWhen:
		if a.isEmpty() {
			return empty
		}
		return b
	}
	return full(n.bits)
}

// induct returns the values of a variable that starts in a and has an element
// of step added in each iteration but the last: a + step·[0, iterations-1].
func (a interval) induct(step, iterations interval, width uint8) interval {
	if a.isEmpty() || step.isEmpty() || iterations.isEmpty() || step == point(0) {
		return a
	}
	if iterations.hi == math.MaxInt64 {
		return a.endless(step, width)
	}
	k := interval{0, max(iterations.hi-1, 0)}
	out := a.add(step.mul(k))
	if out == all {
		return full(width)
	}
	return out
}

// endless returns the values of a variable that has a step added in an
// unbounded number of iterations. A 64-bit address that only grows does not
// wrap around to where it started: with steps below 2 GiB it would leave the
// address space first, and fault.
func (a interval) endless(step interval, width uint8) interval {
	switch {
	case width < 64 || a == all:
		return full(width)
	case step.lo >= 0 && step.hi < 1<<31:
		return interval{a.lo, math.MaxInt64}
	case step.hi <= 0 && step.lo > -1<<31:
		return interval{math.MinInt64, a.hi}
	}
	return all
}

// trips bounds the executions of a loop body. The loop continues while "x cmp bound",
// where x is start+offset in the first iteration and grows by a step in each later one:
//
//	x    first    first+step    first+2·step   …  │ bound
//	     ├────────────┼──────────────┼────────────┼─┤
//	     ◄───────────────── gap ───────────────────►
//
// For x < bound the result is at most ceil(gap/step) + 1, with the largest gap and the
// least step. A negative step is handled by negating all numbers.
//
// The result is unbounded in two cases. If x may leave its type, it would wrap around and
// continue. If the loop compares for inequality, it may step over the bound unless the
// step divides the gap, see hits.
func (n *node) trips(start, step, offset, bound interval) interval {
	unbounded := interval{1, math.MaxInt64}
	start = start.extend(n.bits, !n.unsigned)
	step = step.extend(n.bits, true)
	if start.isEmpty() || step.isEmpty() || offset.isEmpty() || bound.isEmpty() {
		return point(1)
	}
	room := window(n.bits, !n.unsigned)
	if n.unsigned && n.bits >= 64 {
		room.lo = 0
	}
	first, cmp := start.add(offset).add(point(n.imm)), n.cmp
	if step.hi < 0 {
		first, bound, step, room, cmp = first.neg(), bound.neg(), step.neg(), room.neg(), cmp.mirrored()
	}
	if cmp == cmpLE {
		bound, cmp = bound.add(point(1)), cmpLT
	}
	spread := interval{0, offset.hi - offset.lo}
	// All values of x must be inside the type. A loop that compares for inequality
	// stops at the bound.
	reach := bound.union(first)
	if cmp != cmpNE {
		reach = bound.add(step).add(spread).union(first)
	}
	gap := bound.sub(first)
	switch {
	case step.lo <= 0, first == all, bound == all, gap == all, reach == all, reach.intersect(room) != reach:
		return unbounded
	case cmp == cmpLT:
	case cmp == cmpNE && gap.lo >= 0 && offset.single() && n.hits(gap, step):
	default:
		return unbounded
	}
	if gap.hi <= 0 {
		return point(1)
	}
	return interval{1, (gap.hi-1)/step.lo + 2}
}

// hits reports whether x reaches the bound exactly, as a loop that compares for
// inequality requires: the bound is fixed, and the step divides the gap.
func (n *node) hits(gap, step interval) bool {
	switch {
	case !n.fixed || !step.single():
		return false
	case step.lo == 1 || n.align < 62 && (int64(1)<<n.align)%step.lo == 0:
		return true
	}
	return gap.single() && gap.lo%step.lo == 0
}
