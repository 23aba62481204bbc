package interp

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// Surfaces are addressed in bytes in x, and in texels in y and z. The data of an
// access is neither scaled nor converted.

// surfaceLoad lowers suld.
func (l *lowering) surfaceLoad() error { return l.surface(1, 0, loads) }

// surfaceStore lowers sust.
func (l *lowering) surfaceStore() error { return l.surface(0, 1, stores) }

// surface lowers suld.b, sust.b and sured.b. address and data are the indices of their
// operands. The access has the type of the opcode, not of the texels.
func (l *lowering) surface(address, data int, kind accessKind) error {
	in := l.in
	list := types(in)
	if len(in.Args) != 2 || len(list) != 1 {
		return l.fail("needs a surface, a register and a type")
	}
	if !has(in, "b") {
		return l.fail("formatted surface accesses are not supported")
	}
	r := blank()
	if err := l.imageOperand(&r, &in.Args[address], kind); err != nil {
		return err
	}
	image := r.x.image
	// .trap is the default of the ISA.
	image.clamp, image.lanes = "trap", len(vector(&in.Args[data]))
	for _, s := range in.Suffix {
		if s == "clamp" || s == "zero" {
			image.clamp = s
		}
	}
	if len(r.x.sources) == 0 || imageKinds[image.geometry].cube {
		return l.fail("the geometry is not supported")
	}
	if err := l.vectorLength(&in.Args[data]); err != nil {
		return err
	}
	r.x.size = list[0].Size()
	var err error
	if kind == loads {
		err = l.elements(r.x, vector(&in.Args[data]), true, 0)
	} else {
		err = l.storeElements(r.x, vector(&in.Args[data]), list[0])
	}
	if err != nil {
		return err
	}
	r.exec = surfaceLanes
	l.emit(r, costTexture).reads = kind != loads
	return nil
}

// surfaceUpdate lowers sured.b, which makes blocks run in grid order: its updates are not
// logged.
func (l *lowering) surfaceUpdate() error {
	list := types(l.in)
	if len(list) != 1 {
		return l.fail("needs a type")
	}
	update := atomicOp(atomicName(l.in), list[0], ptx.Global)
	if update == nil || list[0].Float() {
		return l.fail("the interpreter cannot run this reduction")
	}
	if err := l.surface(0, 1, updates); err != nil {
		return err
	}
	x := l.items[len(l.items)-1].x
	x.image.update = update
	x.atomic = atomicName(l.in) + "." + list[0].String()
	l.k.ordered = true
	return nil
}

// surfaceLanes executes a surface access lane by lane. A load outside the surface returns
// 0, and a store there is dropped, unless the access traps.
func surfaceLanes(w *warp, in *inst) {
	w.polls = 0
	var sectors sectorSet
	n := in.x.bytes()
	for m := w.live; m != 0 && w.fault == nil; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		addr, inside := w.surfaceAddress(in, lane)
		if w.fault != nil {
			return
		}
		if !inside {
			for _, e := range in.x.elems {
				if in.x.kind == loads {
					w.setLane(e, lane, 0)
				}
			}
			continue
		}
		p := w.span(in, addr, n, lane)
		if p == nil {
			return
		}
		w.surfaceAccess(in, p, lane)
		sectors.add(addr, n)
	}
	w.account(in.x.kind, sectors.count)
}

// surfaceAccess loads, stores or updates the elements of one lane at p.
func (w *warp) surfaceAccess(in *inst, p unsafe.Pointer, lane int) {
	for k, e := range in.x.elems {
		cell := unsafe.Add(p, k*in.x.size)
		switch in.x.kind {
		case loads:
			w.setLane(e, lane, readCell(cell, in.x.size))
		case stores:
			writeCell(cell, in.x.size, w.lane(e, lane))
		default:
			old := readCell(cell, in.x.size)
			writeCell(cell, in.x.size, in.x.image.update(old, w.lane(e, lane), 0))
		}
	}
}

// surfaceAddress returns the address that a lane accesses. inside is false if it is outside
// the surface and such accesses are ignored. Coordinates outside the surface are handled by
// the opcode's clamp mode:
//
//	.trap     a fault
//	.clamp    the nearest element
//	.zero     loads return 0, stores are dropped
func (w *warp) surfaceAddress(in *inst, lane int) (addr uint64, inside bool) {
	handle := view[uint64](w, in.a)[lane]
	s, ok := w.eng.mem.images[handle].(*Image)
	if !ok {
		w.fail(IllegalAddress, in, lane, handle, w.eng.mem.noImage(handle, "surface"))
		return 0, false
	}
	coords := in.x.sources
	z := 0
	// A layer beyond the last is clamped.
	if imageKinds[in.x.image.geometry].layered {
		z = int(min(uint64(uint32(w.lane(coords[0], lane))), uint64(max(s.Layers, 1)-1)))
		coords = coords[1:]
	}
	n := int(in.x.bytes())
	// x counts bytes: the last valid position is that of a whole access at the end of the
	// row.
	extents := [3]int{s.Width*s.texelBytes() - n + 1, max(s.Height, 1), max(s.Depth, 1)}
	var at [3]int
	for k := range coords {
		at[k] = int(int32(w.lane(coords[k], lane)))
		if at[k] >= 0 && at[k] < extents[k] {
			continue
		}
		switch in.x.image.clamp {
		case "zero":
			return 0, false
		case "trap":
			w.fail(IllegalAddress, in, lane, 0, fmt.Sprintf("%s of %s of a surface at %c = %d: the surface has %d x %d x %d texels of %s",
				accessNames[in.x.kind], count(uint64(n), "byte"), "xyz"[k], at[k], s.Width, max(s.Height, 1), max(s.Depth, 1), count(uint64(s.texelBytes()), "byte")))
			return 0, false
		}
		at[k] = min(max(at[k], 0), extents[k]-1)
	}
	if at[0]%n != 0 {
		at[0] -= at[0] % n // clamp to the last whole element
		if in.x.image.clamp == "trap" {
			w.fail(Misaligned, in, lane, 0, fmt.Sprintf("%s of %d bytes of a surface at x = %d: x is not a multiple of %d",
				accessNames[in.x.kind], n, int32(w.lane(coords[0], lane)), n))
			return 0, false
		}
	}
	if s.Depth > 0 {
		z = at[2]
	}
	return s.Base + uint64(z)*s.Slice + uint64(at[1])*s.Pitch + uint64(at[0]), true
}
