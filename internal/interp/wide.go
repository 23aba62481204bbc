package interp

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// A register of 128 bits is stored as two of 64 bits: its own number is that of the
// lower half, and frame.high contains the upper. Only mov, ld, st and two atomic
// operations have such registers. All except the atomics are lowered to their
// equivalents on the halves.

// addHigh gives the 128-bit registers of a function their upper halves.
func (l *lowering) addHigh(fr *frame) {
	for id, r := range fr.fn.Regs {
		if r.Type == ptx.B128 {
			if fr.high == nil {
				fr.high = map[ptx.RegID]ptx.RegID{}
			}
			fr.high[ptx.RegID(id)] = ptx.RegID(len(fr.fn.Regs) + len(fr.high))
			l.vregs = append(l.vregs, vreg{size: 8})
		}
	}
}

// halves returns a 128-bit operand as two of 64 bits.
func (l *lowering) halves(op *ptx.Operand) ([]ptx.Operand, error) {
	switch high, ok := l.frame.high[op.Reg]; {
	case op.Kind == ptx.OpVector && len(op.Elems) == 2:
		return op.Elems, nil
	case op.Kind == ptx.OpReg && ok:
		upper := *op
		upper.Reg = high
		return []ptx.Operand{*op, upper}, nil
	}
	return nil, l.fail("the operand is not a register of 128 bits or a pair of 64")
}

// wide lowers an instruction of type .b128 by rewriting it for .b64:
//
//	mov.b128  d, a          mov.b64 of each half
//	ld.b128   d, [p]        ld.v2.b64 {d, d.high}, [p]
//	atom.cas.b128           atomicWide
func (l *lowering) wide() error {
	whole := l.in
	defer func() { l.in = whole }()
	narrow := *whole
	narrow.Suffix = slices.Clone(whole.Suffix)
	// From here on the instruction is one of 64 bits, apart from its operands.
	narrow.Suffix[slices.Index(narrow.Suffix, "b128")] = "b64"
	l.in = &narrow
	if len(whole.Args) < 2 {
		return l.fail("needs two operands")
	}
	switch whole.Name {
	case "mov":
		d, err := l.halves(&whole.Args[0])
		if err != nil {
			return err
		}
		s, err := l.halves(&whole.Args[1])
		if err != nil {
			return err
		}
		for i := range d {
			narrow.Args = []ptx.Operand{d[i], s[i]}
			if err := l.mov(); err != nil {
				return err
			}
		}
		return nil
	case "ld", "st":
		value := 0
		if whole.Name == "st" {
			value = 1
		}
		pair, err := l.halves(&whole.Args[value])
		if err != nil {
			return err
		}
		narrow.Suffix = append(narrow.Suffix, "v2")
		narrow.Args = slices.Clone(whole.Args)
		narrow.Args[value] = ptx.Operand{Kind: ptx.OpVector, Reg: ptx.NoReg, Reg2: ptx.NoReg, Elems: pair}
		return lowerings[whole.Name](l)
	case "atom":
		return l.atomicWide(whole.Args)
	}
	return l.fail("the interpreter cannot run this instruction")
}

// atomicWide lowers atom.exch and atom.cas on 128 bits. The sources are the elements of the
// access, and the upper half of the result is its second destination. Both halves change
// together, as one lane is executed at a time.
func (l *lowering) atomicWide(args []ptx.Operand) error {
	name := atomicName(l.in)
	if name != "exch" && name != "cas" || len(args) < 3 || name == "cas" && len(args) != 4 {
		return l.fail("the interpreter cannot run this atomic operation")
	}
	r := blank()
	if err := l.memory(&r, &args[1], updates, ptx.B64); err != nil {
		return err
	}
	// Sources are elements of the access, so that layout finds their registers.
	for i := range args[2:] {
		pair, err := l.halves(&args[2+i])
		if err != nil {
			return err
		}
		for _, half := range pair {
			s, err := l.source(&half, 8, ptx.B64)
			if err != nil {
				return err
			}
			r.x.elems = append(r.x.elems, element{s, 8})
		}
	}
	if d := &args[0]; d.Kind != ptx.OpReg || d.Reg != ptx.NoReg {
		pair, err := l.halves(d)
		if err != nil {
			return err
		}
		r.d, r.x.d2 = l.register(pair[0].Reg), l.register(pair[1].Reg)
	}
	r.x.size = 16 / len(r.x.elems) // the access has 16 bytes
	r.x.atomic = name + ".b128"
	r.exec = exchangeWide
	l.k.ordered = l.k.ordered || r.x.space != ptx.Shared
	l.emit(r, atomicCost(r.x.space)).reads = true
	return nil
}

// exchangeWide is atom.exch.b128, or atom.cas.b128 with four elements: the value to compare
// with and the one to store.
func exchangeWide(w *warp, in *inst) {
	for m := w.live; m != 0; m &= m - 1 {
		lane := bits.TrailingZeros32(m)
		p := w.locate(in, w.address(in, lane), 16, lane)
		if p == nil {
			return
		}
		// All sources are read before memory and results are written.
		var v [4]uint64
		for i, e := range in.x.elems {
			v[i] = w.lane(e, lane)
		}
		cell := (*[2]uint64)(unsafe.Pointer(p))
		old := *cell
		switch {
		case len(in.x.elems) == 2:
			*cell = [2]uint64{v[0], v[1]}
		case old == [2]uint64{v[0], v[1]}:
			*cell = [2]uint64{v[2], v[3]}
		}
		w.setLane(element{in.d, 8}, lane, old[0])
		w.setLane(element{in.x.d2, 8}, lane, old[1])
	}
	w.eng.count.atomics += int64(bits.OnesCount32(w.live))
	w.polls = 0
}
