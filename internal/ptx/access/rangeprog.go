package access

import (
	"encoding/binary"
	"math"
)

// A range program computes intervals for one launch: a list of nodes, each from
// earlier ones. It is built once per kernel, from the SSA values that addresses
// depend on and the facts that hold where they are used.

type nodeID int32

// node is one operation on intervals.
type node struct {
	op       nodeOp
	cmp      comparison
	bits     uint8
	unsigned bool
	align    uint8 // of trips: 2^align divides start, offset and bound
	fixed    bool  // of trips: the bound is the same at each turn
	args     [4]nodeID
	imm      int64
	param    paramRef
}

type nodeOp uint8

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
	nodeClamp                 // those x of a with x+imm cmp b
	nodeUnion                 // a or b
	nodeMeet                  // a and b
	nodeInduct                // a, a+s, a+s+s, …: c-1 times some s of b
	nodeTrips                 // how often a loop runs: a start, b step, c offset, d bound
	nodeHolds                 // 0 if a cmp b can hold, else nothing
	nodeWhen                  // b if a is not empty
)

// arity is how many of a node's args count.
var arity = [...]int{
	nodeExtend: 1, nodeAdd: 2, nodeSub: 2, nodeMul: 2, nodeMulHi: 2, nodeShl: 2, nodeShr: 2,
	nodeAnd: 2, nodeOr: 2, nodeXor: 2, nodeNot: 1, nodeAbs: 1, nodeMin: 2, nodeMax: 2, nodeDiv: 2,
	nodeRem: 2, nodeClamp: 2, nodeUnion: 2, nodeMeet: 2, nodeInduct: 3, nodeTrips: 4, nodeHolds: 2,
	nodeWhen: 2,
}

// Launch is what a footprint is computed for.
type Launch struct {
	Grid, Block [3]uint32
	Params      []byte // the parameter block
	Varies      []bool // by parameter: its value is not known yet; nil for none
	// Work is what calls of Outside may still do, beside their own bounds, and they count it down: parts of launches that they look at,
	// and basic blocks that threads run. Nil means that their own bounds suffice.
	Work *int

	box *launchBox // the threads that count; nil for all
}

// spend takes one from Work, and reports whether there was one.
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

// special is the interval of a special register.
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

// value is the number in some bytes of a parameter of f.
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

// eval computes one node from its args.
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

// induct is what a variable holds that starts in a and has a step added at each
// turn but the last.
func (a interval) induct(step, turns interval, width uint8) interval {
	if a.isEmpty() || step.isEmpty() || turns.isEmpty() || step == point(0) {
		return a
	}
	if turns.hi == math.MaxInt64 {
		return a.endless(step, width)
	}
	k := interval{0, max(turns.hi-1, 0)}
	out := a.add(step.mul(k))
	if out == all {
		return full(width)
	}
	return out
}

// endless is what a variable holds that has a step added over and over. An address
// that only grows does not get back to where it started: at up to 2 GiB a turn
// it would leave all memory there is before.
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

// trips bounds how often the body of a loop runs that goes on only while
// "x cmp bound", with x = start+offset at the first turn and a step more at
// each that follows.
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
	if step.hi < 0 { // turn the number line around
		first, bound, step, room, cmp = first.neg(), bound.neg(), step.neg(), room.neg(), cmp.mirrored()
	}
	if cmp == cmpLE {
		bound, cmp = bound.add(point(1)), cmpLT
	}
	spread := interval{0, offset.hi - offset.lo}
	// Past its type x would start over, and run on; a loop that waits for equality
	// does not go past the bound.
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

// hits reports whether steps across the gap end exactly at its end, which a
// loop that waits for equality needs.
func (n *node) hits(gap, step interval) bool {
	switch {
	case !n.fixed || !step.single():
		return false
	case step.lo == 1 || n.align < 62 && (int64(1)<<n.align)%step.lo == 0:
		return true
	}
	return gap.single() && gap.lo%step.lo == 0
}
