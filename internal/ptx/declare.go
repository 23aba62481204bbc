package ptx

import "math/bits"

// declaration parses a module-scope variable or a function:
//
//	variable  = [ linkage ] space { attribute } type declarator [ "=" initial ] { "," … } ";"
//	function  = [ linkage ] ( ".entry" | ".func" ) [ "(" results ")" ] name
//	            [ "(" parameters ")" ] { directive } ( ";" | "{" body "}" )
func (p *parser) declaration() {
	link := p.linkage()
	switch {
	case p.acceptWord(".entry"):
		p.function(link, true)
	case p.acceptWord(".func"):
		p.function(link, false)
	// .tex declares a reference: a 64-bit handle in global memory.
	case p.tok.kind == tokWord && p.tok.text == ".tex": // the form of .texref in PTX 1.x
		p.next()
		v := p.varHead(Global, link)
		v.Type, v.Align, v.Handle = B64, 8, "texref"
		p.declarator(v)
		p.expect(';', "after the declaration of "+v.Name)
		p.declareModuleVar(v)
	default:
		t := p.tok
		space, ok := p.space()
		if !ok || space == RegSpace || space == ParamSpace || space == Local {
			p.fail(t.pos, "a module cannot contain %s", t.describe())
		}
		// Registers, parameters and local variables exist only inside functions.
		for _, v := range p.varList(space, link) {
			p.declareModuleVar(v)
		}
	}
}

// linkages are the linkage directives, see "Linking Directives" in the PTX ISA.
var linkages = map[string]Linkage{".visible": Visible, ".weak": Weak, ".extern": External, ".common": Common}

// linkage consumes a linkage directive, if there is one.
func (p *parser) linkage() Linkage {
	link := Static
	for p.tok.kind == tokWord {
		l, ok := linkages[p.tok.text]
		if !ok {
			break
		}
		// Only one linkage directive is allowed.
		if link != Static {
			p.fail(p.tok.pos, "%s follows another linkage: a name has only one", p.tok.text)
		}
		link = l
		p.next()
	}
	return link
}

// space consumes a state space directive, if the next word is one.
func (p *parser) space() (Space, bool) {
	if p.tok.kind != tokWord || p.tok.text[0] != '.' {
		return Generic, false
	}
	space, ok := ParseSpace(p.tok.text[1:])
	if ok {
		p.next()
	}
	return space, ok
}

// declareModuleVar adds a variable to the module, or completes an earlier .extern declaration
// of it in place, since operands point to the Var already.
func (p *parser) declareModuleVar(v *Var) {
	if old := p.vars[v.Name]; old != nil {
		// Any number of .extern declarations may precede and follow the definition.
		if old.Link != External && v.Link != External {
			p.report(v.Pos, "%s is declared twice; first at line %d", v.Name, old.Pos.Line)
		}
		if v.Link != External { // this defines an extern variable
			*old = *v
		}
		return
	}
	if f := p.funcs[v.Name]; f != nil {
		p.report(v.Pos, "%s is already a function, declared at line %d", v.Name, f.Pos.Line)
	}
	p.vars[v.Name] = v
	p.m.Vars = append(p.m.Vars, v)
}

// varList parses declarators up to the ';'.
func (p *parser) varList(space Space, link Linkage) []*Var {
	var list []*Var
	// Type and attributes apply to all declarators; each may have extents and a value of its
	// own.
	proto := p.varHead(space, link)
	for {
		v := *proto
		p.declarator(&v)
		switch {
		case !p.accept('='):
		case v.Handle != "":
			p.properties()
		default:
			p.initializer(&v)
		}
		p.checkVar(&v)
		list = append(list, &v)
		if !p.accept(',') {
			break
		}
	}
	p.expect(';', "after the declaration of "+list[0].Name)
	return list
}

// properties skips "{ addr_mode_0 = wrap, … }", the initial value of a sampler
// or texture reference.
func (p *parser) properties() {
	p.expect('{', "to open the properties")
	for !p.accept('}') {
		p.failAtEnd("the list of properties")
		p.next()
	}
}

// varHead parses alignment, vector size, type and attributes, in any order. The alignment is at
// least the natural one, which for a vector is that of all its elements.
func (p *parser) varHead(space Space, link Linkage) *Var {
	v := &Var{Space: space, Link: link, Extern: link == External}
	vector := int64(0)
	for p.tok.kind == tokWord && p.tok.text[0] == '.' {
		t := p.tok
		p.next()
		switch t.text {
		case ".align":
			v.Align = p.alignment()
		case ".v2":
			vector = 2
		case ".v4":
			vector = 4
		case ".ptr":
			v.Ptr = p.ptrAttr()
		// Attributes such as .managed are skipped.
		case ".attribute":
			p.attribute()
		case ".texref", ".samplerref", ".surfref":
			v.Type, v.Handle = B64, t.text[1:]
		case ".v8":
			vector = 8
		default:
			typ, ok := ParseType(t.text[1:])
			if !ok {
				p.fail(t.pos, "%s is not a type", t.describe())
			}
			v.Type = typ
		}
	}
	if v.Type == NoType {
		p.unexpected("a type such as .f32")
	}
	// The natural alignment of a vector is its size.
	v.Align = max(v.Align, v.Type.Size()*max(1, int(vector)))
	if vector > 0 {
		p.checkVector(p.tok.pos, v.Type, int(vector))
		v.Dims, v.vector = []int64{vector}, 1
	}
	return v
}

// alignment parses the number behind .align.
func (p *parser) alignment() int {
	pos := p.tok.pos
	n := p.integerIn("an alignment", 1, 1<<20)
	if bits.OnesCount64(uint64(n)) != 1 {
		p.fail(pos, "an alignment must be a power of two, not %d", n)
	}
	return int(n)
}

// ptrAttr parses .ptr [.space] [.align n], from behind the .ptr.
func (p *parser) ptrAttr() PtrAttr {
	attr := PtrAttr{Present: true}
	if space, ok := p.space(); ok {
		attr.Space = space
	}
	if p.acceptWord(".align") {
		attr.Align = p.alignment()
	}
	return attr
}

// attribute skips .attribute(.managed) and similar ones, which have no effect
// here.
func (p *parser) attribute() {
	p.expect('(', "after .attribute")
	for depth := 1; depth > 0; p.next() {
		p.failAtEnd("the .attribute")
		switch p.tok.kind {
		case '(':
			depth++
		case ')':
			depth--
		}
	}
}

// declarator parses name[n][m], and checks the size. The elements of a vector type become the
// last extent.
func (p *parser) declarator(v *Var) {
	t := p.name("a name")
	v.Pos, v.Name = t.pos, p.identifier(t)
	var dims []int64
	for p.accept('[') {
		extent := int64(0)
		// "[]" is allowed for the first extent only.
		if p.tok.kind != ']' {
			extent = p.extent()
		} else if len(dims) > 0 {
			p.fail(p.tok.pos, "only the first extent of %s may be omitted", v.Name)
		}
		p.expect(']', "after an array extent")
		dims = append(dims, extent)
		if len(dims) > maxDims {
			p.fail(v.Pos, "%s has more than %d dimensions", v.Name, maxDims)
		}
	}
	v.Dims = append(dims, v.Dims...)
	p.checkSize(v)
}

// extent parses the number of an array extent.
func (p *parser) extent() int64 {
	pos := p.tok.pos
	n := p.constantInt("an array extent")
	if n < 1 || n > maxVarBytes {
		p.fail(pos, "an array extent must be between 1 and %d, not %d", int64(maxVarBytes), n)
	}
	return n
}

// checkSize bounds the size of a variable. The product is checked at each step,
// so it cannot overflow.
func (p *parser) checkSize(v *Var) {
	size := int64(v.Type.Size())
	for _, d := range v.Dims {
		if d > 0 && size > maxVarBytes/d {
			p.fail(v.Pos, "%s is larger than %d bytes", v.Name, int64(maxVarBytes))
		}
		size *= max(d, 1)
	}
}

// function parses a kernel or device function, with its body if it has one. The function is
// declared before its body is parsed, so that it may call itself.
func (p *parser) function(link Linkage, entry bool) {
	f := &Func{Entry: entry, Link: link, Labels: map[string]int{}}
	p.prefixes()
	if p.tok.kind == '(' {
		f.Return = p.params()
		p.prefixes()
	}
	t := p.name("a function name")
	f.Pos, f.Name = t.pos, p.identifier(t)
	if p.tok.kind == '(' {
		f.Params = p.params()
	}
	p.checkParams(f)
	p.funcAttributes(f)
	f = p.declareFunc(f)
	if f.Extern {
		p.expect(';', "or a body after the declaration of "+f.Name)
		return
	}
	p.funcBody(f)
}

// prefixes skips the directives between .func and the name.
func (p *parser) prefixes() {
	for {
		switch {
		case p.acceptWord(".noreturn"):
		case p.acceptWord(".attribute"):
			p.attribute()
		default:
			return
		}
	}
}

// declareFunc adds f, or completes an earlier declaration of it. The result is the function to
// fill. It is Extern if no body follows.
func (p *parser) declareFunc(f *Func) *Func {
	if p.vars[f.Name] != nil {
		p.fail(f.Pos, "%s is already a variable, declared at line %d", f.Name, p.vars[f.Name].Pos.Line)
	}
	body := p.tok.kind == '{'
	// An earlier declaration must agree; at most one may have a body.
	old := p.funcs[f.Name]
	if old != nil && !sameSignature(old, f) {
		p.fail(f.Pos, "%s is declared with other parameters or results at line %d", f.Name, old.Pos.Line)
	}
	switch {
	case body && f.Link == External:
		p.fail(f.Pos, "function %s is .extern and has a body", f.Name)
	case old == nil:
		f.Extern = !body
		p.funcs[f.Name] = f
		p.m.Funcs = append(p.m.Funcs, f)
		return f
	case !body:
		// The parser needs no more than Extern of a function without a body.
		return &Func{Name: f.Name, Extern: true} // a repeated declaration
	case !old.Extern:
		p.fail(f.Pos, "function %s is defined twice; first at line %d", f.Name, old.Pos.Line)
	}
	// Calls that were parsed already find the function by its name or hold this pointer.
	*old = *f
	return old
}

// params parses a parenthesised parameter list and assigns the offsets. Each parameter is
// placed at the next multiple of its alignment, as in a C struct:
//
//	.param .u32 n, .param .u64 x, .param .b8 s[3], .param .u16 k
//
//	offset  0   4   8           16  19 20  22
//	        │ n │pad│     x     │ s │p│ k │
func (p *parser) params() []*Var {
	var list []*Var
	offset := 0
	p.expect('(', "before parameters")
	for p.tok.kind != ')' {
		v := p.param()
		if n := len(list); n > 0 && list[n-1].incomplete() {
			p.report(list[n-1].Pos, "parameter %s has no extent: only the last parameter may omit it", list[n-1].Name)
		}
		// The alignment is a power of two, see parser.alignment.
		offset = (offset + v.Align - 1) &^ (v.Align - 1)
		v.Offset = offset
		offset += int(v.Size())
		if offset > maxLocal {
			p.fail(v.Pos, "the parameters up to %s take %d bytes: they are in local memory, of which a thread has %d", v.Name, offset, maxLocal)
		}
		list = append(list, v)
		if !p.comma(')', "a parameter") {
			break
		}
	}
	p.expect(')', "after the parameters")
	return list
}

// param parses one parameter.
func (p *parser) param() *Var {
	space, ok := p.space()
	if !ok || space != ParamSpace && space != RegSpace {
		p.unexpected("a .param declaration")
	}
	v := p.varHead(space, Static)
	p.declarator(v)
	return v
}

// funcAttributes parses the directives between the parameters and the body, see
// "Performance-Tuning Directives" in the PTX ISA. Those that only tune the compiler are
// skipped.
func (p *parser) funcAttributes(f *Func) {
	for p.tok.kind == tokWord && p.tok.text[0] == '.' {
		t := p.tok
		p.next()
		if fault := featureFault(t.text, opcode{name: t.text}, p.m); fault != "" {
			p.report(t.pos, "%s", fault)
		}
		switch t.text {
		case ".maxntid":
			f.MaxThreads = p.threads()
		case ".reqntid":
			f.ReqThreads = p.threads()
		case ".minnctapersm":
			f.MinBlocks = uint32(p.integerIn("a block count", 0, 1<<31-1))
		case ".maxnreg":
			f.MaxRegs = uint32(p.integerIn("a register count", 0, 1<<16))
		case ".maxnctapersm":
			p.integer("a number after " + t.text)
		case ".maxclusterrank":
			p.integer("a number after " + t.text)
			f.Cluster = true
		case ".reqnctapercluster":
			p.threads()
			f.Cluster = true
		case ".explicitcluster", ".blocksareclusters":
			f.Cluster = true
		case ".noreturn", ".unified":
		case ".abi_preserve", ".abi_preserve_control":
			p.integer("a number after " + t.text)
		case ".pragma":
			p.pragma()
		case ".attribute":
			p.attribute()
		default:
			p.fail(t.pos, "%s is not a directive of a function", t.describe())
		}
	}
	if f.MaxThreads[0] > 0 && f.ReqThreads[0] > 0 {
		p.report(f.Pos, "%s has .maxntid and .reqntid: only one of them is allowed", f.Name)
	}
}

// threads parses one to three extents. Missing ones are 1.
func (p *parser) threads() [3]uint32 {
	n := [3]uint32{1, 1, 1}
	for i := range n {
		n[i] = uint32(p.integerIn("a thread count", 1, 1<<31-1))
		if i == 2 || !p.accept(',') {
			break
		}
	}
	return n
}
