package ir

import "fmt"

// Type is the type of a buffer's elements or of a scalar argument.
type Type uint8

const (
	U8 Type = iota
	I8
	U16
	I16
	F16
	BF16
	U32
	I32
	F32
	U64
	I64
	F64
	numTypes
)

var types = [numTypes]struct {
	name string
	size int
}{
	U8: {"u8", 1}, I8: {"i8", 1},
	U16: {"u16", 2}, I16: {"i16", 2}, F16: {"f16", 2}, BF16: {"bf16", 2},
	U32: {"u32", 4}, I32: {"i32", 4}, F32: {"f32", 4},
	U64: {"u64", 8}, I64: {"i64", 8}, F64: {"f64", 8},
}

func (t Type) String() string {
	if t >= numTypes {
		return fmt.Sprintf("type(%d)", uint8(t))
	}
	return types[t].name
}

// Size is the width of one element in bytes, 0 for an unknown type.
func (t Type) Size() int64 {
	if t >= numTypes {
		return 0
	}
	return int64(types[t].size)
}

// Float reports whether t is a type of floating-point numbers.
func (t Type) Float() bool { return t == F16 || t == BF16 || t == F32 || t == F64 }

// Scalar is a typed constant. The low Type.Size() bytes of Bits are its representation in memory.
type Scalar struct {
	Type Type
	Bits uint64
}
