package ptx

import (
	"math"
	"strings"
)

// Constant expressions are those of C, see "Constant Expressions" in the PTX ISA. Operators
// work on doubles and on 64-bit integers, which are signed unless an operand is unsigned:
//
//	ternary = binary [ "?" ternary ":" ternary ]
//	binary  = unary { operator binary }          by precedence, left associative
//	unary   = sign unary | cast unary | "(" ternary ")" | number | "WARP_SZ"
//	sign    = "-" | "+" | "~" | "!"
//	cast    = "(" ".s64" ")" | "(" ".u64" ")"
//
// The parser is a precedence climber: binary parses all operators of a minimum precedence. The
// depth is at most maxDepth, and the time is linear.

// precedence lists the binary operators; a higher number binds tighter. The ternary ?: binds
// less than all of them.
var precedence = map[string]int{
	"||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6,
	"<": 7, ">": 7, "<=": 7, ">=": 7, "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}

// value is the result of a constant expression. A literal without operators
// keeps its kind, so that 0f3F800000 stays a 32-bit pattern.
type value struct {
	op       Operand
	unsigned bool
}

// constant parses a constant expression.
func (p *parser) constant(what string) Operand {
	pos := p.tok.pos
	v := p.ternary(what, 0)
	v.op.Pos = pos
	return v.op
}

// constantInt parses a constant expression that must be an integer.
func (p *parser) constantInt(what string) int64 {
	op := p.constant(what)
	if op.Kind != OpInt {
		p.fail(op.Pos, "%s must be an integer", what)
	}
	return op.Imm
}

// ternary parses c ? a : b, or an expression of binary operators.
func (p *parser) ternary(what string, depth int) value {
	v := p.binary(what, 1, depth)
	if p.tok.kind != '?' {
		return v
	}
	p.next()
	a := p.ternary(what, depth+1)
	p.expect(':', "between the choices of a constant expression")
	b := p.ternary(what, depth+1)
	if v.truth() {
		return a
	}
	return b
}

// operator returns the binary operator at the current token, or "".
func (p *parser) operator() string {
	k := p.tok.kind
	if k == tokEOF || !strings.ContainsRune("+-*/%<>=!&|^", rune(k)) {
		if k == tokWord && p.tok.text[0] == '%' { // the scanner reads % as the start of a register
			return "%"
		}
		return ""
	}
	if p.off < len(p.src) {
		// The scanner returns one character; a second one must follow at once.
		if two := string(k) + p.src[p.off:p.off+1]; precedence[two] > 0 {
			return two
		}
	}
	if one := string(k); precedence[one] > 0 {
		return one
	}
	return ""
}

// binary parses operands joined by operators of precedence minLevel or more. The right operand
// takes only tighter operators, so that 8-2-1 is (8-2)-1.
func (p *parser) binary(what string, minLevel, depth int) value {
	v := p.unary(what, depth)
	for {
		op := p.operator()
		level := precedence[op]
		if level == 0 || level < minLevel {
			return v
		}
		pos := p.tok.pos
		p.skipOperator(op)
		// level+1: operators of the same precedence are left associative.
		w := p.binary(what, level+1, depth)
		result, ok := v.apply(op, w)
		switch {
		case ok:
		case v.op.Kind == OpInt && w.op.Kind == OpInt:
			p.fail(pos, "the constant expression divides by zero")
		default:
			p.fail(pos, "%q cannot be applied to a floating-point value", op)
		}
		v = result
	}
}

// skipOperator consumes an operator. The scanner splits operators of two characters, and reads
// "%2" as one word.
func (p *parser) skipOperator(op string) {
	switch {
	case op == "%": // the rest of the word is the next token
		p.off -= len(p.tok.text) - 1
	case len(op) == 2:
		p.next()
	}
	p.next()
}

// unary parses signs, a cast, a parenthesised expression or a literal.
func (p *parser) unary(what string, depth int) value {
	if depth > maxDepth {
		p.fail(p.tok.pos, "a constant expression is nested deeper than %d", maxDepth)
	}
	switch t := p.tok; t.kind {
	case tokNumber:
		op, ok := parseNumber(t.text)
		if !ok {
			p.fail(t.pos, "%s is not a number", t.describe())
		}
		p.next()
		// A literal of 2^63 or more fits only an unsigned integer.
		return value{op, op.Kind == OpInt && (op.Imm < 0 || strings.HasSuffix(t.text, "U"))}
	case tokWord:
		if t.text == "WARP_SZ" {
			p.next()
			return integer(warpSize, false)
		}
	case '-', '+', '~', '!':
		p.next()
		// -%r1 is not an operand, except in vmad; see negative.
		if t.kind == '-' && p.tok.kind == tokWord && p.tok.text != "WARP_SZ" {
			p.unexpected("a number after '-'")
		}
		v, ok := p.unary(what, depth+1).sign(byte(t.kind))
		if !ok {
			p.fail(t.pos, "%q cannot be applied to a floating-point value", string(t.kind))
		}
		return v
	case '(':
		p.next()
		if p.tok.kind == tokWord && (p.tok.text == ".s64" || p.tok.text == ".u64") {
			unsigned := p.tok.text == ".u64"
			p.next()
			p.expect(')', "after the type of a cast")
			v := p.unary(what, depth+1)
			if v.op.Kind != OpInt {
				v = integer(int64(v.float()), unsigned)
			}
			v.unsigned = unsigned
			return v
		}
		v := p.ternary(what, depth+1)
		p.expect(')', "after a constant expression")
		return v
	}
	p.unexpected(what)
	return value{}
}

// integer returns the value of an integer.
func integer(n int64, unsigned bool) value {
	return value{Operand{Kind: OpInt, Imm: n, Reg: NoReg, Reg2: NoReg}, unsigned}
}

// double returns the value of a floating-point number of 64 bits.
func double(f float64) value {
	return value{op: Operand{Kind: OpFloat64, Imm: int64(math.Float64bits(f)), Reg: NoReg, Reg2: NoReg}}
}

// boolean returns the value of a comparison, 1 or 0.
func boolean(b bool) value {
	if b {
		return integer(1, false)
	}
	return integer(0, false)
}

// float returns the value as a double.
func (v value) float() float64 {
	switch v.op.Kind {
	case OpFloat32:
		return float64(math.Float32frombits(uint32(v.op.Imm)))
	case OpFloat64:
		return math.Float64frombits(uint64(v.op.Imm))
	}
	if v.unsigned {
		return float64(uint64(v.op.Imm))
	}
	return float64(v.op.Imm)
}

// truth reports whether the value is not zero.
func (v value) truth() bool {
	if v.op.Kind == OpInt {
		return v.op.Imm != 0
	}
	return v.float() != 0
}

// sign applies a unary operator. The sign of a floating-point number is a bit,
// of a NaN as well.
func (v value) sign(op byte) (value, bool) {
	if v.op.Kind != OpInt {
		switch {
		case op == '-' && v.op.Kind == OpFloat32:
			v.op.Imm ^= 1 << 31
		case op == '-':
			v.op.Imm ^= -1 << 63
		}
		return v, op == '-' || op == '+'
	}
	switch op {
	case '-':
		v.op.Imm = -v.op.Imm
	case '~':
		v.op.Imm, v.unsigned = ^v.op.Imm, true // in ptxas too
	case '!':
		return boolean(v.op.Imm == 0), true
	}
	return v, true
}

// apply applies a binary operator, with the conversions of C. The result is unsigned if an
// operand is, except that the type of a shift is that of its left operand and a comparison is
// signed. It returns false for an integer division by zero and for an operator that is not
// defined for doubles.
func (v value) apply(op string, w value) (value, bool) {
	switch {
	// Both operands were parsed and evaluated already: they have no side effects.
	case op == "&&":
		return boolean(v.truth() && w.truth()), true
	case op == "||":
		return boolean(v.truth() || w.truth()), true
	case v.op.Kind != OpInt || w.op.Kind != OpInt:
		return applyFloat(op, v.float(), w.float())
	// C converts both operands to unsigned, except that a shift has the type of its left
	// operand.
	case v.unsigned || (w.unsigned && op != "<<" && op != ">>"):
		n, ok := applyInt(op, uint64(v.op.Imm), uint64(w.op.Imm), uint64(w.op.Imm))
		return integer(int64(n), !isComparison(op)), ok // a comparison gives 0 or 1 as a signed integer
	}
	n, ok := applyInt(op, v.op.Imm, w.op.Imm, uint64(w.op.Imm))
	return integer(n, false), ok
}

// applyFloat applies an arithmetic operator to doubles.
func applyFloat(op string, a, b float64) (value, bool) {
	switch op {
	case "+":
		return double(a + b), true
	case "-":
		return double(a - b), true
	case "*":
		return double(a * b), true
	case "/":
		return double(a / b), true
	}
	if c, ok := compare(op, a, b); ok {
		return boolean(c), true
	}
	return value{}, false
}

func isComparison(op string) bool { return precedence[op] == 6 || precedence[op] == 7 }

// compare applies a comparison; ok is false for another operator.
func compare[T int64 | uint64 | float64](op string, a, b T) (result, ok bool) {
	switch op {
	case "<":
		return a < b, true
	case ">":
		return a > b, true
	case "<=":
		return a <= b, true
	case ">=":
		return a >= b, true
	case "==":
		return a == b, true
	case "!=":
		return a != b, true
	}
	return false, false
}

// applyInt applies an operator to two integers of one signedness. shift is b as an unsigned
// number, for << and >>.
func applyInt[T int64 | uint64](op string, a, b T, shift uint64) (T, bool) {
	switch op {
	case "+":
		return a + b, true
	case "-":
		return a - b, true
	case "*":
		return a * b, true
	case "/", "%":
		if b == 0 {
			return 0, false
		}
		if op == "%" {
			return a % b, true
		}
		return a / b, true
	case "<<":
		return a << shift, true
	case ">>":
		return a >> shift, true
	case "&":
		return a & b, true
	case "|":
		return a | b, true
	case "^":
		return a ^ b, true
	}
	if c, ok := compare(op, a, b); ok {
		if c {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}
