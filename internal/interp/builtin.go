package interp

import (
	"errors"
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// builtins are the functions that a driver provides, by name. Further ones are written in
// PTX, see runtimeFunctions.
var builtins map[string]func(l *lowering, results, args []ptx.Operand) error

// The map is filled in init, since the functions refer to it through call.
func init() {
	builtins = map[string]func(l *lowering, results, args []ptx.Operand) error{
		"__assertfail": (*lowering).assertFail, "vprintf": (*lowering).printf,
		"malloc": (*lowering).malloc, "free": (*lowering).free,
		"cudaGraphSetConditional": (*lowering).setConditional,
	}
}

// builtinFunc executes the call of one lane and returns its result.
type builtinFunc func(w *warp, in *inst, lane int, args []uint64) uint64

// builtin emits a call that the host executes lane by lane. It checks the numbers of
// results and parameters, nres at most and nargs at least. Each parameter has 4 or 8 bytes
// in local memory; f gets them zero-extended.
func (l *lowering) builtin(results, args []ptx.Operand, nres, nargs int, c cost, f builtinFunc) error {
	if len(results) > nres || len(args) < nargs {
		return l.fail("needs %d results and %d parameters", nres, nargs)
	}
	p, err := l.pass(results, args[:nargs], func(int) ptx.Type { return ptx.B64 })
	if err != nil {
		return err
	}
	for _, list := range [][]param{p.results, p.args} {
		for _, a := range list {
			if a.size != 4 && a.size != 8 {
				return l.fail("has a parameter of %d bytes", a.size)
			}
		}
	}
	r := blank()
	r.x = newExtra()
	r.x.space, r.x.kind = ptx.Generic, loads
	// The call may access memory, and its faults name this site.
	r.site = int32(l.k.sites)
	l.k.sites++
	// In a routine, parameters are relative to its frame.
	framed := l.root != nil
	if framed {
		r.a, _ = l.local(0)
	}
	r.exec = func(w *warp, in *inst) {
		each(w.live, func(lane int) {
			frame := uint64(0)
			if framed {
				frame = view[uint64](w, in.a)[lane]
			}
			cell := func(a param) unsafe.Pointer { return unsafe.Pointer(&w.localBytes(lane, frame, a)[0]) }
			var list [4]uint64
			for i, a := range p.args {
				list[i] = readCell(cell(a), a.size)
			}
			if w.fault != nil {
				return
			}
			v := f(w, in, lane, list[:len(p.args)])
			for _, a := range p.results {
				writeCell(cell(a), a.size, v)
			}
		})
	}
	l.emit(r, c)
	l.receive(&p)
	return nil
}

// assertFail ends the launch with the program's message. The arguments are message,
// file, line and function.
func (l *lowering) assertFail(results, args []ptx.Operand) error {
	return l.builtin(results, args, 0, 4, costALU, func(w *warp, in *inst, lane int, a []uint64) uint64 {
		w.fail(Assert, in, lane, 0, fmt.Sprintf("%s, %s:%d, %s", w.text(a[0], lane), w.text(a[1], lane), uint32(a[2]), w.text(a[3], lane)))
		return 0
	})
}

// printf is vprintf(format, arguments). The arguments are stored one after the other,
// each aligned to its size, floats as doubles.
func (l *lowering) printf(results, args []ptx.Operand) error {
	l.k.sideEffects = true
	return l.builtin(results, args, 1, 2, costAtomic, func(w *warp, in *inst, lane int, a []uint64) uint64 {
		if a[0] == 0 {
			return ^uint64(0)
		}
		at := a[1]
		next := func(size int) uint64 {
			at = (at + uint64(size) - 1) &^ (uint64(size) - 1)
			p := w.locate(in, at, uint64(size), lane)
			if p == nil {
				return 0
			}
			at += uint64(size)
			return readCell(p, size)
		}
		s, n := printf(w.text(a[0], lane), next, func(addr uint64) string { return w.text(addr, lane) })
		w.eng.print(s)
		return uint64(n)
	})
}

// malloc allocates from the device's heap and returns null if the heap is exhausted.
func (l *lowering) malloc(results, args []ptx.Operand) error {
	l.k.sideEffects, l.k.ordered = true, true
	return l.builtin(results, args, 1, 1, costAtomic, func(w *warp, _ *inst, _ int, a []uint64) uint64 {
		return w.eng.mem.takeHeap(a[0])
	})
}

// free frees a block of malloc. It clears all caches of allocations.
func (l *lowering) free(results, args []ptx.Operand) error {
	l.k.sideEffects, l.k.ordered = true, true
	return l.builtin(results, args, 0, 1, costAtomic, func(w *warp, in *inst, lane int, a []uint64) uint64 {
		if err := w.eng.mem.freeHeap(a[0]); err != nil {
			w.fail(IllegalAddress, in, lane, a[0], fmt.Sprintf("free of %#x: %v", a[0], err))
		}
		for _, e := range w.eng.run.engines {
			clear(e.cache) // may hold what was freed
		}
		return 0
	})
}

// heapLimit is the default size of the device's heap, cudaLimitMallocHeapSize, in
// bytes.
const heapLimit = 8 << 20

// LimitHeap sets the number of bytes that malloc on the device may have allocated at
// one time.
func (m *Memory) LimitHeap(bytes int64) { m.maxHeap = bytes }

// takeHeap is malloc: it returns the address of n bytes, or 0.
func (m *Memory) takeHeap(n uint64) uint64 {
	if n == 0 || n > uint64(m.maxHeap) || m.heapUsed+int64(n) > m.maxHeap {
		return 0
	}
	addr, err := m.Alloc(int64(n), fmt.Sprintf("a block of %s from malloc", count(n, "byte")))
	if err != nil {
		return 0
	}
	m.allocs.find(addr, 0).heap = true
	m.heapUsed += int64(n)
	return addr
}

// freeHeap is free: it ignores null.
func (m *Memory) freeHeap(addr uint64) error {
	if addr == 0 {
		return nil
	}
	i := m.allocs.search(addr)
	if i < 0 || m.allocs[i].base != addr {
		return errors.New(m.describeFree(addr, i))
	}
	if !m.allocs[i].heap {
		return fmt.Errorf("%s is not from malloc on the device", m.allocs[i].name)
	}
	m.heapUsed -= int64(m.allocs[i].size)
	m.drop(i)
	return nil
}

// firstLane returns the lowest lane of a mask.
func firstLane(mask uint32) int { return bits.TrailingZeros32(mask) & 31 }

// Builtin reports whether the driver provides the function of that name.
func Builtin(name string) bool { return builtins[name] != nil || runtimeFunctions()[name] != nil }
