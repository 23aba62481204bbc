package interp

import (
	"fmt"
	"unsafe"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// A routine is a function with code of its own, which is called with a frame for each lane.
// It is recursive, reached through a pointer, or too large to inline. All other calls are
// inlined.
//
// The frames of a lane form a stack in its local memory, above the variables of the kernel:
//
//	0                       localSize                            top
//	│ variables of kernel   │ frame of f         │ frame of g    │
//	                        ▲                    ▲
//	                        fp in f              fp in g: its parameters and variables start here
//
// A routine may use the registers of its callers: a call saves the registers that the
// routine writes, and the return restores them. Saved registers are kept by the host, in
// callStack.saved; their bytes count as part of the frame.
type routine struct {
	fn      *ptx.Func
	address uint64  // as a function pointer
	results []param // offsets in the frame
	params  []param
	entry   int32 // segment
	frame   int   // bytes, including the saved registers
	saves   []element
	preds   []slot

	direct             bool // it is called by name
	firstItem, endItem int
}

// param is the position of a parameter in a frame.
type param struct{ off, size int }

// callSite is one call of a routine.
type callSite struct {
	callee        *routine // nil for a call through register a
	results, args []param  // in the caller's frame
}

// maxStack is the number of bytes of local variables, parameters and saved registers
// that a thread may have. A driver starts with 1 KiB and the program may raise the
// limit.
const maxStack = 64 << 10

// frameAlign is the alignment of a frame, the largest of any variable.
const frameAlign = 16

// activation is a call in progress in one lane.
type activation struct {
	routine *routine
	site    *callSite
	fp      uint64 // frame pointer of the caller
}

// callStack contains the calls in progress of one lane. saved has one element for each
// saved register and predicate of each active routine, innermost last.
type callStack struct {
	active []activation
	saved  []uint64 // registers, then predicates, of the active routines
	top    uint64   // end of the frames in local memory
}

// call ends segment s with a call. Lanes that call different functions run them one
// after the other, and converge after the call.
func (w *warp) call(f *fragment, s *segment) {
	in := &w.kernel.code[s.last]
	mask := w.taken(f, s)
	// All lanes continue after the call, where the groups converge.
	f.stack = append(f.stack, entry{s.next, f.rpc, f.mask})
	for mask != 0 && w.fault == nil {
		r, group := in.x.call.callee, mask
		if r == nil {
			r, group = w.callee(in, mask)
		}
		each(group, func(lane int) { w.enter(in, r, lane) })
		if w.fault != nil {
			return
		}
		f.stack = append(f.stack, entry{r.entry, noReconvergence, group})
		mask &^= group
	}
	f.pop(w.exited)
}

// callee returns the function that the first lane of mask calls through a pointer, and
// the lanes that call the same function.
func (w *warp) callee(in *inst, mask uint32) (r *routine, group uint32) {
	target, lane := view[uint64](w, in.a), firstLane(mask)
	for _, c := range w.kernel.routines {
		if c.address == target[lane] {
			r = c
		}
	}
	site := in.x.call
	switch {
	case r == nil:
		w.fail(IllegalAddress, in, lane, target[lane],
			fmt.Sprintf("call of %#x: no function of this module has that address", target[lane]))
		return nil, 0
	case !sameSizes(site.results, r.results) || !sameSizes(site.args, r.params):
		w.fail(IllegalAddress, in, lane, target[lane], fmt.Sprintf("call of %s through a pointer: the sizes of the parameters or results differ from those of the function", r.fn.Name))
		return nil, 0
	}
	return r, same(mask, target, target[lane])
}

// sameSizes reports whether two lists of parameters agree in number and sizes.
func sameSizes(a, b []param) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].size != b[i].size {
			return false
		}
	}
	return true
}

// enter opens a frame of r for one lane.
func (w *warp) enter(in *inst, r *routine, lane int) {
	c, site := &w.calls[lane], in.x.call
	fp := c.top
	if fp+uint64(r.frame) > maxStack {
		w.fail(StackOverflow, in, lane, 0, fmt.Sprintf("call of %s: its frame of %s does not fit: the stack of a thread has %d KiB and %s active",
			r.fn.Name, count(uint64(r.frame), "byte"), maxStack>>10, activeCalls(len(c.active))))
		return
	}
	c.top = fp + uint64(r.frame)
	w.growLocal(int(c.top))
	callers := w.framePointer(lane)
	// Arguments are copied between the frames, as in a calling convention with all
	// parameters on the stack.
	for i, p := range site.args {
		copy(w.localBytes(lane, fp, r.params[i]), w.localBytes(lane, *callers, p))
	}
	for _, e := range r.saves {
		c.saved = append(c.saved, w.lane(e, lane))
	}
	for _, p := range r.preds {
		c.saved = append(c.saved, uint64(w.preds[p]>>lane&1))
	}
	c.active = append(c.active, activation{r, site, *callers})
	*callers = fp
}

// activeCalls describes a number of calls, for messages.
func activeCalls(n int) string {
	if n == 1 {
		return "1 call is"
	}
	return fmt.Sprintf("%d calls are", n)
}

// leave ends the innermost call of one lane.
func (w *warp) leave(lane int) {
	c := &w.calls[lane]
	a := c.active[len(c.active)-1]
	c.active = c.active[:len(c.active)-1]
	r, fp := a.routine, w.framePointer(lane)
	for i, p := range a.site.results {
		copy(w.localBytes(lane, a.fp, p), w.localBytes(lane, *fp, r.results[i]))
	}
	base := len(c.saved) - len(r.saves) - len(r.preds)
	for i, e := range r.saves {
		w.setLane(e, lane, c.saved[base+i])
	}
	for i, p := range r.preds {
		bit := uint32(c.saved[base+len(r.saves)+i])
		w.preds[p] = w.preds[p]&^(1<<lane) | bit<<lane
	}
	c.saved = c.saved[:base]
	c.top, *fp = *fp, a.fp
}

// returns ends a routine for the fragment's lanes.
func (w *warp) returns(f *fragment) {
	each(f.mask, w.leave)
	f.pop(w.exited)
}

// framePointer returns the start of the frame of a lane's innermost call in its local
// memory, 0 in the kernel.
func (w *warp) framePointer(lane int) *uint64 {
	return &view[uint64](w, w.kernel.framePointer)[lane]
}

// localBytes returns the bytes of a parameter in the frame at fp.
func (w *warp) localBytes(lane int, fp uint64, p param) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(w.local, lane*w.localStride+int(fp)+p.off)), p.size)
}

// growLocal extends the local memory of each lane to n bytes.
func (w *warp) growLocal(n int) {
	old := w.localStride
	if n <= old {
		return
	}
	stride := max(2*old, roundUp(n, frameAlign))
	memory := make([]uint64, lanes*stride/8+1)
	for i := range lanes {
		copy(memory[i*stride/8:], w.localMem[i*old/8:(i+1)*old/8])
	}
	w.localMem, w.local, w.localStride = memory, unsafe.Pointer(&memory[0]), stride
}

// alloca allocates local memory, which is freed when the current call ends.
func (w *warp) alloca(in *inst, lane int, n, align uint64) uint64 {
	c := &w.calls[lane]
	at := uint64(roundUp(int(c.top), int(align)))
	if n > maxStack || at+n > maxStack {
		w.fail(StackOverflow, in, lane, 0, fmt.Sprintf("alloca of %s does not fit: the stack of a thread has %d KiB", count(n, "byte"), maxStack>>10))
		return 0
	}
	c.top = at + n
	w.growLocal(int(c.top))
	return at
}

// roundUp returns the next multiple of a power of two.
func roundUp(n, align int) int { return (n + align - 1) &^ (align - 1) }

// beginCalls empties the call stacks.
func (w *warp) beginCalls() {
	if !w.kernel.stacks {
		return
	}
	if w.calls == nil {
		w.calls = make([]callStack, lanes)
	}
	for i := range w.calls {
		c := &w.calls[i]
		c.active, c.saved, c.top = c.active[:0], c.saved[:0], uint64(roundUp(w.kernel.localSize, frameAlign))
		*w.framePointer(i) = 0
	}
}
