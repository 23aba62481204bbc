package ptx

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/internal/absent"
)

// Print writes m as PTX text. Parse of that text returns an equal module, apart from positions:
// nested scopes are printed flat, with distinct names. Error cases are a nil module and a
// failed write.
func Print(w io.Writer, m *Module) error {
	if m == nil {
		return absent.Nil("the module")
	}
	p := &printer{Writer: bufio.NewWriter(absent.Writer(w))}
	p.module(m)
	return p.Flush()
}

// printer writes text to a buffered writer, whose first error Flush returns.
type printer struct{ *bufio.Writer }

// f writes formatted text.
func (p *printer) f(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// module writes the module in an order in which every name is declared before its use:
//
//	head          .version, .target, .address_size
//	declarations  functions that an initializer or an earlier function names
//	variables     initializers may name functions
//	functions     with their bodies
//	aliases       of functions with bodies
func (p *printer) module(m *Module) {
	p.f(".version %s\n.target %s\n.address_size %d\n", m.Version, m.Target, m.AddressSize)
	// Declarations of functions, each followed by ';' in place of a body.
	for _, f := range m.Funcs[:m.forwardCount()] {
		p.head(f)
		p.f(";\n")
	}
	for _, v := range m.Vars {
		p.f("%s", v.Link.directive())
		p.variable(v)
		p.f(";\n")
	}
	for _, f := range m.Funcs {
		if !f.Extern {
			p.function(f)
		}
	}
	for _, f := range m.Funcs {
		if f.Alias != "" {
			p.f(".alias %s, %s;\n", f.Name, f.Alias)
		}
	}
}

// forwardCount returns the number of leading functions to declare before the
// variables: up to the last one that an initializer or an earlier function
// refers to. External functions in front of it are included, which keeps the
// order.
func (m *Module) forwardCount() int {
	index := map[string]int{}
	for i, f := range m.Funcs {
		index[f.Name] = i
	}
	// n is the number of functions up to the last one that is needed early.
	n := 0
	need := func(name string, at int) {
		if i, ok := index[name]; ok && i > at {
			n = max(n, i+1)
		}
	}
	for _, v := range m.Vars {
		for _, r := range v.Relocs {
			need(r.Symbol, -1)
		}
	}
	for at, f := range m.Funcs {
		for _, name := range f.namedFuncs() {
			need(name, at)
		}
		if f.Extern {
			n = max(n, at+1)
		}
	}
	return n
}

// namedFuncs lists the functions that the body of f calls or takes the address
// of.
func (f *Func) namedFuncs() []string {
	var names []string
	for i := range f.Body {
		for _, op := range f.Body[i].Args {
			if op.Kind == OpFunc || op.Kind == OpSymbol && op.Var == nil {
				names = append(names, op.Name)
			}
		}
	}
	for _, proto := range f.Protos {
		names = append(names, proto.Targets...)
	}
	return names
}

// directive returns the text of a linkage directive with a space, or "".
func (l Linkage) directive() string {
	return [...]string{"", ".visible ", ".weak ", ".extern ", ".common "}[l]
}

// variable writes a declaration without its linkage and the ';'.
func (p *printer) variable(v *Var) {
	p.f(".%s ", v.Space)
	// The attribute .ptr contains the alignment of the memory behind the pointer, not of
	// the parameter.
	if v.Ptr.Present {
		p.f(".%s .ptr ", v.Type)
		if v.Ptr.Space != Generic {
			p.f(".%s ", v.Ptr.Space)
		}
		if v.Ptr.Align > 0 {
			p.f(".align %d ", v.Ptr.Align)
		}
		p.f("%s", v.Name)
		return
	}
	if v.Handle != "" {
		p.f(".%s %s", v.Handle, v.Name)
		return
	}
	if v.Space != RegSpace {
		p.f(".align %d ", v.Align)
	}
	arrays := len(v.Dims) - v.vector
	if v.vector > 0 {
		p.f(".v%d ", v.Dims[arrays])
	}
	p.f(".%s %s%s", v.Type, v.Name, dimText(v.Dims[:arrays]))
	if v.Init != nil {
		p.initializer(v)
	}
}

// initializer writes the initial value of a variable, with symbols in place of relocated
// elements. In an array of bytes, an address takes eight elements:
//
//	.u64 p[1] = {x+8}         .b8 p[8] = {0xFF(x+8), 0xFF00(x+8), 0xFF0000(x+8), …}
func (p *printer) initializer(v *Var) {
	p.f(" = ")
	if len(v.Dims) > 0 {
		p.f("{")
	}
	size := v.Type.Size()
	relocs := v.Relocs
	for at := 0; at < len(v.Init); at += size {
		if at > 0 {
			p.f(", ")
		}
		switch {
		// An element of the size of an address.
		case len(relocs) > 0 && size > 1 && relocs[0].Offset == int64(at):
			p.f("%s", relocs[0].text())
			relocs = relocs[1:]
		// One of the eight bytes of an address.
		case len(relocs) > 0 && size == 1 && int64(at) >= relocs[0].Offset:
			byteNo := int64(at) - relocs[0].Offset
			p.f("0x%X(%s)", uint64(0xFF)<<(8*byteNo), relocs[0].text())
			if byteNo == 7 {
				relocs = relocs[1:]
			}
		default:
			p.f("%s", v.element(at))
		}
	}
	if len(v.Dims) > 0 {
		p.f("}")
	}
}

// text returns the symbol with its addend, "generic(x)+8".
func (r *Reloc) text() string {
	s := r.Symbol
	if r.Generic {
		s = "generic(" + s + ")"
	}
	switch {
	case r.Addend > 0:
		s += fmt.Sprintf("+%d", r.Addend)
	case r.Addend < 0:
		s += fmt.Sprintf("-%d", uint64(-r.Addend))
	}
	return s
}

// element returns the initial value at byte at as a literal of the variable's
// type.
func (v *Var) element(at int) string {
	size := v.Type.Size()
	bits := uint64(0)
	for i := min(size, 8) - 1; i >= 0; i-- {
		bits = bits<<8 | uint64(v.Init[at+i])
	}
	switch v.Type {
	case F32:
		return fmt.Sprintf("0f%08X", bits)
	case F64:
		return fmt.Sprintf("0d%016X", bits)
	}
	return fmt.Sprint(bits)
}

// head writes the declaration of a function: linkage, results, name, parameters and attributes.
func (p *printer) head(f *Func) {
	p.f("\n%s", f.Link.directive())
	if f.Entry {
		p.f(".entry ")
	} else {
		p.f(".func ")
	}
	if f.Return != nil {
		p.params(f.Return)
		p.f(" ")
	}
	p.f("%s", f.Name)
	if f.Params != nil || f.Entry {
		p.params(f.Params)
	}
	p.attributes(f)
}

// attributes writes the launch bounds of a kernel.
func (p *printer) attributes(f *Func) {
	for _, d := range []struct {
		name string
		n    [3]uint32
	}{{"maxntid", f.MaxThreads}, {"reqntid", f.ReqThreads}} {
		if d.n[0] > 0 {
			p.f("\n.%s %d, %d, %d", d.name, d.n[0], d.n[1], d.n[2])
		}
	}
	if f.MinBlocks > 0 {
		p.f("\n.minnctapersm %d", f.MinBlocks)
	}
	if f.MaxRegs > 0 {
		p.f("\n.maxnreg %d", f.MaxRegs)
	}
}

// params writes a parenthesised list of parameters.
func (p *printer) params(list []*Var) {
	p.f("(")
	for i, v := range list {
		if i > 0 {
			p.f(", ")
		}
		p.variable(v)
	}
	p.f(")")
}

// function writes a function with its registers, variables, prototypes and code.
func (p *printer) function(f *Func) {
	p.head(f)
	p.f("\n{\n")
	p.regs(f)
	for _, v := range f.Vars {
		p.f("\t%s", v.Link.directive())
		p.variable(v)
		p.f(";\n")
	}
	for _, proto := range f.Protos {
		if proto.Targets != nil {
			p.f("\t%s: .calltargets %s;\n", proto.Name, strings.Join(proto.Targets, ", "))
			continue
		}
		p.f("\t%s: .callprototype ", proto.Name)
		if proto.Return != nil {
			p.params(proto.Return)
		}
		p.f(" _ ")
		if proto.Params != nil {
			p.params(proto.Params)
		}
		p.f(";\n")
	}
	p.code(f)
	p.f("}\n")
}

// regs writes a run %r0, %r1, … as %r<n>. Parameters in registers are declared
// already.
func (p *printer) regs(f *Func) {
	skip := 0
	for _, list := range [][]*Var{f.Return, f.Params} {
		for _, v := range list {
			if v.Space == RegSpace {
				skip++
			}
		}
	}
	for i := skip; i < len(f.Regs); {
		r := f.Regs[i]
		n := 0
		prefix, first, ok := splitIndex(r.Name)
		// The run continues while the next register has the next number and the same type.
		for ok && first == 0 && i+n < len(f.Regs) && f.Regs[i+n] == (Reg{fmt.Sprint(prefix, n), r.Type}) {
			n++
		}
		if n > 0 {
			p.f("\t.reg .%s %s<%d>;\n", r.Type, prefix, n)
			i += n
			continue
		}
		p.f("\t.reg .%s %s;\n", r.Type, r.Name)
		i++
	}
}

// code writes the instructions with their labels, which are sorted by name.
func (p *printer) code(f *Func) {
	at := map[int][]string{}
	for name, i := range f.Labels {
		at[i] = append(at[i], name)
	}
	// tables numbers the branch tables, which lost their names when they were parsed.
	tables := 0
	for i := 0; i <= len(f.Body); i++ {
		slices.Sort(at[i])
		for _, name := range at[i] {
			p.f("%s:\n", name)
		}
		if i < len(f.Body) {
			p.inst(f, &f.Body[i], &tables)
		}
	}
}

// inst writes one instruction. A branch table gets a .branchtargets list in front
// of it.
func (p *printer) inst(f *Func, in *Inst, tables *int) {
	ops := make([]string, len(in.Args))
	for i := range in.Args {
		ops[i] = f.operandText(&in.Args[i])
	}
	if in.Name == "brx" && len(ops) == 2 { // the list of labels needs a name
		table := f.freeName("ts", tables)
		p.f("%s: .branchtargets %s;\n", table, strings.Trim(ops[1], "()"))
		ops[1] = table
	}
	p.f("\t")
	if in.Guard.Reg != NoReg {
		neg := ""
		if in.Guard.Neg {
			neg = "!"
		}
		p.f("@%s%s ", neg, f.Regs[in.Guard.Reg].Name)
	}
	p.f("%s", in.Opcode())
	if len(ops) > 0 {
		p.f(" %s", strings.Join(ops, ", "))
	}
	p.f(";\n")
}

// freeName returns prefix_n for the next n that is not a label.
func (f *Func) freeName(prefix string, n *int) string {
	for {
		*n++
		name := fmt.Sprintf("%s_%d", prefix, *n)
		if _, ok := f.Labels[name]; !ok {
			return name
		}
	}
}

// regText returns the name of a register, or "_".
func (f *Func) regText(id RegID) string {
	if id == NoReg {
		return "_"
	}
	return f.Regs[id].Name
}

// regOperandText returns a register with its sign and its part, "!%p1", "-%r2" or "%r3.b0".
func (f *Func) regOperandText(op *Operand) string {
	text := f.regText(op.Reg)
	if op.Name != "" {
		text += "." + op.Name
	}
	switch {
	case op.Neg && f.Regs[op.Reg].Type == Pred:
		return "!" + text
	case op.Neg:
		return "-" + text
	}
	return text
}

// operandText returns an operand as PTX text.
func (f *Func) operandText(op *Operand) string {
	switch op.Kind {
	case OpReg:
		return f.regOperandText(op)
	case OpPair:
		return f.regText(op.Reg) + "|" + f.regText(op.Reg2)
	case OpInt:
		return fmt.Sprint(op.Imm)
	case OpFloat32:
		return fmt.Sprintf("0f%08X", uint32(op.Imm))
	case OpFloat64:
		return fmt.Sprintf("0d%016X", uint64(op.Imm))
	case OpSymbol:
		return f.symbolText(op)
	case OpMem:
		return f.memoryText(op)
	case OpVector:
		text := "{" + f.elemsText(op.Elems) + "}"
		if op.Reg2 != NoReg {
			text += "|" + f.regText(op.Reg2)
		}
		return text
	case OpList:
		return "(" + f.elemsText(op.Elems) + ")"
	}
	return op.Name
}

// elemsText returns operands separated by commas.
func (f *Func) elemsText(elems []Operand) string {
	texts := make([]string, len(elems))
	for i := range elems {
		texts[i] = f.operandText(&elems[i])
	}
	return strings.Join(texts, ", ")
}

// symbolText returns a variable or function with its offset, "x+8".
func (f *Func) symbolText(op *Operand) string {
	name := op.Name
	if op.Var != nil {
		name = op.Var.Name
	}
	if op.Imm != 0 {
		return fmt.Sprintf("%s+%d", name, op.Imm)
	}
	return name
}

// memoryText returns an address in brackets, with the coordinates of a texture access.
func (f *Func) memoryText(op *Operand) string {
	text := ""
	switch {
	case op.Reg != NoReg:
		text = f.regText(op.Reg)
		if op.Imm != 0 { // ptxas refuses "+0" in the address of a texture
			text += fmt.Sprintf("+%d", op.Imm)
		}
	case op.Var != nil || op.Name != "":
		text = f.symbolText(op)
	default:
		text = fmt.Sprint(op.Imm)
	}
	if len(op.Elems) > 0 {
		text += ", " + f.elemsText(op.Elems)
	}
	return "[" + text + "]"
}
