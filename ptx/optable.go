package ptx

// opSpec is the row of one opcode: what its operands are and which types it
// comes in. Each letter of args is an operand; those after '[' may be left out.
//
//	d  destination of the first type suffix     a  source of the last type suffix
//	D  the same, register may be wider          A  the same, register may be wider
//	w  destination, twice as wide for .wide     v  source, twice as wide for .wide
//	e  source of the first type suffix          c  32-bit destination
//	q  predicate destination, or p|q            u  32-bit source
//	p  predicate source                         m  memory
//	l  label                                    x  anything
//
// The letters of types are the families the opcode is defined for; "" asks
// for no type.
//
//	p  pred     8  8-bit     i  u16 … s64     b  b16 … b64     B  b128
//	f  f32 f64  h  f16 f16x2 bf16 bf16x2
//
// An opcode without a row is not checked: the simulator refuses it when a
// kernel that has it is launched.
type opSpec struct{ args, types string }

var opTable = map[string]opSpec{
	"abs":        {"da", "ifh"},
	"activemask": {"c", "b"},
	"add":        {"daa", "ifh"},
	"addc":       {"daa", "i"},
	"and":        {"daa", "pb"},
	"atom":       {"dma[ax", "ibfhB"},
	"bar":        {"[xxxx", ""},
	"barrier":    {"[xxxx", ""},
	"bfe":        {"dauu", "i"},
	"bfi":        {"daauu", "b"},
	"bfind":      {"ca", "i"},
	"bra":        {"l", ""},
	"brev":       {"da", "b"},
	"brkpt":      {"", ""},
	"brx":        {"ux", ""},
	"clz":        {"ca", "b"},
	"cnot":       {"da", "b"},
	"copysign":   {"daa", "f"},
	"cos":        {"da", "f"},
	"cvt":        {"DA[A", "8ifh"},
	"cvta":       {"da", "i"},
	"div":        {"daa", "if"},
	"ex2":        {"da", "fh"},
	"exit":       {"", ""},
	"fence":      {"[xx", ""},
	"fma":        {"daaa", "fh"},
	"isspacep":   {"qx", ""},
	"ld":         {"Dm[x", "8ibfhB"},
	"ldu":        {"Dm", "8ibfh"},
	"lg2":        {"da", "f"},
	"lop3":       {"daaax", "b"},
	"mad":        {"waav", "if"},
	"mad24":      {"daaa", "i"},
	"madc":       {"daaa", "i"},
	"match":      {"xau", "b"},
	"max":        {"daa[a", "ifh"},
	"membar":     {"", ""},
	"min":        {"daa[a", "ifh"},
	"mov":        {"da", "pibBfh"},
	"mul":        {"waa", "ifh"},
	"mul24":      {"daa", "i"},
	"nanosleep":  {"u", "i"},
	"neg":        {"da", "ifh"},
	"not":        {"da", "pb"},
	"or":         {"daa", "pb"},
	"popc":       {"ca", "b"},
	"prmt":       {"daaa", "b"},
	"rcp":        {"da", "f"},
	"red":        {"ma[x", "ibfhB"},
	"redux":      {"dau", "ib"},
	"rem":        {"daa", "i"},
	"ret":        {"", ""},
	"rsqrt":      {"da", "f"},
	"sad":        {"daaa", "i"},
	"selp":       {"daap", "ibfh"},
	"set":        {"daa[p", "ibfh"},
	"setp":       {"qaa[p", "ibfh"},
	"shf":        {"daau", "b"},
	"shfl":       {"dauu[u", "b"},
	"shl":        {"dau", "b"},
	"shr":        {"dau", "bi"},
	"sin":        {"da", "f"},
	"slct":       {"deea", "ibf"},
	"sqrt":       {"da", "f"},
	"st":         {"mA[x", "8ibfhB"},
	"sub":        {"daa", "ifh"},
	"subc":       {"daa", "i"},
	"tanh":       {"da", "fh"},
	"testp":      {"qa", "f"},
	"trap":       {"", ""},
	"vote":       {"xp[u", "pb"},
	"xor":        {"daa", "pb"},
}

// irregular lists forms of opcodes in the table that do not follow its row.
var irregular = map[string]bool{
	"cvt.pack": true, // three types
	"red.v2":   true, "red.v4": true, "red.v8": true, "red.async": true,
	"atom.v2": true, "atom.v4": true, "atom.v8": true,
	"st.async": true, "st.bulk": true,
}

// family is the letter of opSpec.types that t belongs to.
func (t Type) family() byte {
	switch {
	case t == Pred:
		return 'p'
	case t == B8 || t == U8 || t == S8:
		return '8'
	case t == B128:
		return 'B'
	case t <= B64:
		return 'b'
	case t <= S64:
		return 'i'
	case t <= BF16X2:
		return 'h'
	}
	return 'f'
}
