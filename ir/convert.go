package ir

import (
	"fmt"
	"math"
	"reflect"

	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/phrase"
)

// NewScalar converts a Go number to a scalar of type t. An integer must be in the range of an integer type.
// A floating-point type accepts both kinds of numbers, rounds to nearest, and must not overflow. F16 and
// BF16 take their bits as a uint16. A Scalar of type t is returned unchanged. The error wraps ErrMissing
// if v is nil.
func NewScalar(t Type, v any) (Scalar, error) {
	if s, ok := v.(Scalar); ok {
		if s.Type != t {
			return Scalar{}, fmt.Errorf("%v is no %v", s, t)
		}
		return s, nil
	}
	if v == nil {
		return Scalar{}, absent.Nil("the value, a Go number,")
	}
	rv := reflect.ValueOf(v)
	switch t {
	case F32, F64:
		f, ok := asFloat(rv)
		if !ok {
			return Scalar{}, fmt.Errorf("%v is not a number for %v", reflect.TypeOf(v), t)
		}
		if t == F64 {
			return Scalar{t, math.Float64bits(f)}, nil
		}
		if math.IsInf(float64(float32(f)), 0) && !math.IsInf(f, 0) {
			return Scalar{}, fmt.Errorf("%s does not fit %v", phrase.Number(v), t)
		}
		return Scalar{t, uint64(math.Float32bits(float32(f)))}, nil
	}
	bits, ok := asBits(rv, t)
	switch {
	case ok:
		return Scalar{t, bits}, nil
	case rv.CanInt() || rv.CanUint():
		return Scalar{}, fmt.Errorf("%s does not fit %v", phrase.Number(v), t)
	}
	return Scalar{}, fmt.Errorf("%s is not an integer for %v: pass one", phrase.Number(v), t)
}

// asFloat returns the value of any Go number as a float64.
func asFloat(v reflect.Value) (float64, bool) {
	switch {
	case v.CanFloat():
		return v.Float(), true
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	}
	return 0, false
}

// asBits returns the two's complement bits of a Go integer, and whether it is in the range of t.
func asBits(v reflect.Value, t Type) (uint64, bool) {
	width := uint(8 * t.Size())
	mask := ^uint64(0) >> (64 - width)
	signed := t == I8 || t == I16 || t == I32 || t == I64
	switch {
	case v.CanInt():
		n := v.Int()
		if signed {
			return uint64(n) & mask, n<<(64-width)>>(64-width) == n // unchanged by truncation and sign extension
		}
		return uint64(n), n >= 0 && uint64(n) <= mask
	case v.CanUint():
		n := v.Uint()
		if signed {
			return n, n <= mask>>1
		}
		return n, n <= mask
	}
	return 0, false
}
