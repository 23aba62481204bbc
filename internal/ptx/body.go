package ptx

import "strings"

// body is the state of parsing one function. Scopes nest as the { } of the text do; scopes[0]
// is the body itself. Everything that is declared goes to the flat function at once, under a
// name that is unique in it:
//
//	{                          scopes[0]   %r0 → 0, LOOP → "LOOP"
//	  .reg .b32 %r<1>;
//	  LOOP:
//	  {                        scopes[1]   %r0 → 1, LOOP → "LOOP__1"
//	    .reg .b32 %r0;
//	    LOOP:
//	    bra LOOP;              resolved when scopes[1] is closed
//	  }
//	}
//
// A branch may precede its label, so uses of labels wait in their scope until it is closed.
// Uses that the scope does not define move to the enclosing scope.
type body struct {
	p        *parser
	f        *Func
	scopes   []*scope
	taken    map[string]bool // names in the flat function, register ranges aside
	rangeMax map[string]int  // by prefix of register ranges: the end of the longest range
	renamed  map[string]int  // by name: the last number that was appended to it
}

// funcBody parses the body of f, from behind its '{'. After an error it continues with the next
// statement, so that several errors of one function are reported at once.
func (p *parser) funcBody(f *Func) {
	b := &body{p: p, f: f, taken: map[string]bool{}, rangeMax: map[string]int{}, renamed: map[string]int{}}
	p.line = Loc{}
	b.push()
	for _, list := range [][]*Var{f.Return, f.Params} {
		for _, v := range list {
			b.declareParam(v)
		}
	}
	p.within = f.Name
	for !p.protect(b.statements) {
		b.sync()
	}
	p.within = ""
}

// declareParam declares a parameter. One in .reg space becomes a register.
func (b *body) declareParam(v *Var) {
	if v.Name == "_" {
		return
	}
	if v.Space == RegSpace {
		b.declareRegs(token{tokWord, v.Name, v.Pos}, v.Type, -1)
		return
	}
	b.declareVar(v)
}

// top returns the innermost scope.
func (b *body) top() *scope { return b.scopes[len(b.scopes)-1] }

// push opens a scope.
func (b *body) push() {
	if len(b.scopes) == maxDepth {
		b.p.fail(b.p.tok.pos, "blocks are nested deeper than %d", maxDepth)
	}
	b.scopes = append(b.scopes, &scope{open: b.p.tok.pos})
}

// pop closes a scope. Uses of labels that it declares are resolved; the others
// are passed to the enclosing scope.
func (b *body) pop() {
	s := b.top()
	b.scopes = b.scopes[:len(b.scopes)-1]
	for _, u := range s.uses {
		// Inner labels hide outer ones, as all scopes that enclose the use are closed from the
		// inside out.
		if flat, ok := s.labels[u.name]; ok {
			b.resolveLabel(u, flat)
		} else if len(b.scopes) > 0 {
			b.top().uses = append(b.top().uses, u)
		} else {
			b.p.report(u.pos, "label %s is not defined in function %s", u.name, b.f.Name)
		}
	}
}

// resolveLabel stores the resolved name of a label in the operand that uses it.
func (b *body) resolveLabel(u labelUse, flat string) {
	// An operand of a branch table is an element of its list.
	op := &b.f.Body[u.inst].Args[u.arg]
	if u.elem >= 0 {
		op = &op.Elems[u.elem]
	}
	op.Name, op.Target = flat, b.f.Labels[flat]
}

// sync skips to the end of a statement that failed, and drops the uses of labels that belong to
// it. A block that is opened inside the statement is skipped as a whole; the '}' of the
// enclosing block is not consumed.
func (b *body) sync() {
	p, s := b.p, b.top()
	// The failed instruction was not appended, so its uses have the index of the next one.
	for n := len(s.uses); n > 0 && s.uses[n-1].inst == len(b.f.Body); n-- {
		s.uses = s.uses[:n-1]
	}
	for depth := 0; !p.stopped; p.tok = p.scan() {
		switch p.tok.kind {
		case tokEOF:
			return
		case ';':
			p.tok = p.scan()
			return
		case '{':
			depth++
		case '}':
			if depth--; depth < 0 {
				return
			}
		}
	}
}

// statements parses up to the last '}' of the body, from a '{' or from where
// sync stopped.
func (b *body) statements() {
	p := b.p
	// After an error, statements is called again and is inside the body already.
	if len(b.f.Body) == 0 && len(b.scopes) == 1 && b.top().open == p.tok.pos {
		p.expect('{', "to open the body")
	}
	for {
		p.stmt = p.tok.pos
		switch p.tok.kind {
		case '{':
			b.push()
			p.next()
		case '}':
			b.pop()
			p.tok = p.scan() // next could fail on a token after the body's end
			if len(b.scopes) == 0 {
				return
			}
		case ';':
			p.next()
		case '@':
			p.next()
			b.guarded()
		case tokWord:
			t := p.tok
			p.next()
			b.word(t)
		// scan was used in place of next, which would have failed already.
		case tokBad:
			p.badToken()
		default:
			p.unexpected("an instruction")
		}
	}
}

// guarded parses "@p inst;" or "@!p inst;" from behind the '@'.
func (b *body) guarded() {
	p := b.p
	g := Guard{Neg: p.accept('!')}
	t := p.name("a predicate register")
	g.Reg = b.needRegister(t)
	if typ := b.f.Regs[g.Reg].Type; typ != Pred {
		p.fail(t.pos, "the guard %s is a .%s register; it must be .pred", t.text, typ)
	}
	op := p.name("an instruction")
	b.instruction(op, g)
}

// word parses a statement that starts with the word t, which is consumed
// already.
func (b *body) word(t token) {
	switch {
	case t.text[0] == '.':
		b.directive(t)
	case b.p.tok.kind == ':':
		b.p.next()
		b.label(t)
	default:
		b.instruction(t, Guard{Reg: NoReg})
	}
}

// label declares a label, or the name of the directive that follows the label.
func (b *body) label(t token) {
	p, s := b.p, b.top()
	if p.acceptWord(".callprototype") {
		b.prototype(t)
		return
	}
	if p.acceptWord(".branchtargets") {
		b.branchTargets(t)
		return
	}
	if p.acceptWord(".calltargets") {
		b.callTargets(t)
		return
	}
	if _, ok := s.labels[t.text]; ok {
		p.fail(t.pos, "label %s is defined twice in this scope", t.text)
	}
	if s.labels == nil {
		s.labels = map[string]string{}
	}
	// Branches are resolved by the flat name, which is unique in the function.
	flat := b.unique(t.text)
	s.labels[t.text] = flat
	b.f.Labels[flat] = len(b.f.Body)
}

// prototype parses name : .callprototype (return) _ (params) ;
func (b *body) prototype(t token) {
	p := b.p
	proto := &Prototype{Pos: t.pos, Name: b.unique(t.text)}
	if p.tok.kind == '(' {
		proto.Return = p.params()
	}
	// The prototype has no name: "_" stands in its place.
	p.name("_")
	if p.tok.kind == '(' {
		proto.Params = p.params()
	}
	for p.acceptWord(".noreturn") || p.acceptWord(".abi_preserve") || p.acceptWord(".abi_preserve_control") {
		if p.tok.kind == tokNumber {
			p.next()
		}
	}
	p.expect(';', "after the prototype")
	b.addProto(t, proto)
}

// addProto declares a prototype.
func (b *body) addProto(t token, proto *Prototype) {
	s := b.top()
	if s.protos == nil {
		s.protos = map[string]string{}
	}
	s.protos[t.text] = proto.Name
	b.f.Protos = append(b.f.Protos, proto)
}

// callTargets parses name : .calltargets function, … ;
func (b *body) callTargets(t token) {
	proto := &Prototype{Pos: t.pos, Name: b.unique(t.text)}
	for i, name := range b.labelTokens("a function") {
		b.p.useSymbol(name, useCall)
		proto.Targets = append(proto.Targets, name.text)
		// All targets have one signature, so that of the first is the signature of the call.
		if f := b.p.funcs[name.text]; i == 0 && f != nil {
			proto.Params, proto.Return = f.Params, f.Return
		}
	}
	b.addProto(t, proto)
}

// branchTargets parses name : .branchtargets label, … ;
func (b *body) branchTargets(t token) {
	s := b.top()
	if s.tables == nil {
		s.tables = map[string][]token{}
	}
	s.tables[t.text] = b.labelTokens("a label")
}

// labelTokens parses a list of names up to the ';'.
func (b *body) labelTokens(item string) []token {
	var list []token
	for {
		list = append(list, b.p.name(item))
		if !b.p.accept(',') {
			b.p.expect(';', "after the list")
			return list
		}
	}
}

// directive parses a directive inside a body, from behind its name.
func (b *body) directive(t token) {
	p := b.p
	switch t.text {
	case ".reg":
		b.reg()
	case ".loc":
		p.loc()
	case ".pragma":
		p.pragma()
	case ".file":
		p.fileDirective()
	case ".section":
		p.section()
	default:
		// A variable: [.extern] .shared …
		link, known := linkages[t.text]
		if known {
			t = p.tok
			p.next()
		}
		space, ok := ParseSpace(strings.TrimPrefix(t.text, "."))
		if !ok || t.kind != tokWord || t.text[0] != '.' {
			p.fail(t.pos, "a function body cannot contain %s", t.describe())
		}
		// The variable keeps its scope until the '}' and its storage in f.Vars.
		for _, v := range p.varList(space, link) {
			b.declareVar(v)
			b.f.Vars = append(b.f.Vars, v)
		}
	}
}

// regType parses the type of registers. vector is the number of elements of a vector register,
// or 0.
func (b *body) regType() (typ Type, vector int) {
	p := b.p
	// The vector size may precede or follow the type.
	for p.tok.kind == tokWord && p.tok.text[0] == '.' {
		t := p.tok
		p.next()
		switch t.text {
		case ".v2", ".v4", ".v8":
			vector = int(t.text[2] - '0')
			continue
		}
		var ok bool
		if typ, ok = ParseType(t.text[1:]); !ok {
			p.fail(t.pos, "%s is not a type of a register", t.describe())
		}
	}
	switch {
	case typ == NoType:
		p.unexpected("the type of the registers")
	case vector > 0 && typ == Pred:
		p.fail(p.tok.pos, "a vector of predicate registers does not exist")
	case vector > 0:
		p.checkVector(p.tok.pos, typ, vector)
	}
	return typ, vector
}

// reg parses .reg .type name, name<count>, … ; from behind the .reg. Both limits on the number
// of registers are checked before any memory is allocated.
func (b *body) reg() {
	p := b.p
	typ, vector := b.regType()
	for {
		t := p.name("a register name")
		count := -1
		if p.accept('<') {
			count = int(p.integerIn("the number of registers", 0, maxRegs))
			p.expect('>', "after the number of registers")
		}
		// A range of 0 registers counts as one, so that ranges cannot be declared without a
		// limit.
		n := max(count, 1) * max(vector, 1)
		if len(b.f.Regs)+n >= maxRegs {
			p.fail(t.pos, "function %s has more than %d registers", b.f.Name, maxRegs)
		}
		if p.regCount += n; p.regCount >= maxAllRegs {
			p.fail(t.pos, "the functions of the module up to %s have more than %d registers", b.f.Name, maxAllRegs)
		}
		if vector > 0 {
			b.declareVectors(t, typ, count, vector)
		} else {
			b.declareRegs(t, typ, count)
		}
		if !p.accept(',') {
			break
		}
	}
	p.expect(';', "after the registers")
}

// declareVar declares a variable in the innermost scope.
func (b *body) declareVar(v *Var) {
	s := b.top()
	if s.declares(v.Name) {
		b.p.fail(v.Pos, "%s is declared twice in this scope", v.Name)
	}
	if s.vars == nil {
		s.vars = map[string]*Var{}
	}
	s.vars[v.Name] = v
	v.Name = b.unique(v.Name)
}
