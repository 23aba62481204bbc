package interp

// segment is a straight run of instructions and its ending. Control enters only at the
// first instruction. Segments are numbered in the order of the text, and a program counter
// is the number of a segment:
//
//	segment 3   code[17] add       guard of the ending: the branch is taken by
//	            code[18] setp      the lanes whose predicate holds
//	            code[19] bra  ◄─── last; target 1, next 4, rpc 4
type segment struct {
	first, end int32   // instructions [first, end), including the ending one only if it needs operands
	next       int32   // segment that follows in the text
	target     int32   // of a branch
	table      []int32 // of a branch: its targets, one but for brx
	rpc        int32   // of a branch: the segment where its sides reconverge, or noReconvergence
	last       int32   // the ending instruction, -1 if the segment falls through
	loop       int32   // of a backward branch: its index in Kernel.loops, or -1
	ending     ending
	guard      slot // of the ending instruction
	neg        bool

	insts int64  // warp instructions, including the ending one
	flops int64  // per lane
	path  moment // time from entry to exit if no other warp runs
}

// ending is the kind of instruction by which control leaves a segment.
type ending uint8

// The endings of segments.
const (
	falls           ending = iota // into next
	branches                      // to target, for the lanes whose guard holds
	branchesByTable               // to table[index], for the lanes whose guard holds
	calls                         // into a routine, and then next
	returns                       // from a routine
	exits                         // lanes whose guard holds are done
	synchronise                   // a warp-wide operation: waits for the lanes of its mask
	barriers                      // waits for other warps
)

// run executes the warp's fragments until each is blocked or has ended, or until one has
// used up its turn. Fragments that are added meanwhile run in the same turn.
func (w *warp) run() {
	w.idle, w.spun, w.began = true, true, w.clock
	w.turnCount++
	for i := 0; i < len(w.frags) && w.fault == nil; i++ {
		for w.frags[i].wait == running && w.frags[i].mask != 0 && w.fault == nil {
			w.current, w.polls = int32(i), 0
			// The fragment used up its turn. It polls if it only read unchanged values.
			if w.runFragment() {
				w.idle = w.idle && w.polls >= pollLimit
				break
			}
			w.idle, w.spun = false, false
		}
	}
	if w.fault == nil {
		w.sweep()
	}
}

// runnable reports whether some fragment can make progress.
func (w *warp) runnable() bool {
	for i := range w.frags {
		if w.frags[i].wait == running {
			return true
		}
	}
	return false
}

// sweep removes fragments that have ended, and executes warp-wide operations whose lanes
// have arrived. It runs at the end of each turn of the warp.
func (w *warp) sweep() {
	kept := w.frags[:0]
	for _, f := range w.frags {
		if f.mask != 0 {
			kept = append(kept, f)
		}
	}
	w.frags = kept
	if len(kept) > 0 {
		w.releaseSyncs()
	}
}

// runFragment executes the current fragment until it blocks or ends. It returns true if the
// fragment used up its turn instead.
//
// This is the inner loop of the interpreter. An iteration executes one segment: it counts
// the segment's cost, calls the handler of each record, and follows the ending. Segments of
// measured or recorded blocks take the slower executeWatched. The guard test is the only
// branch per record. The slice w.frags may be reallocated by a warp-wide operation or
// barrier, so f is loaded again after these.
func (w *warp) runFragment() (yield bool) {
	f := &w.frags[w.current]
	segments, code, e := w.kernel.segments, w.kernel.code, w.eng
	for {
		// The entry has reached its reconvergence point: continue with the one below.
		if f.pc == f.rpc {
			if !f.pop(w.exited) {
				return false
			}
			continue
		}
		s := &segments[f.pc]
		e.charge(w, f.pc, f.mask)
		w.live = f.mask
		if e.gauge.on || e.watch != nil {
			w.executeWatched(s, f.mask)
		} else {
			for i := s.first; i < s.end; i++ {
				in := &code[i]
				if in.guard == noSlot {
					in.exec(w, in)
				} else {
					w.guarded(in, f.mask)
				}
			}
		}
		if w.fault != nil {
			return false
		}
		switch s.ending {
		case falls:
			f.pc = s.next
		case branches:
			if w.branch(f, s) {
				return true
			}
		case exits:
			w.exit(f, w.taken(f, s), s)
		case branchesByTable:
			if w.branchTable(f, s) {
				return true
			}
		case calls:
			w.call(f, s)
		case returns:
			w.returns(f)
		case synchronise:
			if !w.synchronise(f, s) {
				return false
			}
			f = &w.frags[w.current]
		case barriers:
			if w.arrive(f, s) {
				return false
			}
			f = &w.frags[w.current]
		}
		if f.mask == 0 || w.fault != nil {
			return false
		}
	}
}

// guarded executes in for the lanes whose guard holds.
func (w *warp) guarded(in *inst, mask uint32) {
	if w.live = mask & w.getPred(in.guard, in.neg); w.live != 0 {
		in.exec(w, in)
	}
	w.live = mask
}

// taken returns the lanes that execute a segment's ending instruction.
func (w *warp) taken(f *fragment, s *segment) uint32 {
	if s.guard == noSlot {
		return f.mask
	}
	return f.mask & w.getPred(s.guard, s.neg)
}
