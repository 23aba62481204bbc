package ptx

import "fmt"

// fragmentFault checks the number of registers in a fragment of a matrix instruction. It
// returns a description of the operand that the instruction requires, or "".
func (b *body) fragmentFault(in *Inst, arg int) string {
	op := &in.Args[arg]
	have := 1
	if op.Kind == OpVector {
		have = len(op.Elems)
	} else if op.Kind != OpReg {
		return "a vector of registers"
	}
	required := FragmentRegisters(in, arg)
	return unless(required == 0 || required == have, fmt.Sprintf("a vector of %s", count(required, "register")))
}

// count formats a number with a noun.
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// FragmentRegisters returns the number of registers per lane in operand arg of
// a matrix instruction: wmma, mma, ldmatrix or stmatrix. It is 0 if the operand
// is not a fragment or the shape is not known.
func FragmentRegisters(in *Inst, arg int) int {
	if in == nil {
		return 0
	}
	switch in.Name {
	case "ldmatrix", "stmatrix":
		return tiles(in)
	case "wmma":
		return wmmaRegisters(in, arg)
	case "mma":
		if arg > 3 {
			return 0
		}
		return fragment(in, "dabc"[arg])
	}
	return 0
}

// tiles returns the count in .x1, .x2 or .x4 of ldmatrix and stmatrix. Each 8x8
// tile of b16 elements takes one register. Other shapes are not checked.
func tiles(in *Inst) int {
	n := 0
	for _, s := range in.Suffix {
		switch s {
		case "x1", "x2", "x4":
			n = int(s[1] - '0')
		case "m16n16", "m16n8":
			return 0
		}
	}
	return n
}

// wmmaRegisters returns the registers of an operand of a wmma instruction.
func wmmaRegisters(in *Inst, arg int) int {
	if len(in.Suffix) == 0 {
		return 0
	}
	switch in.Suffix[0] {
	case "mma":
		return fragment(in, "dabc"[arg&3])
	case "load":
		if arg == 0 && len(in.Suffix) > 1 && in.Suffix[1] != "" {
			return fragment(in, in.Suffix[1][0])
		}
	case "store":
		if arg == 1 {
			return fragment(in, 'd')
		}
	}
	return 0
}

// fragment returns the registers per lane of matrix a, b, c or d. The elements of the
// matrix are distributed over the 32 lanes of a warp and packed into 32-bit registers:
//
//	registers = elements · bits / 32 lanes / 32 bits        at least 1
//
//	mma.m16n8k16, f16:  a  16·16 elements of 16 bits   4 registers
//	                    b  16·8  elements of 16 bits   2 registers
//	                    c  16·8  elements of 32 bits   4 registers, if c is f32
//
// There are four exceptions:
//
//   - An f64 takes a 64-bit register.
//   - wmma holds each f16 element of a and b in two lanes.
//   - mma.m8n8k4 computes four products at once, except for f64.
//   - A sparse a is stored without half of its elements.
func fragment(in *Inst, matrix byte) int {
	m, n, k := MatrixShape(in)
	format := matrixFormat(in, matrix)
	bits := formatBits[format]
	if m == 0 || bits == 0 {
		return 0
	}
	elements := m * n
	switch matrix {
	case 'a':
		elements = m * k
	case 'b':
		elements = k * n
	}
	switch {
	case format == "f64":
		return elements / 32
	case in.Name == "wmma" && format == "f16" && (matrix == 'a' || matrix == 'b'):
		return 8 // two lanes hold each element
	case in.Name == "mma" && m == 8 && n == 8 && k == 4: // four independent products, each in eight lanes
		elements *= 4
	}
	if in.Name == "mma" && matrix == 'a' && sparse(in) {
		elements /= 2
	}
	return max(1, elements*bits/32/32)
}

// sparse reports whether matrix a of an mma is sparse: two of four elements are stored.
func sparse(in *Inst) bool {
	for _, s := range in.Suffix {
		if s == "sp" || s == "sp::ordered_metadata" {
			return true
		}
	}
	return false
}

// MatrixShape returns m, n and k of a suffix such as "m16n8k16", or zeros
// without one.
func MatrixShape(in *Inst) (m, n, k int) {
	if in == nil {
		return 0, 0, 0
	}
	for _, s := range in.Suffix {
		if c, err := fmt.Sscanf(s, "m%dn%dk%d", &m, &n, &k); err == nil && c == 3 && m > 0 && m <= 64 && n > 0 && n <= 256 && k > 0 && k <= 512 {
			return m, n, k
		}
	}
	return 0, 0, 0
}

// formatBits is the width of an element in bits, by type. The formats of 4 and 6 bits have a
// byte for each element.
var formatBits = map[string]int{
	"b1": 1, "s4": 4, "u4": 4, "e2m1": 8, "e2m3": 8, "e3m2": 8, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8,
	"f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "s32": 32, "f64": 64,
}

// matrixFormat returns the element type of matrix a, b, c or d, from the types in the opcode:
//
//	one type      load, store: that of the matrix
//	two types     wmma.mma of f16: d and c; a and b are f16
//	four types    d, a, b and c
func matrixFormat(in *Inst, matrix byte) string {
	var list []string
	for _, s := range in.Suffix {
		if formatBits[s] > 0 {
			list = append(list, s)
		}
	}
	switch {
	case len(list) == 1:
		return list[0]
	case len(list) == 2 && in.Name == "wmma" && (matrix == 'a' || matrix == 'b'):
		return "f16"
	case len(list) == 2:
		return list[map[byte]int{'d': 0, 'c': 1}[matrix]]
	case len(list) >= 4:
		return list[map[byte]int{'d': 0, 'a': 1, 'b': 2, 'c': 3}[matrix]]
	}
	return ""
}
