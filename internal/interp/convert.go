package interp

import (
	"math"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// A conversion is composed of a reader of the source type, which takes the register's bits
// and ignores those above the type, and a writer of the destination's bits:
//
//	to      from integer                        from float
//	int     extend, saturate, truncate          read, round to integral, saturate
//	float   exact sum of two halves, write      read, round to integral if .rni …, write
//
// All floats are read as float64, which represents every source type exactly. The writer
// rounds once, in the direction of the instruction.

// conversion describes a cvt.
type conversion struct {
	dst, src ptx.Type
	round    rounding
	integral bool // .rni .rzi .rmi .rpi

	ftz, sat, relu, satfinite bool
}

// bitsFunc maps source bits to destination bits, zero-extended to 64.
type bitsFunc func(uint64) uint64

// convert returns the function of c, or nil if the ISA does not have the conversion.
func (c conversion) convert() bitsFunc {
	switch {
	case !c.dst.Float() && !c.src.Float():
		return c.intToInt()
	case !c.src.Float():
		return c.intToFloat()
	case !c.dst.Float():
		return c.floatToInt()
	}
	return c.floatToFloat()
}

// signExtend returns the low size bytes of v as a signed or unsigned integer.
func signExtend(v uint64, size int, signed bool) uint64 {
	shift := uint(64 - 8*size)
	if signed {
		return uint64(int64(v<<shift) >> shift)
	}
	return v << shift >> shift
}

// intToInt converts between integers. Without .sat the high bits are dropped.
func (c conversion) intToInt() bitsFunc {
	src, dst := c.src, c.dst
	return func(v uint64) uint64 {
		v = signExtend(v, src.Size(), src.Signed())
		if c.sat {
			v = clampInt(v, src.Signed(), dst)
		}
		return signExtend(v, dst.Size(), dst.Signed())
	}
}

// clampInt saturates the integer v, signed or not, to the range of dst.
func clampInt(v uint64, signed bool, dst ptx.Type) uint64 {
	width := uint(8 * dst.Size())
	lo, hi := int64(0), uint64(1)<<(width-1)<<1-1
	if dst.Signed() {
		lo, hi = -1<<(width-1), 1<<(width-1)-1
	}
	if signed && int64(v) < 0 {
		return uint64(max(int64(v), lo))
	}
	return min(v, hi)
}

// intToFloat splits the integer into halves that float64 represents exactly.
func (c conversion) intToFloat() bitsFunc {
	write := c.writer()
	size, signed := c.src.Size(), c.src.Signed()
	return func(v uint64) uint64 {
		v = signExtend(v, size, signed)
		// Both halves have at most 32 bits and are exact; twoSum returns the rounding error
		// of their sum.
		hi, lo := float64(v>>32), float64(uint32(v))
		if signed {
			hi = float64(int64(v) >> 32)
		}
		return write(twoSum(hi*(1<<32), lo))
	}
}

// floatToFloat converts between floats.
func (c conversion) floatToFloat() bitsFunc {
	read, write := c.reader(), c.writer()
	if c.integral {
		return func(v uint64) uint64 { return write(c.toIntegral(read(v)), 0) }
	}
	return func(v uint64) uint64 { return write(read(v), 0) }
}

// floatToInt converts with saturation, as PTX requires with or without .sat. A NaN becomes
// 0, or the number whose highest bit alone is set if one of the types has 64 bits.
func (c conversion) floatToInt() bitsFunc {
	read := c.reader()
	size, signed := c.dst.Size(), c.dst.Signed()
	// The value for a NaN depends on the types, see "cvt" in the PTX ISA.
	nan := uint64(0)
	if c.src == ptx.F64 || size == 8 {
		nan = signExtend(1<<(8*size-1), size, signed)
	}
	return func(v uint64) uint64 {
		f := read(v)
		if f != f {
			return nan
		}
		return signExtend(clampFloat(c.toIntegral(f), size, signed), size, signed)
	}
}

// clampFloat converts f to an integer, saturated to size bytes.
func clampFloat(f float64, size int, signed bool) uint64 {
	if signed {
		limit := math.Ldexp(1, 8*size-1)
		switch {
		case f >= limit:
			return 1<<(8*size-1) - 1
		case f <= -limit:
			return uint64(int64(-1) << (8*size - 1))
		}
		return uint64(int64(f))
	}
	switch {
	case f <= 0:
		return 0
	case f >= math.Ldexp(1, 8*size):
		return ^uint64(0)
	case f >= 1<<63:
		return uint64(int64(f-1<<63)) + 1<<63
	}
	return uint64(int64(f))
}

// toIntegral rounds to an integer in the direction of the instruction.
func (c conversion) toIntegral(f float64) float64 {
	switch c.round {
	case toZero:
		return math.Trunc(f)
	case down:
		return math.Floor(f)
	case up:
		return math.Ceil(f)
	}
	return math.RoundToEven(f)
}

// reader converts bits of the source type to float64, which represents all of them.
func (c conversion) reader() func(uint64) float64 {
	switch c.src {
	case ptx.F16:
		return func(v uint64) float64 { return fromHalf(uint16(v)) }
	case ptx.BF16:
		return func(v uint64) float64 { return bfloat16.decode(uint32(uint16(v))) }
	case ptx.F32:
		if c.ftz {
			return func(v uint64) float64 { return float64(flush(math.Float32frombits(uint32(v)))) }
		}
		return func(v uint64) float64 { return float64(math.Float32frombits(uint32(v))) }
	case ptx.F64:
		return math.Float64frombits
	}
	return nil
}

// writer rounds f+err to the destination type; err is the rounding error of f.
func (c conversion) writer() func(f, err float64) uint64 {
	fit := func(f float64) float64 { return f }
	if c.sat {
		fit = saturate[float64]
	}
	switch c.dst {
	case ptx.F16:
		return c.narrow(binary16)
	case ptx.BF16:
		return c.narrow(bfloat16)
	case ptx.F32:
		return func(f, err float64) uint64 {
			v := narrow(fit(toOdd(f, err)), c.round)
			if c.ftz {
				v = flush(v)
			}
			return uint64(math.Float32bits(v))
		}
	case ptx.F64:
		return func(f, err float64) uint64 { return math.Float64bits(fit(nudge64(f, err, c.round))) }
	}
	return nil
}

// narrow returns the writer for a small float.
func (c conversion) narrow(s smallFloat) func(f, err float64) uint64 {
	return func(f, err float64) uint64 { return uint64(c.encode(s, toOdd(f, err))) }
}

// encode rounds f to a small float, with the modifiers of the conversion.
func (c conversion) encode(s smallFloat, f float64) uint32 {
	if c.sat {
		f = saturate(f)
	}
	if c.relu {
		f = relu(f)
	}
	v := s.encode(f, c.round)
	if c.satfinite && f == f && v&(s.sign()-1) > s.largest() {
		v = v&s.sign() | s.largest()
	}
	return v
}

// liftBits lifts a conversion between registers of the given sizes in bytes.
func liftBits(dst, src int, f bitsFunc) handler {
	switch src {
	case 2:
		return liftBitsFrom[uint16](dst, f)
	case 4:
		return liftBitsFrom[uint32](dst, f)
	}
	return liftBitsFrom[uint64](dst, f)
}

// liftBitsFrom is liftBits for sources of type A.
func liftBitsFrom[A unsigned](dst int, f bitsFunc) handler {
	switch dst {
	case 2:
		return lift1(func(a A) uint16 { return uint16(f(uint64(a))) })
	case 4:
		return lift1(func(a A) uint32 { return uint32(f(uint64(a))) })
	}
	return lift1(func(a A) uint64 { return f(uint64(a)) })
}

// fast returns a handler for conversions that equal those of Go, or nil.
func (c conversion) fast(dst, src int) handler {
	if c.sat || c.ftz || c.integral || c.round != toNearest || dst != c.dst.Size() || src != c.src.Size() {
		return nil
	}
	return fastConversions[[2]ptx.Type{c.dst, c.src}]
}

// fastConversions are the conversions that Go computes in the same way, by destination and
// source.
var fastConversions = map[[2]ptx.Type]handler{
	{ptx.S64, ptx.S32}: convertLanes[int64, int32],
	{ptx.U64, ptx.S32}: convertLanes[int64, int32],
	{ptx.U64, ptx.U32}: convertLanes[uint64, uint32],
	{ptx.S64, ptx.U32}: convertLanes[uint64, uint32],
	{ptx.U32, ptx.U64}: convertLanes[uint32, uint64],
	{ptx.S32, ptx.S64}: convertLanes[uint32, uint64],
	{ptx.S32, ptx.U64}: convertLanes[uint32, uint64],
	{ptx.U32, ptx.S64}: convertLanes[uint32, uint64],
	{ptx.U16, ptx.U32}: convertLanes[uint16, uint32],
	{ptx.U32, ptx.U16}: convertLanes[uint32, uint16],
	{ptx.S32, ptx.S16}: convertLanes[int32, int16],
	{ptx.F32, ptx.S32}: convertLanes[float32, int32],
	{ptx.F64, ptx.S32}: convertLanes[float64, int32],
	{ptx.F64, ptx.U32}: convertLanes[float64, uint32],
	{ptx.F64, ptx.F32}: convertLanes[float64, float32],
	{ptx.F32, ptx.F64}: convertLanes[float32, float64],
}

// convertLanes converts all live lanes by a conversion of Go.
func convertLanes[D, S integer | float32 | float64](w *warp, in *inst) {
	d, a := view[D](w, in.d), view[S](w, in.a)
	if w.live == allLanes {
		for i := range lanes {
			d[i] = D(a[i])
		}
		return
	}
	each(w.live, func(i int) { d[i] = D(a[i]) })
}
