package ptx

import (
	"fmt"
	"strings"
)

// typeTable lists the name and the size in bytes of each type. A predicate counts as one byte.
var typeTable = [...]struct {
	name string
	size int
}{
	NoType: {"", 0}, Pred: {"pred", 1},
	B8: {"b8", 1}, B16: {"b16", 2}, B32: {"b32", 4}, B64: {"b64", 8}, B128: {"b128", 16},
	U8: {"u8", 1}, U16: {"u16", 2}, U32: {"u32", 4}, U64: {"u64", 8},
	S8: {"s8", 1}, S16: {"s16", 2}, S32: {"s32", 4}, S64: {"s64", 8},
	F16: {"f16", 2}, F16X2: {"f16x2", 4}, BF16: {"bf16", 2}, BF16X2: {"bf16x2", 4},
	F32: {"f32", 4}, F64: {"f64", 8},
	U16X2: {"u16x2", 4}, S16X2: {"s16x2", 4}, F32X2: {"f32x2", 8},
}

// String returns the name without the dot, "f32".
func (t Type) String() string {
	if int(t) >= len(typeTable) {
		return fmt.Sprintf("type(%d)", uint8(t))
	}
	return typeTable[t].name
}

// Size returns the width in bytes.
func (t Type) Size() int {
	if int(t) >= len(typeTable) {
		return 0
	}
	return typeTable[t].size
}

// Float reports whether t is a floating-point type, the packed 16-bit ones included.
func (t Type) Float() bool { return t >= F16 && t <= F64 }

// Integer reports whether t is a single integer.
func (t Type) Integer() bool { return t >= B8 && t <= S64 }

// alternative reports whether t is a type of instructions only. Registers and
// variables hold its values as bits.
func (t Type) alternative() bool { return t == BF16 || t == BF16X2 || t >= U16X2 }

// Signed reports whether t is a signed integer type.
func (t Type) Signed() bool { return t >= S8 && t <= S64 }

// ParseType returns the type that a suffix such as "f32" names, or false. The search is
// linear: opcodes are parsed once per module.
func ParseType(suffix string) (Type, bool) {
	for t := Pred; int(t) < len(typeTable); t++ {
		if typeTable[t].name == suffix {
			return t, true
		}
	}
	return NoType, false
}

// spaceNames are the names of state spaces without the dot.
var spaceNames = [...]string{
	Generic: "generic", RegSpace: "reg", ParamSpace: "param",
	Global: "global", Shared: "shared", Local: "local", Const: "const",
}

// String returns the name without the dot, "global".
func (s Space) String() string {
	if int(s) >= len(spaceNames) {
		return fmt.Sprintf("space(%d)", uint8(s))
	}
	return spaceNames[s]
}

// ParseSpace returns the state space that a suffix such as "global" or
// "shared::cta" names.
func ParseSpace(suffix string) (Space, bool) {
	suffix, _, _ = strings.Cut(suffix, "::")
	for s := RegSpace; int(s) < len(spaceNames); s++ {
		if spaceNames[s] == suffix {
			return s, true
		}
	}
	return Generic, false
}

// TypeString returns the type with its extents, "b8[24]".
func (v *Var) TypeString() string { return v.Type.String() + dimText(v.Dims) }

// dimText writes the extents of an array, "[4][2]".
func dimText(dims []int64) string {
	var b strings.Builder
	for _, d := range dims {
		if d == 0 {
			b.WriteString("[]")
		} else {
			fmt.Fprintf(&b, "[%d]", d)
		}
	}
	return b.String()
}
