package interp

import "fmt"

// Divergence follows the immediate post-dominator stack (Fung et al., "Dynamic Warp
// Formation and Scheduling for Efficient GPU Control Flow", MICRO 2007). A branch whose
// lanes disagree pushes an entry for the point where both sides reconverge (rpc), and runs
// one side after the other up to that point:
//
//	      A  mask 1111          running B, rpc D      stack: (C, rpc D, 0011)
//	     / \                                                 (D, rpc -, 1111)
//	1100 B   C 0011             then C, then D with all lanes
//	     \ /
//	      D
//
//	step   running          stack, top first          event
//	1      A 1111                                     the branch diverges
//	2      B 1100 to D      (C 0011 to D) (D 1111)    B reaches D: pop
//	3      C 0011 to D      (D 1111)                  C reaches D: pop
//	4      D 1111                                     converged
//
// A branch whose rpc is that of its fragment pushes no entry for it: the fragment already
// stops there.
//
// A stack alone deadlocks if lanes wait at D for lanes that spin until one of the waiting
// lanes acts (ElTantawy & Aamodt, "MIMD Synchronization on SIMT Architectures", MICRO
// 2016). A fragment whose lanes wait or spin for long is therefore split in two, each with
// its own copy of the stack, and joined again at the next common point.

// spinLimit is the number of backward branches after which a fragment's turn ends, in
// kernels whose lanes can wait for each other through memory.
const spinLimit = 1000

// branch ends segment s with a branch. If all lanes agree, only the program counter
// changes. It returns true if f's turn is over, which only a backward branch can cause.
func (w *warp) branch(f *fragment, s *segment) bool {
	taken := w.taken(f, s)
	from := f.pc
	switch taken {
	case f.mask:
		f.pc = s.target
		if w.eng.skipsIterations && s.loop >= 0 {
			w.leap(f, s)
		}
	case 0:
		f.pc = s.next
		w.leaveLoop(s)
	default:
		f.diverge(s, taken)
		w.leaveLoop(s)
	}
	return f.pc <= from && w.kernel.spinLimit > 0 && w.spin(f)
}

// diverge sends the lanes in taken to the branch's target, and the others to the next
// segment. If one of these is the reconvergence point itself, as for an "if" without
// "else", its lanes wait there and only the other side runs.
func (f *fragment) diverge(s *segment, taken uint32) {
	other := f.mask &^ taken
	// The entry for the reconvergence point, with all lanes. It is at the bottom of the new
	// entries.
	if s.rpc != f.rpc && s.rpc != noReconvergence {
		f.stack = append(f.stack, entry{s.rpc, f.rpc, f.mask})
	}
	switch s.rpc {
	case s.target:
		f.entry = entry{s.next, s.rpc, other}
	case s.next:
		f.entry = entry{s.target, s.rpc, taken}
	default:
		f.stack = append(f.stack, entry{s.next, s.rpc, other})
		f.entry = entry{s.target, s.rpc, taken}
	}
}

// branchTable ends segment s with brx.idx: it forms one group of lanes for each target. It
// returns true if f's turn is over.
func (w *warp) branchTable(f *fragment, s *segment) bool {
	in := &w.kernel.code[s.last]
	index, mask, from := view[uint32](w, in.a), w.taken(f, s), f.pc
	var parts []entry
	if rest := f.mask &^ mask; rest != 0 {
		parts = append(parts, entry{s.next, s.rpc, rest})
	}
	for mask != 0 {
		lane := firstLane(mask)
		if int(index[lane]) >= len(s.table) {
			w.fail(IllegalAddress, in, lane, 0, fmt.Sprintf("index %d is outside a branch table of %s", index[lane], count(uint64(len(s.table)), "label")))
			return false
		}
		group := same(mask, index, index[lane])
		parts = append(parts, entry{s.table[index[lane]], s.rpc, group})
		mask &^= group
	}
	f.scatter(s, parts)
	return f.pc <= from && w.kernel.spinLimit > 0 && w.spin(f)
}

// scatter sends the lanes of f to the places in parts. They reconverge at s.rpc.
func (f *fragment) scatter(s *segment, parts []entry) {
	if len(parts) == 1 {
		f.pc = parts[0].pc
		return
	}
	if s.rpc != f.rpc && s.rpc != noReconvergence {
		f.stack = append(f.stack, entry{s.rpc, f.rpc, f.mask})
	}
	for _, p := range parts {
		if p.pc != s.rpc {
			f.stack = append(f.stack, p)
		}
	}
	f.pop(0)
}

// pop continues with the entry below, without the lanes that exited. It returns false
// if there is none.
func (f *fragment) pop(exited uint32) bool {
	for len(f.stack) > 0 {
		f.entry = f.stack[len(f.stack)-1]
		f.stack = f.stack[:len(f.stack)-1]
		if f.mask &^= exited; f.mask != 0 {
			return true
		}
	}
	f.mask = 0
	return false
}

// exit ends the lanes in gone, and continues with the others.
func (w *warp) exit(f *fragment, gone uint32, s *segment) {
	w.exited |= gone
	if w.eng.tile != nil {
		w.eng.tile.leave(w.index)
	}
	w.eng.leave(gone)
	if f.mask &^= gone; f.mask != 0 {
		f.pc = s.next
		return
	}
	f.pop(w.exited)
}

// spin counts a backward branch, and reports whether the fragment's turn is over. At the
// limit, or if f only polls, the lanes that wait on f's stack become a separate fragment,
// which can run while f's lanes spin. A loop that draws numbers from a counter ends its
// turn before the next draw, so that blocks share the work.
func (w *warp) spin(f *fragment) bool {
	if w.drewNumber {
		w.drewNumber, w.eng.drewNumber = false, true
		return true
	}
	if f.spins++; f.spins < w.kernel.spinLimit && w.polls < pollLimit {
		return false
	}
	f.spins = 0
	w.split(f)
	return true
}

// split moves the lanes that are only on the stack of the current fragment to a new
// fragment:
//
//	before   running 0011 │ stack (C 1100 to D) (D 1111)
//	after    running 0011 │ stack (D 0011)                 the current fragment
//	         running 1100 at C │ stack (D 1100)            the new one
//
// The current fragment may move in memory, as w.frags grows.
func (w *warp) split(f *fragment) {
	rest := f.rest(w.exited)
	if rest == 0 {
		return
	}
	other := fragment{stack: make([]entry, 0, len(f.stack))}
	for _, e := range f.stack {
		if e.mask &= rest; e.mask != 0 {
			other.stack = append(other.stack, e)
		}
	}
	other.pop(w.exited)
	// The old fragment keeps the entries of its own lanes.
	kept := f.stack[:0]
	for _, e := range f.stack {
		if e.mask &^= rest; e.mask != 0 {
			kept = append(kept, e)
		}
	}
	f.stack = kept
	w.frags = append(w.frags, other)
}

// join merges fragments that are at the same point with the same stack of reconvergence
// points. It undoes split after a synchronisation. The cost is quadratic in the fragments,
// of which there are at most 32.
func (w *warp) join() {
	for i := 0; i < len(w.frags); i++ {
		for j := i + 1; j < len(w.frags); j++ {
			if w.frags[i].matches(&w.frags[j]) {
				w.frags[i].absorb(&w.frags[j])
				w.frags = append(w.frags[:j], w.frags[j+1:]...)
				j--
			}
		}
	}
}

// matches reports whether two running fragments differ only in their masks.
func (f *fragment) matches(g *fragment) bool {
	if f.wait != running || g.wait != running || f.pc != g.pc || f.rpc != g.rpc || len(f.stack) != len(g.stack) {
		return false
	}
	for i := range f.stack {
		if f.stack[i].pc != g.stack[i].pc || f.stack[i].rpc != g.stack[i].rpc {
			return false
		}
	}
	return true
}

// absorb adds the lanes of g, which matches f.
func (f *fragment) absorb(g *fragment) {
	f.mask |= g.mask
	for i := range f.stack {
		f.stack[i].mask |= g.stack[i].mask
	}
}
