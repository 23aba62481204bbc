package interp

import "github.com/reprise-gpu/reprise/internal/ptx"

// alloca lowers the allocation of local memory until the function returns; see "Stack
// Manipulation Instructions" in the PTX ISA. The alignment is at most that of a frame.
func (l *lowering) alloca() error {
	in := l.in
	if len(in.Args) < 2 || len(in.Args) > 3 {
		return l.fail("needs a destination and a size")
	}
	align := int64(8)
	if len(in.Args) == 3 {
		align = in.Args[2].Imm
	}
	if align < 1 || align > frameAlign || align&(align-1) != 0 {
		return l.fail("cannot align to %d bytes", align)
	}
	return l.stack(&in.Args[0], &in.Args[1], func(w *warp, in *inst, lane int, v uint64) uint64 {
		return w.alloca(in, lane, v, uint64(align))
	})
}

// stackSave lowers stacksave, which returns the end of the stack.
func (l *lowering) stackSave() error {
	if len(l.in.Args) != 1 {
		return l.fail("needs a destination")
	}
	return l.stack(&l.in.Args[0], nil, func(w *warp, _ *inst, lane int, _ uint64) uint64 { return w.calls[lane].top })
}

// stackRestore lowers stackrestore, which frees the memory that alloca allocated since the
// end was saved.
func (l *lowering) stackRestore() error {
	if len(l.in.Args) != 1 {
		return l.fail("needs a source")
	}
	return l.stack(nil, &l.in.Args[0], func(w *warp, in *inst, lane int, v uint64) uint64 {
		c := &w.calls[lane]
		// A valid end is inside the current frame.
		if v > c.top || v < *w.framePointer(lane) {
			w.fail(IllegalAddress, in, lane, v, "the address is not one that stacksave returned in this function")
			return 0
		}
		c.top = v
		return 0
	})
}

// stack emits an instruction that changes the stack of each lane. Its operands
// have 32 or 64 bits.
func (l *lowering) stack(d, a *ptx.Operand, f func(w *warp, in *inst, lane int, v uint64) uint64) error {
	r := blank()
	dsize, asize := 8, 8
	var err error
	if d != nil {
		dsize = l.size(d, 8)
		if r.d, err = l.dest(d, dsize); err != nil {
			return err
		}
	}
	if a != nil {
		asize = l.size(a, 8)
		if r.a, err = l.source(a, asize, ptx.U64); err != nil {
			return err
		}
	}
	if dsize < 4 || asize < 4 {
		return l.fail("needs registers of 32 or 64 bits")
	}
	l.k.stacks = true
	r.exec = func(w *warp, in *inst) {
		each(w.live, func(lane int) {
			v := uint64(0)
			if in.a != noSlot {
				v = w.lane(element{in.a, asize}, lane)
			}
			w.setLane(element{in.d, dsize}, lane, f(w, in, lane, v))
		})
	}
	l.emit(r, costALU)
	return nil
}
