package interp

import (
	"fmt"
	"math/bits"
	"sort"
	"unsafe"
)

// engine runs blocks of one kernel, one after another. A launch uses one per
// processor; they are kept for the kernel's next launch.
type engine struct {
	kernel   *Kernel
	mem      *Memory
	launch   *Launch
	params   unsafe.Pointer
	warps    []warp
	shared   []uint64
	cache    []*allocation
	touched  []touched
	barriers [maxBarriers]barrier
	watch    *watcher // nil when nobody asked for a record

	block   [3]uint32
	threads uint32 // of a block
	alive   int32  // threads of the block that have not exited
	steps   int64  // warp instructions the block may still issue
	count   counters
}

// counters are the integer form of Stats, so that sums do not depend on the
// order of blocks.
type counters struct {
	blocks, warps, insts, laneInsts, issue, latest, read, written, atomics int64
}

func (c *counters) add(o *counters) {
	c.blocks += o.blocks
	c.warps += o.warps
	c.insts += o.insts
	c.laneInsts += o.laneInsts
	c.issue += o.issue
	c.latest = max(c.latest, o.latest)
	c.read += o.read
	c.written += o.written
	c.atomics += o.atomics
}

type touched struct {
	a             *allocation
	read, written bool
}

func (e *engine) touch(a *allocation, kind accessKind) {
	for i := range e.touched {
		if t := &e.touched[i]; t.a == a {
			t.read, t.written = t.read || kind != stores, t.written || kind != loads
			return
		}
	}
	e.touched = append(e.touched, touched{a, kind != stores, kind != loads})
}

// prepare readies e for the blocks of a launch: warps, constants, parameters
// and the special registers that do not change from block to block.
func (e *engine) prepare(k *Kernel, mem *Memory, l *Launch, params unsafe.Pointer) {
	e.kernel, e.mem, e.launch, e.params = k, mem, l, params
	e.count, e.touched = counters{}, e.touched[:0]
	e.threads = l.Block[0] * l.Block[1] * l.Block[2]
	e.shared = grow(e.shared, int(k.sharedStatic+l.Shared+7)/8+1)
	if len(e.cache) != k.sites {
		e.cache = make([]*allocation, k.sites)
	}
	clear(e.cache)
	e.resize(int(e.threads+lanes-1) / lanes)
	for i := range e.warps {
		e.warps[i].prepare(e, uint32(i))
	}
}

// grow is words with length n, zeroed only where it is new.
func grow(words []uint64, n int) []uint64 {
	if cap(words) < n {
		return make([]uint64, n)
	}
	return words[:n]
}

func (e *engine) resize(n int) {
	for len(e.warps) < n {
		e.warps = append(e.warps, warp{})
	}
	e.warps = e.warps[:n]
}

func (w *warp) reserve(e *engine, index uint32) {
	k := e.kernel
	w.eng, w.kernel, w.index, w.cache = e, k, index, e.cache
	if len(w.file) < k.fileSize/8 {
		w.file = make([]uint64, k.fileSize/8)
		w.regs = unsafe.Pointer(&w.file[0])
		w.preds = make([]uint32, k.predCount)
		w.localStride = roundUp(k.localSize, frameAlign)
		w.localMem = make([]uint64, w.localStride*lanes/8+1)
		w.local = unsafe.Pointer(&w.localMem[0])
	}
	w.shared = unsafe.Pointer(&e.shared[0])
	w.sharedSize = uint64(k.sharedStatic) + uint64(e.launch.Shared)
}

// runBlock runs one block to its end and returns the fault that stopped it.
func (e *engine) runBlock(block [3]uint32) *Fault {
	e.begin(block)
	for ran := true; ran; {
		ran = false
		for i := range e.warps {
			if w := &e.warps[i]; w.runnable() {
				ran = true
				if w.run(); w.fault != nil {
					return w.fault
				}
			}
		}
	}
	if e.alive > 0 {
		return e.stuck()
	}
	for i := range e.warps {
		e.count.latest = max(e.count.latest, e.warps[i].clock)
	}
	return nil
}

// begin resets what a block owns. Registers are cleared only where the kernel
// may read them before writing them.
func (e *engine) begin(block [3]uint32) {
	e.block = block
	e.alive = int32(e.threads)
	e.barriers = [maxBarriers]barrier{}
	e.steps = e.launch.StepLimit
	clear(e.shared)
	e.count.blocks++
	e.count.warps += int64(len(e.warps))
	for i := range e.warps {
		e.warps[i].begin(block)
	}
}

func (w *warp) begin(block [3]uint32) {
	k := w.kernel
	w.exited, w.clock, w.carry, w.fault = ^w.present, 0, 0, nil
	stack := []entry(nil)
	if cap(w.frags) > 0 {
		stack = w.frags[:1][0].stack[:0]
	}
	w.frags = append(w.frags[:0], fragment{entry: entry{0, noReconvergence, w.present}, stack: stack})
	for _, s := range k.blockSpecials {
		fill(w, s.at, 4, uint64(s.kind.blockValue(block)))
	}
	for _, s := range k.clearRegs {
		clear(w.file[s.reg/8 : (int(s.reg)+lanes*s.size)/8])
	}
	for _, p := range k.clearPreds {
		w.preds[p] = 0
	}
	clear(w.localMem)
	w.beginCalls()
}

// charge accounts for a segment before it runs.
func (e *engine) charge(w *warp, s *segment, mask uint32) {
	e.count.insts += s.insts
	e.count.laneInsts += s.insts * int64(bits.OnesCount32(mask))
	e.count.issue += s.issue
	w.clock += s.latency
	if e.steps -= s.insts; e.steps < 0 && w.fault == nil {
		in := s.first
		if s.first == s.end && s.last >= 0 {
			in = s.last
		}
		w.fail(Timeout, &w.kernel.code[in], bits.TrailingZeros32(mask), 0,
			fmt.Sprintf("the block issued more than %d warp instructions; raise Launch.StepLimit if it is not an endless loop",
				e.launch.StepLimit))
	}
}

// fail stops the launch; the first fault of a warp counts.
func (w *warp) fail(kind FaultKind, in *inst, lane int, addr uint64, reason string) {
	if w.fault != nil {
		return
	}
	e := w.eng
	t := w.index*lanes + uint32(lane)
	b := e.launch.Block
	at := w.kernel.places[w.kernel.indexOf(in)]
	w.fault = &Fault{
		Kind: kind, Label: e.launch.Label, Kernel: w.kernel.name, Block: e.block,
		Thread: [3]uint32{t % b[0], t / b[0] % b[1], t / b[0] / b[1]},
		File:   w.kernel.file, Pos: at.pos, Source: w.kernel.module.Source(at.loc), Address: addr, Reason: reason,
	}
}

// indexOf is the place of a record in the kernel's code.
func (k *Kernel) indexOf(in *inst) int {
	return int((uintptr(unsafe.Pointer(in)) - uintptr(unsafe.Pointer(&k.code[0]))) / unsafe.Sizeof(*in))
}

// mergeTouched joins what the engines of a launch touched, by address.
func mergeTouched(engines []*engine) []Touch {
	var all []Touch
	for _, e := range engines {
		for _, t := range e.touched {
			all = append(all, Touch{t.a.base, t.read, t.written})
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Base < all[j].Base })
	out := all[:0]
	for _, t := range all {
		if n := len(out); n > 0 && out[n-1].Base == t.Base {
			out[n-1].Read = out[n-1].Read || t.Read
			out[n-1].Written = out[n-1].Written || t.Written
			continue
		}
		out = append(out, t)
	}
	return out
}
