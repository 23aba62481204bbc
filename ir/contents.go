package ir

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// Contents are the bytes of a buffer before the first replay: Data, or numbers from a generator if Data is nil. The
// generator makes uniform random numbers in [Lo, Hi) from Seed; if Lo and Hi are equal, every element is Lo. Only buffers
// with role Input, InOut or Constant have contents.
type Contents struct {
	Buffer BufferID
	Data   []byte
	Seed   uint64
	Lo, Hi Scalar // of the type of the elements
}

// Bytes returns the contents for buffer b. It returns Data itself, or new memory.
//
// Element i is derived from Seed + (i+1)·0x9e3779b97f4a7c15 by the output function of SplitMix64 (Steele, Lea and Flood,
// OOPSLA 2014), so that it depends on no other element. A float is Lo + (Hi-Lo)·u, where u has 53 random bits, rounded to
// the type; an integer is Lo + ⌊(Hi-Lo)·u⌋, where u has 64.
func (c *Contents) Bytes(b *Buffer) []byte {
	if c.Data != nil || b.Size() == 0 {
		return c.Data
	}
	size := int(b.Elem.Size())
	data := make([]byte, 0, b.Size()+8)
	for i := range b.Len {
		data = binary.LittleEndian.AppendUint64(data, c.element(uint64(i)))[:len(data)+size]
	}
	return data
}

// element returns the bits of element i of the generator.
func (c *Contents) element(i uint64) uint64 {
	if c.fills() {
		return c.Lo.masked()
	}
	u := mix(c.Seed + (i+1)*0x9e3779b97f4a7c15)
	if t := c.Lo.Type; t.Float() {
		lo, hi := c.Lo.float(), c.Hi.float()
		return floatBits(t, lo+(hi-lo)*(float64(u>>11)/(1<<53)))
	}
	offset, _ := bits.Mul64(c.Hi.extended()-c.Lo.extended(), u)
	return Scalar{Type: c.Lo.Type, Bits: c.Lo.extended() + offset}.masked()
}

// fills reports whether all elements are equal.
func (c *Contents) fills() bool { return c.Data == nil && c.Lo == c.Hi }

// mix is the output function of SplitMix64.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// extended returns the value of an integer in 64 bits, with the sign of a signed one.
func (s Scalar) extended() uint64 {
	if classes[s.Type].class != signed {
		return s.masked()
	}
	shift := 64 - 8*uint(s.Type.Size())
	return uint64(int64(s.Bits<<shift) >> shift)
}

// floatBits returns f rounded to a floating-point type.
func floatBits(t Type, f float64) uint64 {
	switch t {
	case F64:
		return math.Float64bits(f)
	case F32:
		return uint64(math.Float32bits(float32(f)))
	}
	return narrow(f, classes[t].mantissa)
}

// less reports whether s is less than o, of the same type. A NaN and an infinity are less than nothing.
func (s Scalar) less(o Scalar) bool {
	switch classes[s.Type].class {
	case unsigned:
		return s.masked() < o.masked()
	case signed:
		return int64(s.extended()) < int64(o.extended())
	}
	lo, hi := s.float(), o.float()
	return lo < hi && !math.IsInf(lo, 0) && !math.IsInf(hi, 0) && !math.IsInf(hi-lo, 0)
}

// startsDefined reports whether the program sets contents of buffers with this role.
func (r Role) startsDefined() bool { return r == Input || r == InOut || r == Constant }

// fillOf returns contents with the bytes of data, as a fill if all elements are equal.
func fillOf(id BufferID, b *Buffer, data []byte) Contents {
	size := int(b.Elem.Size())
	for i := size; i < len(data); i++ {
		if data[i] != data[i-size] {
			return Contents{Buffer: id, Data: data}
		}
	}
	if len(data) == 0 {
		return Contents{Buffer: id, Data: data}
	}
	first := elementAt(b.Elem, data, 0)
	return Contents{Buffer: id, Lo: first, Hi: first}
}

// elementAt returns element i of data.
func elementAt(t Type, data []byte, i int) Scalar {
	var word [8]byte
	size := int(t.Size())
	copy(word[:], data[i*size:(i+1)*size])
	return Scalar{Type: t, Bits: binary.LittleEndian.Uint64(word[:])}
}
