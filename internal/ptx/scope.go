package ptx

import "strconv"

// scope is one level of names inside a function: the body, or a nested { } block of a call
// sequence or of inline assembly. An inner name that is taken already is renamed, so that every
// name of the flat function is unique. Maps are nil until the first entry, since most blocks
// declare one or two names.
type scope struct {
	open   Pos // of the '{'
	regs   map[string]RegID
	ranges []regRange
	vars   map[string]*Var    // by the name in this scope
	labels map[string]string  // name in this scope -> name in the function
	protos map[string]string  // name in this scope -> name in the function
	tables map[string][]token // .branchtargets
	// vectors contains the elements of vector registers. They are also in regs, as "v.x".
	vectors map[string][]RegID
	uses    []labelUse // not yet resolved
}

// regRange is a declaration ".reg .b32 %r<5>": five registers %r0 to %r4.
type regRange struct {
	prefix string
	first  RegID
	count  int
}

// labelUse is an operand that names a label: argument arg of instruction inst, or element elem
// of that argument if elem >= 0.
type labelUse struct {
	pos       Pos
	name      string
	inst, arg int
	elem      int
}

// register returns the register called name. Inner scopes come first.
func (b *body) register(name string) (RegID, bool) {
	for i := len(b.scopes) - 1; i >= 0; i-- {
		if id, ok := b.scopes[i].register(name); ok {
			return id, true
		}
	}
	return NoReg, false
}

// declares reports whether the scope has a register or variable of that name.
func (s *scope) declares(name string) bool {
	_, isReg := s.register(name)
	return isReg || s.vars[name] != nil || s.vectors[name] != nil
}

// add declares a register.
func (s *scope) add(name string, id RegID) {
	if s.regs == nil {
		s.regs = map[string]RegID{}
	}
	s.regs[name] = id
}

// register returns the register called name in this scope. A name such as %rd12 is looked up by
// its prefix and number, so that a range of thousands of registers takes one entry.
func (s *scope) register(name string) (RegID, bool) {
	if len(s.ranges) > 0 {
		if prefix, n, ok := splitIndex(name); ok {
			// Few prefixes are declared, so a list is faster than a map.
			for i := range s.ranges {
				if r := &s.ranges[i]; n < r.count && r.prefix == prefix {
					return r.first + RegID(n), true
				}
			}
		}
	}
	id, ok := s.regs[name]
	return id, ok
}

// splitIndex splits "%rd12" into "%rd" and 12. A number with a leading zero is
// not an index.
func splitIndex(name string) (prefix string, n int, ok bool) {
	cut := len(name)
	for cut > 0 && charClasses[name[cut-1]] == classDigit {
		cut--
	}
	digits := name[cut:]
	if digits == "" || len(digits) > 8 || digits[0] == '0' && len(digits) > 1 {
		return name, 0, false
	}
	for i := range len(digits) {
		n = n*10 + int(digits[i]-'0')
	}
	return name[:cut], n, true
}

// variable returns the variable called name: of the innermost scope that has it, or of the
// module.
func (b *body) variable(name string) (*Var, bool) {
	for i := len(b.scopes) - 1; i >= 0; i-- {
		if v, ok := b.scopes[i].vars[name]; ok {
			return v, true
		}
	}
	v, ok := b.p.vars[name]
	return v, ok
}

// unique returns name, or name with the first suffix that is free in the
// function.
func (b *body) unique(name string) string {
	free := name
	for n := b.renamed[name]; b.isTaken(free); n++ {
		free = name + "__" + strconv.Itoa(n+1)
		b.renamed[name] = n + 1
	}
	b.taken[free] = true
	return free
}

// isTaken reports whether a name exists in the flat function or the module.
func (b *body) isTaken(name string) bool {
	if b.taken[name] || b.p.vars[name] != nil {
		return true
	}
	prefix, n, ok := splitIndex(name)
	return ok && n < b.rangeMax[prefix]
}

// declareRegs adds the registers of one declarator. count is n for name<n>, and
// -1 for a single register.
func (b *body) declareRegs(t token, typ Type, count int) {
	s := b.top()
	if count < 0 {
		if s.declares(t.text) {
			b.p.fail(t.pos, "%s is declared twice in this scope", t.text)
		}
		s.add(t.text, b.newReg(t.text, typ))
		return
	}
	for _, r := range s.ranges {
		if r.prefix == t.text {
			b.p.fail(t.pos, "registers %s<> are declared twice in this scope", t.text)
		}
	}
	s.ranges = append(s.ranges, regRange{t.text, RegID(len(b.f.Regs)), count})
	b.declareRange(t.text, typ, count)
}

// newReg adds a register with a unique name.
func (b *body) newReg(name string, typ Type) RegID {
	b.f.Regs = append(b.f.Regs, Reg{b.unique(name), typ})
	return RegID(len(b.f.Regs) - 1)
}

// declareVectors adds vector registers, one register per element. Element x of
// v is named v.x, or v.r as a colour.
func (b *body) declareVectors(t token, typ Type, count, length int) {
	if count < 0 {
		b.declareVector(t, t.text, typ, length)
		return
	}
	for i := range count {
		b.declareVector(t, t.text+strconv.Itoa(i), typ, length)
	}
}

// declareVector adds one vector register as a register for each element.
func (b *body) declareVector(t token, name string, typ Type, length int) {
	s := b.top()
	if s.declares(name) {
		b.p.fail(t.pos, "%s is declared twice in this scope", name)
	}
	if s.vectors == nil {
		s.vectors = map[string][]RegID{}
	}
	var list []RegID
	for i := range length {
		id := b.newReg(name+"_"+strconv.Itoa(i), typ)
		list = append(list, id)
		if i < 4 {
			s.add(name+"."+"xyzw"[i:i+1], id)
			s.add(name+"."+"rgba"[i:i+1], id)
		}
	}
	s.vectors[name] = list
}

// declareRange adds count registers. Their names are slices of one string, since a large kernel
// has 35,000 registers.
func (b *body) declareRange(prefix string, typ Type, count int) {
	buf := make([]byte, 0, count*(len(prefix)+5))
	ends := make([]int, count)
	for i := range count {
		buf = append(buf, prefix...)
		buf = strconv.AppendInt(buf, int64(i), 10)
		ends[i] = len(buf)
	}
	names, start := string(buf), 0
	// In most functions no name can be taken yet, which saves a lookup for each register.
	clean := len(b.taken) == 0 && b.rangeMax[prefix] == 0
	for _, end := range ends {
		name := names[start:end]
		if !clean && b.isTaken(name) {
			name = b.unique(name)
		}
		b.f.Regs = append(b.f.Regs, Reg{name, typ})
		start = end
	}
	b.rangeMax[prefix] = max(b.rangeMax[prefix], count)
}
