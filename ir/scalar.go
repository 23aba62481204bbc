package ir

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// class is the encoding of numbers in the bits of a type.
type class uint8

const (
	unsigned class = iota
	signed
	float
)

// classes is, by type, its class and, for a float, the width of its stored mantissa in bits. With the size of
// the type this determines the format: one sign bit, the exponent, the mantissa.
var classes = [numTypes]struct {
	class    class
	mantissa int
}{
	U8: {}, U16: {}, U32: {}, U64: {},
	I8: {class: signed}, I16: {class: signed}, I32: {class: signed}, I64: {class: signed},
	F16: {float, 10}, BF16: {float, 7}, F32: {float, 23}, F64: {float, 52},
}

// masked returns the bits of the scalar without those above its size, which are not part of the value.
func (s Scalar) masked() uint64 { return s.Bits & (^uint64(0) >> (64 - 8*uint(s.Type.Size()))) }

// String prints a scalar as it appears among the arguments of a launch: f32=0.5.
func (s Scalar) String() string { return string(s.appendText(nil)) }

func (s Scalar) appendText(dst []byte) []byte {
	dst = append(dst, s.Type.String()...)
	return s.appendValue(append(dst, '='))
}

// appendValue appends the value alone. A float prints as the shortest decimal that parses to the same bits, a
// NaN as its bits in hexadecimal.
func (s Scalar) appendValue(dst []byte) []byte {
	if s.Type >= numTypes {
		return strconv.AppendUint(append(dst, "0x"...), s.Bits, 16)
	}
	bits, size := s.masked(), uint(s.Type.Size())
	switch classes[s.Type].class {
	case unsigned:
		return strconv.AppendUint(dst, bits, 10)
	case signed:
		shift := 64 - 8*size
		return strconv.AppendInt(dst, int64(bits<<shift)>>shift, 10)
	}
	f := s.float()
	switch {
	case math.IsNaN(f):
		return strconv.AppendUint(append(dst, "0x"...), bits, 16)
	case math.IsInf(f, 0):
		return append(dst, strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, 64), "+"))...)
	case s.Type == F64:
		return strconv.AppendFloat(dst, f, 'g', -1, 64)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, 32) // F16 and BF16 values are F32 values as well
}

// float returns the value of a floating-point scalar, exactly. Every NaN becomes the same one.
func (s Scalar) float() float64 {
	switch bits := s.masked(); s.Type {
	case F64:
		return math.Float64frombits(bits)
	case F32:
		return float64(math.Float32frombits(uint32(bits)))
	default:
		return expand(bits, classes[s.Type].mantissa)
	}
}

// expand decodes a 16-bit float with a mantissa of the given width in bits, as IEEE 754 does:
//
//	15   14 ... mantissa   mantissa-1 ... 0
//	sign    exponent             fraction
//
// The value is ±(1 + fraction/2^mantissa) · 2^(exponent-bias). Exponent 0 has no leading 1 and the exponent of
// 1; the greatest exponent is for infinities and NaNs.
func expand(bits uint64, mantissa int) float64 {
	top := 1<<(15-mantissa) - 1 // the exponent of infinities and NaNs
	bias := top >> 1
	exp, frac := int(bits>>mantissa)&top, float64(bits&(1<<mantissa-1))
	var f float64
	switch one := float64(int(1) << mantissa); {
	case exp == top && frac != 0:
		return math.NaN()
	case exp == top:
		f = math.Inf(1)
	case exp == 0:
		f = math.Ldexp(frac, 1-bias-mantissa)
	default:
		f = math.Ldexp(one+frac, exp-bias-mantissa)
	}
	if bits>>15 != 0 {
		return -f
	}
	return f
}

// narrow encodes f as a 16-bit float, rounded to nearest with ties to even. A value that is too large becomes
// infinite, and every NaN the canonical one.
func narrow(f float64, mantissa int) uint64 {
	top := 1<<(15-mantissa) - 1
	bias := top >> 1
	var sign uint64
	if math.Signbit(f) {
		sign, f = 1<<15, -f
	}
	switch {
	case math.IsNaN(f):
		return uint64(top)<<mantissa | 1<<(mantissa-1)
	case math.IsInf(f, 0):
		return sign | uint64(top)<<mantissa
	case f == 0:
		return sign
	}
	_, e := math.Frexp(f) // f is in [2^(e-1), 2^e)
	exp := max(e-1, 1-bias)
	units := uint64(math.RoundToEven(math.Ldexp(f, mantissa-exp)))
	// units holds the leading 1 of a normal number, which adds 1 to the exponent field, hence bias-1. A
	// subnormal has no leading 1, so its field stays 0. A carry from rounding increments the field as well.
	bits := uint64(exp+bias-1)<<mantissa + units
	return sign | min(bits, uint64(top)<<mantissa)
}

var errRange = errors.New("value out of range")

// ParseScalar reads a value of type t in the syntax of the text form: a decimal, inf, or the bits in hexadecimal, for floats
// too. The error says that the text is no such value, or that it does not fit.
func ParseScalar(t Type, text string) (Scalar, error) {
	bits, err := parseBits(t, text)
	if errors.Is(err, strconv.ErrRange) || errors.Is(err, errRange) {
		return Scalar{}, fmt.Errorf("%s does not fit in %v", text, t)
	}
	if err != nil {
		return Scalar{}, fmt.Errorf("%q is not a value of type %v", text, t)
	}
	s := Scalar{Type: t, Bits: bits}
	s.Bits = s.masked()
	return s, nil
}

// parseBits returns the bits of a value. The error wraps strconv.ErrRange or errRange if it does not fit t.
func parseBits(t Type, text string) (uint64, error) {
	size := int(8 * t.Size())
	if hex, ok := strings.CutPrefix(text, "0x"); ok {
		return strconv.ParseUint(hex, 16, size)
	}
	switch classes[t].class {
	case unsigned:
		return strconv.ParseUint(text, 10, size)
	case signed:
		i, err := strconv.ParseInt(text, 10, size)
		return uint64(i), err
	}
	return parseFloat(t, text)
}

// parseFloat returns the bits of a floating-point value.
func parseFloat(t Type, text string) (uint64, error) {
	f, err := strconv.ParseFloat(text, int(8*max(t.Size(), 4)))
	if err != nil {
		return 0, err
	}
	switch t {
	case F64:
		return math.Float64bits(f), nil
	case F32:
		return uint64(math.Float32bits(float32(f))), nil
	}
	bits := narrow(f, classes[t].mantissa)
	if back := (Scalar{Type: t, Bits: bits}); math.IsInf(back.float(), 0) && !math.IsInf(f, 0) {
		return 0, errRange
	}
	return bits, nil
}
