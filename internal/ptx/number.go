package ptx

import (
	"math"
	"strconv"
	"strings"
)

// parseNumber parses a literal into an operand of kind OpInt, OpFloat32 or OpFloat64. It
// returns false if text is none. See "Constants" in the PTX ISA:
//
//	0f3F800000            OpFloat32, the 32 bits of a float
//	0d3FF0000000000000    OpFloat64, the 64 bits of a double
//	1.5, 1e-3             OpFloat64
//	12, 0x1F, 017, 0b101  OpInt, with an optional U
func parseNumber(text string) (Operand, bool) {
	op := Operand{Reg: NoReg, Reg2: NoReg}
	if len(text) > 1 && text[0] == '0' {
		switch text[1] {
		case 'f', 'F':
			bits, err := strconv.ParseUint(text[2:], 16, 32)
			op.Kind, op.Imm = OpFloat32, int64(bits)
			return op, err == nil && len(text) == 10
		case 'd', 'D':
			bits, err := strconv.ParseUint(text[2:], 16, 64)
			op.Kind, op.Imm = OpFloat64, int64(bits)
			return op, err == nil && len(text) == 18
		}
	}
	if isDecimalFloat(text) {
		value, err := strconv.ParseFloat(text, 64)
		op.Kind, op.Imm = OpFloat64, int64(math.Float64bits(value))
		return op, err == nil && !strings.Contains(text, "_")
	}
	value, ok := parseInteger(text)
	op.Kind, op.Imm = OpInt, value
	return op, ok
}

// isDecimalFloat reports whether a number has a point or an exponent and is not hexadecimal.
func isDecimalFloat(text string) bool {
	if len(text) > 1 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X') {
		return false
	}
	return strings.ContainsAny(text, ".eE")
}

// parseInteger parses decimal, 0x…, 0b… and octal literals, with the optional
// suffix U.
func parseInteger(text string) (int64, bool) {
	text = strings.TrimSuffix(text, "U")
	if text == "" || strings.Contains(text, "_") {
		return 0, false
	}
	value, err := strconv.ParseUint(text, 0, 64)
	return int64(value), err == nil
}
