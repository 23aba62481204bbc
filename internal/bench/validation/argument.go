package validation

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Argument is an argument of a kernel: a number, or a buffer with its contents.
type Argument struct {
	text   string
	scalar []byte // little endian; nil for a buffer
	bytes  int64  // size of a buffer
	fill   func(data []byte, base uint64)
}

func (a Argument) String() string { return a.text }

// elementSizes are the sizes of the types in bytes.
var elementSizes = map[string]int64{"u8": 1, "i32": 4, "u32": 4, "f32": 4, "i64": 8, "u64": 8, "f64": 8}

const (
	chainStride = 64      // bytes between two places of a chain
	maxBuffer   = 1 << 40 // bytes
	maxFilled   = 1 << 32 // bytes of a buffer whose contents the host computes
)

// parseArgument parses one argument:
//
//	f32=1.5      a number: u8, i32, u32, f32, i64, u64 or f64
//	f32*1000     a buffer of 1000 zeros
//	rand*1000    a buffer of 1000 random 32-bit words
//	chain*1000   a buffer of 1000 pointers that form a random cycle, 64 bytes apart
func parseArgument(text string) (Argument, error) {
	if kind, count, ok := strings.Cut(text, "*"); ok {
		return parseBuffer(text, kind, count)
	}
	kind, value, ok := strings.Cut(text, "=")
	size := elementSizes[kind]
	if !ok || size == 0 {
		return Argument{}, fmt.Errorf("argument %q: write a number as i32=5 and a buffer as f32*1000, rand*1000 or chain*1000", text)
	}
	bits, err := parseNumber(kind, value)
	if err != nil {
		return Argument{}, fmt.Errorf("argument %q: %q is not a number of type %s", text, value, kind)
	}
	return Argument{text: text, scalar: binary.LittleEndian.AppendUint64(nil, bits)[:size]}, nil
}

func parseBuffer(text, kind, count string) (Argument, error) {
	a := Argument{text: text}
	size, limit := elementSizes[kind], int64(maxBuffer)
	switch kind {
	case "rand":
		size, limit, a.fill = 4, maxFilled, fillRandom
	case "chain":
		size, limit, a.fill = chainStride, maxFilled, fillChain
	}
	if size == 0 {
		return a, fmt.Errorf("argument %q: unknown type %q; a buffer is of u8, i32, u32, f32, i64, u64, f64, rand or chain", text, kind)
	}
	n, err := strconv.ParseInt(count, 10, 64)
	if err != nil || n < 1 || n > limit/size {
		return a, fmt.Errorf("argument %q: the number of elements is %q; it must be from 1 to %d", text, count, limit/size)
	}
	a.bytes = n * size
	return a, nil
}

// parseNumber returns the bits of a number.
func parseNumber(kind, text string) (uint64, error) {
	bits := int(8 * elementSizes[kind])
	switch kind[0] {
	case 'f':
		v, err := strconv.ParseFloat(text, bits)
		if bits == 32 {
			return uint64(math.Float32bits(float32(v))), err
		}
		return math.Float64bits(v), err
	case 'i':
		v, err := strconv.ParseInt(text, 10, bits)
		return uint64(v), err
	}
	return strconv.ParseUint(text, 10, bits)
}

// pack returns the parameter block of the arguments, each at its natural alignment.
func pack(values [][]byte) (params []byte) {
	for _, v := range values {
		for len(params)%len(v) != 0 {
			params = append(params, 0)
		}
		params = append(params, v...)
	}
	return params
}
