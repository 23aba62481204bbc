package instrtest

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// format is an element type: its width in bits, and the bits of the fraction when
// it is a float.
type format struct {
	name     string
	bits     int
	fraction int
	signed   bool
}

var formats = []format{
	{name: "b8", bits: 8}, {name: "b16", bits: 16}, {name: "b32", bits: 32}, {name: "b64", bits: 64},
	{name: "u8", bits: 8}, {name: "u16", bits: 16}, {name: "u32", bits: 32}, {name: "u64", bits: 64},
	{name: "s8", bits: 8, signed: true}, {name: "s16", bits: 16, signed: true},
	{name: "s32", bits: 32, signed: true}, {name: "s64", bits: 64, signed: true},
	{name: "f16", bits: 16, fraction: 10}, {name: "bf16", bits: 16, fraction: 7},
	{name: "f32", bits: 32, fraction: 23}, {name: "f64", bits: 64, fraction: 52},
}

func findFormat(name string) (format, error) {
	for _, f := range formats {
		if f.name == name {
			return f, nil
		}
	}
	return format{}, fmt.Errorf("%q is no type of elements", name)
}

func (f format) mask() uint64 { return ^uint64(0) >> (64 - f.bits) }

// bias returns the exponent bias of the format.
func (f format) bias() int { return 1<<(f.bits-f.fraction-2) - 1 }

// infinity returns the bits of +inf. Greater magnitudes are NaNs.
func (f format) infinity() uint64 { return uint64(2*f.bias()+1) << f.fraction }

func (f format) magnitude(v uint64) uint64 { return v & (f.mask() >> 1) }

func (f format) isNaN(v uint64) bool { return f.fraction > 0 && f.magnitude(v) > f.infinity() }

// encode rounds x to the nearest float of the format, ties to even.
func (f format) encode(x float64) uint64 {
	sign := uint64(0)
	if math.Signbit(x) {
		sign = 1 << (f.bits - 1)
	}
	switch {
	case x != x:
		return f.infinity() + 1<<(f.fraction-1)
	case x == 0:
		return sign
	case math.IsInf(x, 0):
		return sign | f.infinity()
	}
	_, e := math.Frexp(x)
	e = max(e-1, 1-f.bias())
	units := math.RoundToEven(math.Ldexp(math.Abs(x), f.fraction-e))
	return sign | min(uint64(e+f.bias()-1)<<f.fraction+uint64(units), f.infinity())
}

// decode returns the value of a float given by its bits.
func (f format) decode(v uint64) float64 {
	m := f.magnitude(v)
	x := math.NaN()
	switch e := int(m >> f.fraction); {
	case m == f.infinity():
		x = math.Inf(1)
	case m > f.infinity():
	case e == 0:
		x = math.Ldexp(float64(m), 1-f.bias()-f.fraction)
	default:
		frac := m&(1<<f.fraction-1) | 1<<f.fraction
		x = math.Ldexp(float64(frac), e-f.bias()-f.fraction)
	}
	if m != v {
		return -x
	}
	return x
}

// parse reads one value: an integer, a decimal number of a float type, or the
// bits behind 0x, 0f or 0d.
func (f format) parse(s string) (uint64, error) {
	if f.fraction > 0 && !strings.HasPrefix(s, "0x") {
		if digits, ok := strings.CutPrefix(s, fmt.Sprintf("0%c", "fd"[f.bits/64])); ok {
			s = "0x" + digits
		} else {
			x, err := strconv.ParseFloat(s, max(f.bits, 32))
			return f.encode(x), err
		}
	}
	if strings.HasPrefix(s, "-") {
		v, err := strconv.ParseInt(s, 0, f.bits)
		return uint64(v) & f.mask(), err
	}
	return strconv.ParseUint(s, 0, f.bits)
}

// show formats a value together with its bits.
func (f format) show(v uint64) string {
	hex := fmt.Sprintf("0x%0*x", f.bits/4, v)
	switch {
	case f.fraction > 0:
		return strconv.FormatFloat(f.decode(v), 'g', -1, max(f.bits, 32)) + " (" + hex + ")"
	case f.signed:
		shift := 64 - f.bits
		return fmt.Sprintf("%d (%s)", int64(v<<shift)>>shift, hex)
	}
	return fmt.Sprintf("%d (%s)", v, hex)
}

// values holds the elements of one buffer and the tolerance of results.
type values struct {
	format
	elems []uint64
	ulps  uint64
	rel   float64
	abs   float64
}

// parseValues reads "TYPE[~TOLERANCE] VALUE…". "4*7" stands for four values 7, and
// "0..31" for the integers from 0 to 31.
func parseValues(fields []string) (values, error) {
	if len(fields) < 2 {
		return values{}, fmt.Errorf("needs a type and values")
	}
	name, tolerance, _ := strings.Cut(fields[0], "~")
	f, err := findFormat(name)
	if err != nil {
		return values{}, err
	}
	v := values{format: f}
	if err := v.parseTolerance(tolerance); err != nil {
		return values{}, err
	}
	for _, s := range fields[1:] {
		list, err := f.parseItem(s)
		if err != nil {
			return values{}, fmt.Errorf("value %s: %w", s, err)
		}
		v.elems = append(v.elems, list...)
	}
	return v, nil
}

func (v *values) parseTolerance(s string) (err error) {
	switch {
	case s == "":
		return nil
	case v.fraction == 0:
		return fmt.Errorf("a tolerance needs a float type, not .%s", v.name)
	case strings.HasSuffix(s, "ulp"):
		v.ulps, err = strconv.ParseUint(strings.TrimSuffix(s, "ulp"), 10, 32)
	case strings.HasPrefix(s, "abs"):
		v.abs, err = strconv.ParseFloat(s[len("abs"):], 64)
	default:
		v.rel, err = strconv.ParseFloat(s, 64)
	}
	return err
}

// maxElements bounds the size of a buffer, so that a typing error in a count does not exhaust the memory.
const maxElements = 1 << 16

func (f format) parseItem(s string) ([]uint64, error) {
	if count, item, ok := strings.Cut(s, "*"); ok {
		n, err := strconv.ParseUint(count, 10, 16)
		if err != nil {
			return nil, err
		}
		v, err := f.parse(item)
		list := make([]uint64, n)
		for i := range list {
			list[i] = v
		}
		return list, err
	}
	if first, last, ok := strings.Cut(s, ".."); ok && f.fraction == 0 {
		lo, err := f.parse(first)
		if err != nil {
			return nil, err
		}
		hi, err := f.parse(last)
		if err != nil || hi < lo || hi-lo >= maxElements {
			return nil, fmt.Errorf("is no range of at most %d integers", maxElements)
		}
		var list []uint64
		for v := lo; v <= hi; v++ {
			list = append(list, v)
		}
		return list, nil
	}
	v, err := f.parse(s)
	return []uint64{v}, err
}

// bytes returns the memory representation of the elements.
func (v values) bytes() []byte {
	var b []byte
	for _, e := range v.elems {
		b = append(b, binary.LittleEndian.AppendUint64(nil, e)[:v.bits/8]...)
	}
	return b
}

// from reads the same number of elements from memory.
func (v values) from(data []byte) []uint64 {
	list := make([]uint64, len(v.elems))
	size := v.bits / 8
	for i := range list {
		var word [8]byte
		copy(word[:], data[i*size:(i+1)*size])
		list[i] = binary.LittleEndian.Uint64(word[:])
	}
	return list
}

// accepts reports whether got may stand for the expected value: equal bits, any
// NaN for a NaN, or a float within the tolerance.
func (v values) accepts(got, want uint64) bool {
	switch {
	case got == want:
		return true
	case v.fraction == 0 || v.isNaN(got) != v.isNaN(want):
		return false
	case v.isNaN(got):
		return true
	case v.ulps > 0:
		return v.distance(got, want) <= v.ulps
	}
	a, b := v.decode(got), v.decode(want)
	return v.abs > 0 && math.Abs(a-b) <= v.abs || v.rel > 0 && math.Abs(a-b) <= v.rel*math.Abs(b)
}

// distance returns the number of representable floats between a and b.
func (v values) distance(a, b uint64) uint64 {
	if (a^b)>>(v.bits-1) != 0 {
		return v.magnitude(a) + v.magnitude(b)
	}
	return max(a, b) - min(a, b)
}

// diff describes the elements of got that differ from the expected ones; it is empty if none do.
func (v values) diff(got []uint64) string {
	var b strings.Builder
	wrong := 0
	for i, want := range v.elems {
		if v.accepts(got[i], want) {
			continue
		}
		if wrong++; wrong > 8 {
			continue
		}
		fmt.Fprintf(&b, "element %d: got %s, want %s", i, v.show(got[i]), v.show(want))
		if v.fraction > 0 && !v.isNaN(got[i]) && !v.isNaN(want) {
			fmt.Fprintf(&b, ", %d ulp apart", v.distance(got[i], want))
		}
		b.WriteByte('\n')
	}
	if wrong > 8 {
		fmt.Fprintf(&b, "and %d more\n", wrong-8)
	}
	return b.String()
}
