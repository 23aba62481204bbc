package interp

import (
	"math"
	"strings"

	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/unit"
)

// cvt lowers conversions between types, see "cvt" in the PTX ISA. The forms:
//
//	cvt.rn.f32.s32          one value
//	cvt.rn.tf32.f32         the destination is a format in a 32-bit register
//	cvt.rn.f16x2.f32 d,a,b  two values into one register
//	cvt.rn.f16x2.e4m3x2     two values of a register
//	cvt.pack.sat.u8.s32     two integers below a third operand
func (l *lowering) cvt() error {
	in := l.in
	n := len(in.Suffix)
	if n < 2 || len(in.Args) < 2 || len(types(in)) == 0 {
		return l.fail("needs two types and two operands")
	}
	c, err := l.conversion()
	if err != nil {
		return err
	}
	switch dst, src := in.Suffix[n-2], in.Suffix[n-1]; {
	case has(in, "pack"):
		return l.convertPack()
	// Two sources: the destination holds two values.
	case len(in.Args) == 3:
		return l.convertPair(c, pairs[dst], src)
	case dst == "tf32" && src == "f32":
		return l.convert(4, 4, func(v uint64) uint64 {
			return uint64(c.encode(tensor32, float64(math.Float32frombits(uint32(v))))) << 13
		})
	case pairs[dst].known() && pairs[src].known():
		return l.convertPacked(c, pairs[dst], pairs[src])
	}
	list := types(in)
	if len(list) != 2 {
		return l.fail("the interpreter cannot run this conversion")
	}
	c.dst, c.src = list[0], list[1]
	for _, t := range list {
		if t == ptx.Pred || t.Size() > 8 || pairs[t.String()].known() {
			return l.fail("the interpreter cannot run this conversion")
		}
	}
	dsize, ssize := l.cvtSizes(registerSize(c.dst), registerSize(c.src))
	// Go's own conversions avoid the detour through float64.
	if exec := c.fast(dsize, ssize); exec != nil {
		return l.registers(exec, c.cost(), c.src, dsize, ssize)
	}
	return l.registers(liftBits(dsize, ssize, c.convert()), c.cost(), c.src, dsize, ssize)
}

// cost returns the cost of the conversion. Saturation is a maximum and a minimum, which are comparisons and
// selections for doubles.
func (c *conversion) cost() cost {
	if c.sat && c.dst == ptx.F64 {
		return on(unit.FP64, 2, 40).and(unit.Integer, 6)
	}
	return convertCost(c.dst, c.src)
}

// conversion parses the modifiers of a cvt:
//
//	.rn .rz .rm .rp       direction of rounding
//	.rni .rzi .rmi .rpi   the same, to an integral value
//	.rna                  nearest, ties away from zero
//	.ftz                  subnormals become 0
//	.sat                  [0, 1] for floats, the range of the type for integers
//	.relu                 negative results become 0
//	.satfinite            overflow becomes the largest finite number
func (l *lowering) conversion() (c conversion, err error) {
	for _, s := range l.in.Suffix {
		switch s {
		case "ftz":
			c.ftz = true
		case "sat":
			c.sat = true
		case "relu":
			c.relu = true
		case "satfinite":
			c.satfinite = true
		case "rna":
			c.round = tiesAway
		case "rs":
			return c, l.fail("rounding .rs is not supported")
		case "rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi":
			c.round, c.integral = roundings[s[:2]], len(s) == 3
		default:
			if _, ok := ptx.ParseType(s); !ok && !pairs[s].known() && s != "tf32" && !has(l.in, "pack") {
				return c, l.fail("modifier .%s is not supported", s)
			}
		}
	}
	return c, nil
}

// cvtSizes returns the bytes of the registers of a conversion, which may be wider than
// its types.
func (l *lowering) cvtSizes(dst, src int) (int, int) {
	return l.size(&l.in.Args[0], dst), l.size(&l.in.Args[1], src)
}

// convert lowers a conversion between registers of at least the given bytes.
func (l *lowering) convert(dst, src int, f bitsFunc) error {
	if dst, src = l.cvtSizes(dst, src); dst == 0 || src == 0 {
		return l.fail("a predicate cannot be converted")
	}
	list := types(l.in)
	return l.registers(liftBits(dst, src, f), convertCost(list[0], list[len(list)-1]), list[len(list)-1], dst, src)
}

// pairFormat is the format of a register with two small floats.
type pairFormat struct {
	smallFloat
	bits int // of an element
}

// known reports whether p is a format, not the zero value.
func (p pairFormat) known() bool { return p.bits > 0 }

// register returns the bytes of the register.
func (p pairFormat) register() int { return p.bits / 4 }

// pairs are the formats of two elements in a register, by the name of their type.
var pairs = map[string]pairFormat{
	"f16x2": {binary16, 16}, "bf16x2": {bfloat16, 16}, "e4m3x2": {float8e4m3, 8}, "e5m2x2": {float8e5m2, 8},
}

// convertPair packs two floats, the first into the upper half.
func (l *lowering) convertPair(c conversion, dst pairFormat, src string) error {
	if !dst.known() || src != "f32" {
		return l.fail("the interpreter cannot run this conversion")
	}
	f := func(a, b float32) uint32 {
		return c.encode(dst.smallFloat, float64(a))<<dst.bits | c.encode(dst.smallFloat, float64(b))
	}
	exec := lift2(f)
	if dst.register() == 2 {
		exec = lift2(func(a, b float32) uint16 { return uint16(f(a, b)) })
	}
	return l.registers(exec, costConvert, ptx.F32, dst.register(), 4, 4)
}

// convertPacked converts both elements of a register, for example from two 8-bit floats to
// two halves.
func (l *lowering) convertPacked(c conversion, dst, src pairFormat) error {
	one := func(v uint64) uint64 { return uint64(c.encode(dst.smallFloat, src.decode(uint32(v)&(1<<src.bits-1)))) }
	return l.convert(dst.register(), src.register(), func(v uint64) uint64 {
		return one(v>>src.bits)<<dst.bits | one(v)
	})
}

// convertPack lowers cvt.pack, which saturates two integers to a narrow type. It puts them,
// the first one higher, below the bits of the third operand:
//
//	cvt.pack.sat.u8.s32.b32 d, a, b, c      d = c[15:0] a[7:0] b[7:0]
//	cvt.pack.sat.s16.s32    d, a, b         d = a[15:0] b[15:0]
func (l *lowering) convertPack() error {
	in := l.in
	at := 0
	for at < len(in.Suffix) && in.Suffix[at] != "sat" {
		at++
	}
	if at+2 >= len(in.Suffix) || in.Suffix[at+2] != "s32" {
		return l.fail("the interpreter cannot run this conversion")
	}
	lo, hi, bits, ok := packRange(in.Suffix[at+1])
	if !ok || len(in.Args) != 3 && len(in.Args) != 4 || bits < 16 && len(in.Args) != 4 {
		return l.fail("the interpreter cannot run this conversion")
	}
	pack := func(a, b int32) uint32 {
		field := func(v int32) uint32 { return uint32(min(max(v, lo), hi)) & (1<<bits - 1) }
		return field(a)<<bits | field(b)
	}
	if len(in.Args) == 3 {
		return l.registers(lift2(pack), costConvert, ptx.S32, 4, 4, 4)
	}
	return l.registers(lift3(func(a, b int32, c uint32) uint32 { return c<<(2*bits) | pack(a, b) }), costConvert, ptx.S32, 4, 4, 4, 4)
}

// packRange returns the range and the width of a destination type of cvt.pack.
func packRange(name string) (lo, hi int32, bits int, ok bool) {
	width := map[string]int{"2": 2, "4": 4, "8": 8, "16": 16}
	bits, ok = width[strings.TrimLeft(name, "us")]
	if !ok {
		return 0, 0, 0, false
	}
	if name[0] == 's' {
		return -1 << (bits - 1), 1<<(bits-1) - 1, bits, true
	}
	return 0, 1<<bits - 1, bits, true
}
