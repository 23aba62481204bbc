package interp

import (
	"strings"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// Video instructions operate on bytes and half words of registers, with 33 bits or more,
// hence int64 here; see "Video Instructions" in the PTX ISA. The scalar ones (vadd …) have
// one result, the SIMD ones (vadd2, vadd4 …) two or four:
//
//	vadd.s32.u32.s32.sat     d.h0, a.b1, b.h0, c      part of d; the rest of d is from c
//	vadd.s32.u32.s32.add     d, a.b1, b, c            (a.b1 + b) + c
//	vadd4.s32.s32.s32.add    d.b20, a.b3210, b, c     elements 0 and 2, plus c

// videoOps are the operations that the scalar and the SIMD forms share.
var videoOps = map[string]func(a, b int64) int64{
	"vadd":     func(a, b int64) int64 { return a + b },
	"vsub":     func(a, b int64) int64 { return a - b },
	"vabsdiff": func(a, b int64) int64 { return max(a-b, b-a) },
	"vmin":     func(a, b int64) int64 { return min(a, b) },
	"vmax":     func(a, b int64) int64 { return max(a, b) },
	"vavrg": func(a, b int64) int64 {
		if a+b >= 0 {
			return (a + b + 1) >> 1
		}
		return (a + b) >> 1
	},
}

// videoCompares are the comparisons of vset.
var videoCompares = map[string]func(a, b int64) bool{
	"eq": func(a, b int64) bool { return a == b }, "ne": func(a, b int64) bool { return a != b },
	"lt": func(a, b int64) bool { return a < b }, "le": func(a, b int64) bool { return a <= b },
	"gt": func(a, b int64) bool { return a > b }, "ge": func(a, b int64) bool { return a >= b },
}

// video describes a video instruction by its opcode.
type video struct {
	compute func(a, b int64) int64
	d, a, b ptx.Type // types of the result and of the sources
	sat     bool
	second  string // add, min or max with c, or ""
	lanes   int    // 1, 2 or 4
}

// video lowers all video instructions except vmad.
func (l *lowering) video() error {
	in := l.in
	v := video{sat: has(in, "sat"), lanes: 1}
	name := in.Name
	if n := len(name) - 1; name[n] == '2' || name[n] == '4' {
		name, v.lanes = name[:n], int(name[n]-'0')
	}
	list := types(in)
	// vset has no type for its result, which is 0 or 1.
	if name == "vset" && len(list) == 2 {
		list = append([]ptx.Type{ptx.U32}, list...)
	}
	if len(list) != 3 {
		return l.fail("needs the types of the result and of both sources")
	}
	v.d, v.a, v.b = list[0], list[1], list[2]
	v.compute = l.videoOp(name, v)
	for _, s := range in.Suffix {
		if s == "add" || s == "min" || s == "max" {
			v.second = s
		}
	}
	if v.compute == nil || len(in.Args) != 3 && len(in.Args) != 4 || v.lanes > 1 && len(in.Args) != 4 {
		return l.fail("the interpreter cannot run this instruction")
	}
	if (v.second != "" || in.Args[0].Name != "") && len(in.Args) != 4 {
		return l.fail("needs a third source")
	}
	f, err := l.videoFunc(v)
	if err != nil {
		return err
	}
	if len(in.Args) == 3 {
		return l.registers(lift2(func(a, b uint32) uint32 { return f(a, b, 0) }), costALU, ptx.B32, 4, 4, 4)
	}
	return l.registers(lift3(f), costALU, ptx.B32, 4, 4, 4, 4)
}

// videoOp returns the operation by its name without the number of lanes, or nil.
func (l *lowering) videoOp(name string, v video) func(a, b int64) int64 {
	switch name {
	case "vset":
		for _, s := range l.in.Suffix {
			if holds := videoCompares[s]; holds != nil {
				return func(a, b int64) int64 { return choose[int64](holds(a, b), 1, 0) }
			}
		}
		return nil
	case "vshl", "vshr":
		if v.lanes > 1 || v.b != ptx.U32 {
			return nil
		}
		amount := func(n int64) int64 { return min(n, 32) }
		if has(l.in, "wrap") {
			amount = func(n int64) int64 { return n & 31 }
		}
		if name == "vshl" {
			return func(a, n int64) int64 { return a << amount(n) }
		}
		return func(a, n int64) int64 { return a >> amount(n) }
	case "vavrg":
		if v.lanes == 1 {
			return nil
		}
	}
	return videoOps[name]
}

// videoFunc composes the function of a scalar instruction: select the parts of a and b,
// compute, saturate, and then one of
//
//	d = result op2 c           with a secondary operation
//	d = c with a part replaced with a part of d
//	d = result                 otherwise
func (l *lowering) videoFunc(v video) (func(a, b, c uint32) uint32, error) {
	args := l.in.Args
	if v.lanes > 1 {
		return l.simdVideo(v)
	}
	pick := [2]func(uint32) int64{}
	for i, typ := range []ptx.Type{v.a, v.b} {
		p, ok := parsePart(args[i+1].Name)
		if !ok {
			return nil, l.fail("operand part .%s is unknown", args[i+1].Name)
		}
		pick[i] = func(r uint32) int64 { return p.extract(uint64(r), typ.Signed()) }
	}
	to, ok := parsePart(args[0].Name)
	if !ok {
		return nil, l.fail("operand part .%s is unknown", args[0].Name)
	}
	return func(a, b, c uint32) uint32 {
		t := v.compute(pick[0](a), pick[1](b))
		// Saturation is to the part that is written.
		if v.sat {
			t = to.clamp(t, v.d.Signed())
		}
		switch {
		case v.second != "":
			return uint32(v.combine(t, part{0, 32}.extract(uint64(c), v.d.Signed())))
		case to.bits < 32:
			return to.replace(c, t)
		}
		return uint32(t)
	}, nil
}

// combine is the secondary operation.
func (v video) combine(t, c int64) int64 {
	switch v.second {
	case "min":
		return min(t, c)
	case "max":
		return max(t, c)
	}
	return t + c
}

// simdVideo returns the function of a SIMD instruction. Its selectors take the elements of
// each operand from both registers together, of which a is the lower half and b the upper:
//
//	b3210 of a          bytes 3, 2, 1, 0: those of a
//	b7654 of b          bytes 7, 6, 5, 4: those of b
//	b0123               bytes of a in reverse order
func (l *lowering) simdVideo(v video) (func(a, b, c uint32) uint32, error) {
	args := l.in.Args
	unit, defaults := byte('h'), [2]string{"h10", "h32"}
	if v.lanes == 4 {
		unit, defaults = 'b', [2]string{"b3210", "b7654"}
	}
	bits := 32 / v.lanes
	var from [2][]part
	for i := range from {
		name := args[i+1].Name
		if name == "" {
			name = defaults[i]
		}
		if name[0] != unit || len(name) != 1+v.lanes {
			return nil, l.fail("operand part .%s is unknown", name)
		}
		// The selectors are written from the highest element to the lowest: b3210.
		for k := range v.lanes {
			at := int(name[len(name)-1-k]-'0') * bits
			if at < 0 || at >= 64 {
				return nil, l.fail("operand part .%s is unknown", name)
			}
			from[i] = append(from[i], part{at, bits})
		}
	}
	mask := args[0].Name
	if mask == "" {
		mask = defaults[0]
	}
	if mask[0] != unit {
		return nil, l.fail("mask .%s is unknown", mask)
	}
	return func(a, b, c uint32) uint32 {
		both, d := uint64(b)<<32|uint64(a), c
		for k := range v.lanes {
			to := part{k * bits, bits}
			t := v.compute(from[0][k].extract(both, v.a.Signed()), from[1][k].extract(both, v.b.Signed()))
			if v.sat {
				t = to.clamp(t, v.d.Signed())
			}
			switch {
			case strings.IndexByte(mask, byte('0'+k)) < 0:
			case v.second != "":
				d += uint32(t)
			default:
				d = to.replace(d, t)
			}
		}
		return d
	}, nil
}

// part is a bit field of a register.
type part struct{ at, bits int }

// parsePart parses .b0 … .b3, .h0 and .h1. An empty name is the whole register.
func parsePart(name string) (part, bool) {
	switch {
	case name == "":
		return part{0, 32}, true
	case len(name) != 2:
		return part{}, false
	case name[0] == 'b' && name[1] <= '3':
		return part{8 * int(name[1]-'0'), 8}, true
	case name[0] == 'h' && name[1] <= '1':
		return part{16 * int(name[1]-'0'), 16}, true
	}
	return part{}, false
}

// extract returns the field of v as a signed or unsigned number.
func (p part) extract(v uint64, signed bool) int64 {
	return int64(signExtend(v>>p.at, p.bits/8, signed))
}

// replace returns v with the field set to t.
func (p part) replace(v uint32, t int64) uint32 {
	mask := uint32(1<<p.bits-1) << p.at
	return v&^mask | uint32(t)<<p.at&mask
}

// clamp saturates to the range of the part.
func (p part) clamp(t int64, signed bool) int64 {
	if signed {
		return min(max(t, -1<<(p.bits-1)), 1<<(p.bits-1)-1)
	}
	return min(max(t, 0), 1<<p.bits-1)
}
