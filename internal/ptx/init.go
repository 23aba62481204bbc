package ptx

import (
	"encoding/binary"
	"math"
	"strings"
)

// initializer parses "= value" or "= {…}" into v.Init and v.Relocs. The bytes after the last
// value are zero and are not in v.Init, so that a short text cannot take much memory. An extent
// that is omitted follows from the number of values:
//
//	.global .u32 a[2][2] = {{1}, {2, 3}};
//
//	Init   01 00 00 00 │ 00 00 00 00 │ 02 00 00 00 │ 03 00 00 00
//	       a[0][0]       a[0][1]       a[1][0]       a[1][1]
//
//	.global .u64 p[2] = {x, x+8};
//
//	Init   16 zero bytes
//	Relocs {0, x, 0}, {8, x, 8}
func (p *parser) initializer(v *Var) {
	in := &initList{p: p, v: v}
	if len(v.Dims) == 0 {
		in.value(0)
		return
	}
	end := in.level(0, 0)
	// Rounded up: the last element may be given in part.
	if stride := in.stride(0); v.Dims[0] == 0 {
		v.Dims[0] = max(1, (end+stride-1)/stride)
	}
}

// initList fills the bytes of one variable.
type initList struct {
	p *parser
	v *Var
}

// stride returns the size of one element of dimension d, in bytes.
func (in *initList) stride(d int) int64 {
	n := int64(in.v.Type.Size())
	for _, extent := range in.v.Dims[d+1:] {
		n *= extent
	}
	return n
}

// level parses one {…} of dimension d from byte at, and returns the byte after the last value
// that it sets. Braces of inner dimensions may be omitted, as in C: values then fill the
// elements in order. The depth is at most maxDims + 1.
func (in *initList) level(d int, at int64) int64 {
	p, stride := in.p, in.stride(d)
	limit := at + stride*in.v.Dims[d]
	if in.v.Dims[d] == 0 {
		limit = maxVarBytes
	}
	p.expect('{', "to open the initial value of "+in.v.Name)
	for p.tok.kind != '}' {
		if at >= limit {
			p.fail(p.tok.pos, "%s has more initial values than elements", in.v.Name)
		}
		switch {
		case p.tok.kind != '{':
			in.value(at)
			at += int64(in.v.Type.Size())
		case d+1 < len(in.v.Dims):
			in.level(d+1, at)
			at += stride
		default:
			p.fail(p.tok.pos, "the initial value of %s is nested deeper than its dimensions", in.v.Name)
		}
		if !p.comma('}', "an initial value") {
			break
		}
	}
	p.expect('}', "to close the initial value of "+in.v.Name)
	return at
}

// pad extends the initial value with zeros to size bytes. maxInitBytes bounds
// the sum of all initial values of a module.
func (in *initList) pad(size int64) {
	missing := size - int64(len(in.v.Init))
	if missing <= 0 {
		return
	}
	// The bound is on the module, since a file can declare many variables.
	if in.p.initBytes += missing; in.p.initBytes > maxInitBytes {
		in.p.fail(in.p.tok.pos, "the initial values of the module up to here, with the gaps between them, take more than %d bytes", maxInitBytes)
	}
	in.v.Init = append(in.v.Init, make([]byte, missing)...)
}

// value parses a number, or the address of a symbol, into the element at byte at. As in ptxas,
// an integer variable requires an integer, and one of type .f32 or .f64 a floating-point
// number.
func (in *initList) value(at int64) {
	size := int64(in.v.Type.Size())
	in.pad(at + size)
	p := in.p
	switch t := p.tok; {
	case t.kind == tokWord && t.text != "WARP_SZ":
		if in.v.Type != U32 && in.v.Type != U64 {
			p.fail(t.pos, "%s is .%s, which cannot contain the address of %s: use .u64", in.v.Name, in.v.Type, t.text)
		}
		in.v.Relocs = append(in.v.Relocs, in.symbol(at))
	// 0xFF00(symbol) is one byte of an address.
	case t.kind == tokNumber && strings.HasPrefix(strings.TrimLeft(p.src[p.off:], " \t"), "("): // 0xFF00(symbol): one byte of an address
		if in.v.Type != U8 && in.v.Type != U32 && in.v.Type != U64 {
			p.fail(t.pos, "%s is .%s, which cannot contain a byte of an address: use .u8", in.v.Name, in.v.Type)
		}
		p.next()
		in.masked(t, at)
	default:
		op := p.constant("an initial value")
		if op.Kind != OpInt && in.v.Type.family() == 'i' {
			p.fail(op.Pos, "%s is an integer: its initial value cannot be a floating-point number", in.v.Name)
		}
		if op.Kind == OpInt && (in.v.Type == F32 || in.v.Type == F64) {
			p.fail(op.Pos, "%s is .%s: its initial value cannot be an integer; write %d.0", in.v.Name, in.v.Type, op.Imm)
		}
		in.store(at, size, op)
	}
}

// store writes a literal in the variable's type, little-endian. A double is rounded to the
// nearest float.
func (in *initList) store(at, size int64, op Operand) {
	imm := uint64(op.Imm)
	switch {
	// A 16-bit variable, of any type, with a floating-point value.
	case size == 2 && op.Kind != OpInt: // LLVM writes halves as floats
		imm = uint64(halfBits(value{op: op}.float()))
	case in.v.Type == F32 && op.Kind == OpFloat64:
		imm = uint64(math.Float32bits(float32(math.Float64frombits(imm))))
	case in.v.Type == F64 && op.Kind == OpFloat32:
		imm = math.Float64bits(float64(math.Float32frombits(uint32(imm))))
	}
	var wide [16]byte
	binary.LittleEndian.PutUint64(wide[:], imm)
	copy(in.v.Init[at:at+size], wide[:])
}

// halfBits converts f to the bits of an IEEE 754 binary16, rounding towards zero. Values of
// 65536 and above become infinite, and values below 2^-14 are subnormal.
func halfBits(f float64) uint16 {
	sign := uint16(math.Float64bits(f)>>63) << 15
	m, e := math.Frexp(math.Abs(f))
	switch {
	case f != f:
		return 0x7fff
	case math.Abs(f) >= 65536:
		return sign | 0x7c00
	case f == 0 || e < -13:
		return sign | uint16(math.Abs(f)*0x1p24)
	}
	return sign | (uint16(e+14)<<10 + uint16(m*2048) - 1024)
}

// symbol parses sym, sym+n or generic(sym)+n.
func (in *initList) symbol(at int64) Reloc {
	p := in.p
	t := p.name("a symbol")
	r := Reloc{Offset: at, Symbol: t.text}
	if t.text == "generic" && p.accept('(') {
		t = p.name("a symbol")
		r.Symbol, r.Generic = t.text, true
		p.expect(')', "after generic(")
	}
	in.addend(&r)
	p.useSymbol(t, useInit)
	return r
}

// addend parses the "+n" after a symbol.
func (in *initList) addend(r *Reloc) { r.Addend += in.p.offset() }

// masked parses mask(symbol) in a byte array. Compilers write the eight bytes
// of an address one after the other; the first one creates the relocation.
func (in *initList) masked(mask token, at int64) {
	in.p.next()
	r := in.symbol(at)
	in.p.expect(')', "after a masked symbol")
	if value, ok := parseInteger(mask.text); !ok || value == 0 {
		in.p.fail(mask.pos, "%s is not a byte mask", mask.describe())
	} else if value == 0xFF {
		in.v.Relocs = append(in.v.Relocs, r)
	}
}

// useSymbol records a name that must be declared as a variable before its use,
// or as a function anywhere in the file.
func (p *parser) useSymbol(t token, kind useKind) {
	if p.vars[t.text] == nil || kind == useCall {
		p.symbols = append(p.symbols, symbolUse{t.pos, t.text, kind})
	}
}
