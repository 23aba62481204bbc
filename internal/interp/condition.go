package interp

import (
	"fmt"
	"math/bits"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// A condition of a graph is a word of global memory. Its handle, by which kernels set
// it, is its address. The rules for stores therefore apply to conditions as well:
// concurrent blocks leave the same value as in grid order, a repeated launch leaves it
// again, and races are detected.

// AllocCondition allocates the word of a condition.
func (m *Memory) AllocCondition(name string) (uint64, error) {
	addr, err := m.Alloc(conditionBytes, name)
	if err == nil {
		m.allocs.find(addr, 0).condition = true
	}
	return addr, err
}

// conditionBytes is the size of a condition's word.
const conditionBytes = 4

// IsCondition reports whether addr is a condition's handle.
func (m *Memory) IsCondition(addr uint64) bool {
	a := m.find(addr, conditionBytes)
	return a != nil && a.condition && a.base == addr
}

// setConditional is cudaGraphSetConditional(handle, value).
func (l *lowering) setConditional(results, args []ptx.Operand) error {
	if len(results) != 0 || len(args) != 2 {
		return l.fail("needs no result and 2 parameters")
	}
	c, err := l.pass(nil, args, func(i int) ptx.Type { return [...]ptx.Type{ptx.B64, ptx.B32}[i] })
	if err != nil {
		return err
	}
	if c.args[0].size != 8 || c.args[1].size != conditionBytes {
		return l.fail("needs parameters of 8 and 4 bytes")
	}
	handle, value := l.temp(8), l.temp(4)
	l.localAccess(loads, c.args[0], handle)
	l.localAccess(loads, c.args[1], value)
	r := blank()
	r.a, r.x, r.exec = handle, newExtra(), storeCondition
	x := r.x
	x.memory, x.kind, x.space, x.size = true, stores, ptx.Global, conditionBytes
	x.elems = []element{{value, conditionBytes}}
	r.site = int32(l.k.sites)
	l.k.sites++
	l.emit(r, costStore).reads = true
	return nil
}

// storeCondition stores the values of all live lanes, after it has checked their handles.
func storeCondition(w *warp, in *inst) {
	for m := w.live; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m) & 31
		addr := w.address(in, lane)
		if !w.eng.mem.IsCondition(addr) {
			w.fail(IllegalAddress, in, lane, addr, fmt.Sprintf("cudaGraphSetConditional of %#x: this is not the handle of a condition", addr))
			return
		}
	}
	storeAny(w, in)
}
