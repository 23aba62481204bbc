package interp

import (
	"math/bits"
	"unsafe"
)

// A warp has 32 lanes on every GPU.
const (
	lanes    = 32
	allLanes = 0xffffffff
)

// slot is the byte offset of a register in a warp's register file, or the index of a
// predicate among the warp's predicates.
type slot uint32

// noSlot is the absence of an operand: the sink "_" or no guard.
const noSlot slot = 1<<32 - 1

// handler executes one record for the lanes in w.live. It must not change other lanes of
// its results. A fault is reported by warp.fail, after which the launch ends.
type handler func(w *warp, in *inst)

// inst is one lowered instruction, a record. Records of a kernel are adjacent in memory.
// Operands of rare instructions are in extra, so that a record has 56 bytes.
type inst struct {
	exec       handler // executes the record
	d, a, b, c slot    // destination and sources, or noSlot
	guard      slot    // predicate, or noSlot
	neg        bool    // the guard is !p
	site       int32   // index of an instruction that accesses memory, see engine.cache
	imm        uint64  // a constant: the offset of an address, a group count, a barrier
	x          *extra  // further operands of a few instructions
}

// extra contains the operands that do not fit into an inst: of memory accesses, warp-wide
// operations and setp with two destinations. Fields that an instruction does not use are
// zero or noSlot.
type extra struct {
	access
	d2       slot // second destination predicate
	combine  func(v, p uint32) uint32
	p        slot // the predicate combined with
	pNeg     bool
	test     tester
	upper    tester // of the upper halves of packed operands
	op       atomicFunc
	e        slot      // fourth source, of bfi and lop3
	members  slot      // member mask of a warp-wide operation
	sources  []element // more sources: coordinates, fragments
	image    *imageAccess
	matrix   *matrixOp
	uniform  bool // members is the same in all lanes
	sync     syncShape
	async    *asyncSource
	call     *callSite
	mode     uint8      // of shuffles and barriers
	idReg    bool       // barrier: a is a register
	count    bool       // barrier: b is a thread count
	inShared atomicFunc // for a generic address in shared memory, if it differs
}

// entry is a suspended part of a fragment: the lanes of mask run from segment pc until they
// reach segment rpc, where they wait for the entry below.
type entry struct {
	pc, rpc int32 // segments; rpc may be noReconvergence
	mask    uint32
}

// noReconvergence is an rpc that no pc equals.
const noReconvergence = -1

// waitState is the reason why a fragment does not run.
type waitState uint8

// The states of a fragment.
const (
	running waitState = iota
	atBarrier
	atWarpSync
)

// fragment is a group of lanes of a warp with its own reconvergence stack. A warp starts as
// one fragment. It is split when some lanes must wait while others run, and fragments that
// synchronise are merged. The running entries of a warp's fragments have disjoint masks.
type fragment struct {
	entry
	stack   []entry
	wait    waitState
	barrier int32  // atBarrier: the barrier
	at      int32  // the instruction it waits at
	members uint32 // atWarpSync: the lanes that it waits for
	spins   int32  // backward branches since the last turn
}

// rest returns the lanes of f that are not in its running entry.
func (f *fragment) rest(exited uint32) uint32 {
	var m uint32
	for i := range f.stack {
		m |= f.stack[i].mask
	}
	return m &^ f.mask &^ exited
}

// warp is 32 lanes of one block, with their registers. The first fields are those that
// handlers use.
//
// Masks have bit i for lane i: live ⊆ the running entry's mask ⊆ present, and exited
// contains the lanes that are not present.
type warp struct {
	live   uint32 // lanes that execute the current record
	regs   unsafe.Pointer
	preds  []uint32
	fault  *Fault
	eng    *engine
	kernel *Kernel
	ready  *Kernel  // the kernel whose constants are in the register file
	cache  []*reach // the engine's
	shared unsafe.Pointer
	// sharedSize is static and dynamic shared memory together, in bytes.
	sharedSize uint64
	local      unsafe.Pointer // localStride bytes per lane

	carry       uint32 // the condition code, one bit per lane
	index       uint32 // in the block
	present     uint32 // lanes that exist
	exited      uint32 // lanes that do not exist or have exited
	frags       []fragment
	current     int32  // the fragment that runs
	clock       moment // time since the start of the block
	began       moment // clock at the start of the last run
	file        []uint64
	localMem    []uint64
	localStride int           // bytes of local memory per lane, at least localSize
	calls       []callStack   // of each lane, nil without routines and alloca
	async       []asyncCopy   // pending copies
	groups      [lanes]uint32 // by lane: number of committed groups of asynchronous copies

	loopStates []loopState // by loop of the kernel, if iterations may be skipped
	turnCount  int64       // number of turns of the warp
	tracking   bool        // record which bytes are touched
	polls      int32       // number of consecutive reads by the fragment that returned an unchanged value
	idle       bool        // in its last turn the warp only polled
	spun       bool        // in its last turn every fragment reached the spin limit
	drewNumber bool        // it drew a number from a counter since its last turn
	polled     *inst       // the last poll, and its lane
	poller     int32
}

// view returns the register at s as 32 lanes of T. T must have the size that the register
// was allocated with.
func view[T any](w *warp, s slot) *[lanes]T {
	return (*[lanes]T)(unsafe.Add(w.regs, uintptr(s)))
}

// each calls f for the lanes in mask, in ascending order.
func each(mask uint32, f func(lane int)) {
	for ; mask != 0; mask &= mask - 1 {
		f(bits.TrailingZeros32(mask))
	}
}

// setPred stores v into predicate p for the live lanes.
func (w *warp) setPred(p slot, v uint32) {
	if p != noSlot {
		w.preds[p] = w.preds[p]&^w.live | v&w.live
	}
}

// getPred returns a predicate operand, negated if neg.
func (w *warp) getPred(p slot, neg bool) uint32 {
	v := w.preds[p]
	if neg {
		return ^v
	}
	return v
}
