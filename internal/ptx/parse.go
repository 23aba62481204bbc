package ptx

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Limits of a file. They bound the memory that a short text can take, and the depth of the
// recursion.
const (
	maxErrors    = 10      // errors reported for one file
	maxDepth     = 64      // nested { } in a function body
	maxRegs      = 1 << 20 // per function; the largest of 3,278 kernels has 34,898
	maxDims      = 8       // extents of an array
	maxVarBytes  = 1 << 40 // size of a variable, 1 TiB
	maxInitBytes = 1 << 26 // initial values of a module, in bytes
	maxAllRegs   = 1 << 22 // registers of all functions of a module
)

// Parse parses and checks the PTX text src. file is its name in errors. The error joins up to
// ten errors of type *Error, sorted by position.
//
// After an error, parsing continues behind the statement, as in the panic mode of compiler
// textbooks:
//
//	Parse
//	└─ protect(module)            an error outside functions: skip to ';' or past '}'
//	   └─ protect(statements)     an error in a body: skip to ';'
//
// fail records an error and panics with bailout, which the innermost protect recovers; report
// records an error and continues. An error at the end of the file is reported as a file that
// was cut short, without the errors of its last statement.
//
// In a module of a later version than the instruction table, an unknown opcode is not an error
// here: the simulator refuses it when the kernel is launched, see Inst.Unknown.
func Parse(file, src string) (*Module, error) {
	p := &parser{
		scanner: scanner{src: src, line: 1},
		m:       &Module{File: file, AddressSize: 64},
		vars:    map[string]*Var{},
		funcs:   map[string]*Func{},
		opcodes: map[string]opcode{},
	}
	p.tok = p.scan()
	p.first = p.tok.text
	for !p.protect(p.module) {
		p.syncModule()
	}
	p.finish()
	if len(p.errs) > 0 {
		slices.SortStableFunc(p.errs, byPosition)
		return nil, errors.Join(p.errs...)
	}
	return p.m, nil
}

// byPosition compares the positions of two errors.
func byPosition(a, b error) int {
	p, q := a.(*Error).Pos, b.(*Error).Pos
	return cmp.Or(cmp.Compare(p.Line, q.Line), cmp.Compare(p.Col, q.Col))
}

// parser is the state of parsing one file. tok is the current token: the first one that no rule
// has consumed.
type parser struct {
	scanner
	tok       token
	first     string // text of the first token
	m         *Module
	vars      map[string]*Var   // of the module, by name
	funcs     map[string]*Func  // by name
	opcodes   map[string]opcode // by opcode word
	errs      []error
	stmt      Pos         // start of the statement being read
	within    string      // function being read
	line      Loc         // of the source, from the last .loc of the function
	stopped   bool        // no more errors are recorded: the file is cut short, or there are maxErrors
	symbols   []symbolUse // checked by finish
	slab      []Operand   // free operands, see storeOperands
	initBytes int64       // of all initial values
	regCount  int         // of all functions
}

// opcode is an opcode word split at its dots, with its row of the instruction
// table.
type opcode struct {
	name   string
	suffix []string
	form   *form
}

// symbolUse is the use of a name that may be a function declared later in the
// file or, in an initializer, a variable.
type symbolUse struct {
	pos  Pos
	name string
	kind useKind
}

// useKind is the kind of place where a name is used. It decides whether the name may be a
// function or a variable, and where that may be declared.
type useKind uint8

// The kinds of uses.
const (
	useAddress useKind = iota // an operand: a function, or a variable declared earlier
	useCall                   // the callee of a call: a function
	useInit                   // an initializer: a function, or a variable of the module
)

// bailout is the panic value that unwinds to protect, after the error was
// recorded.
type bailout struct{}

// protect runs f and reports whether it completed without a call of fail.
func (p *parser) protect(f func()) (ok bool) {
	defer func() {
		if !ok {
			// A panic that is not from fail is our own mistake.
			if r := recover(); r != (bailout{}) {
				panic(r)
			}
			ok = p.stopped
		}
	}()
	f()
	return true
}

// fail records an error and abandons the statement. At the end of the file the
// statement is incomplete, so errors about its parts are withdrawn.
func (p *parser) fail(pos Pos, format string, args ...any) {
	if p.atEnd() && !p.stopped {
		p.truncated()
	} else {
		p.report(pos, format, args...)
	}
	panic(bailout{})
}

// atEnd reports whether the file ends here, possibly inside a word. A file
// without a version is not PTX, and not a truncated file either.
func (p *parser) atEnd() bool {
	if p.tok.kind == tokEOF {
		return true
	}
	// These tokens may continue behind the end, so they may be the first half of a token.
	cut := p.tok.kind == tokWord || p.tok.kind == tokNumber || p.tok.kind == tokBad || p.tok.kind == '/'
	return cut && p.off == len(p.src) && p.m.Version != ""
}

// truncated reports that the file ends inside a statement, and withdraws the errors of that
// statement. Parsing then stops.
func (p *parser) truncated() {
	for n := len(p.errs); n > 0; n-- {
		if at := p.errs[n-1].(*Error).Pos; at.Line < p.stmt.Line || at.Line == p.stmt.Line && at.Col < p.stmt.Col {
			break
		}
		p.errs = p.errs[:n-1]
	}
	where := "in the middle of a statement"
	if p.within != "" {
		where = "inside function " + p.within
	}
	p.report(p.tok.pos, "the file ends %s; it was cut short", where)
	p.stopped = true
}

// report records an error and continues, up to maxErrors.
func (p *parser) report(pos Pos, format string, args ...any) {
	if p.stopped {
		return
	}
	p.errs = append(p.errs, &Error{p.m.File, pos, fmt.Sprintf(format, args...)})
	if len(p.errs) == maxErrors {
		p.stopped = true
	}
}

// next consumes the current token.
func (p *parser) next() {
	p.tok = p.scan()
	if p.tok.kind == tokBad {
		p.badToken()
	}
}

// ahead returns the token after the current one.
func (p *parser) ahead() token {
	// A copy of the scanner, so that the position of the parser does not change.
	s := p.scanner
	return s.scan()
}

// badToken fails at a character that no token starts with.
func (p *parser) badToken() {
	if p.tok.text == `"` {
		p.fail(p.tok.pos, "a string is not closed on its line")
	}
	p.fail(p.tok.pos, "the character %q has no meaning in PTX", p.tok.text)
}

// unexpected fails: the current token is not what the syntax requires.
func (p *parser) unexpected(expected string) {
	p.fail(p.tok.pos, "expected %s, found %s", expected, p.tok.describe())
}

// expect consumes a token of the given kind, or fails.
func (p *parser) expect(kind tokenKind, where string) {
	if p.tok.kind != kind {
		p.unexpected(fmt.Sprintf("%q %s", string(kind), where))
	}
	p.next()
}

// accept consumes the current token if it is of the given kind.
func (p *parser) accept(kind tokenKind) bool {
	if p.tok.kind != kind {
		return false
	}
	p.next()
	return true
}

// acceptWord consumes the current token if it is the given word.
func (p *parser) acceptWord(text string) bool {
	if p.tok.kind != tokWord || p.tok.text != text {
		return false
	}
	p.next()
	return true
}

// name consumes an identifier. %names are allowed, directives are not.
func (p *parser) name(what string) token {
	t := p.tok
	if t.kind != tokWord || t.text[0] == '.' {
		p.unexpected(what)
	}
	p.next()
	return t
}

// comma consumes the ',' between two elements of a list that ends with close.
func (p *parser) comma(close tokenKind, what string) bool {
	if !p.accept(',') {
		return false
	}
	if p.tok.kind == close {
		p.unexpected(what + " after ','")
	}
	return true
}

// identifier returns the text of a name that a declaration introduces. It fails if the name is
// reserved.
func (p *parser) identifier(t token) string {
	if t.text == "WARP_SZ" || specialRegister(t.text) != "" || specialVector(t.text) || strings.Contains(t.text, ".") {
		p.fail(t.pos, "%s cannot be declared: the name is reserved", t.text)
	}
	return t.text
}

// integer parses a literal with an optional sign.
func (p *parser) integer(what string) int64 {
	neg := p.accept('-')
	if p.tok.kind != tokNumber {
		p.unexpected(what)
	}
	value, ok := parseInteger(p.tok.text)
	if !ok {
		p.fail(p.tok.pos, "%s is not an integer", p.tok.describe())
	}
	p.next()
	if neg {
		value = -value
	}
	return value
}

// integerIn parses an integer in the range lo..hi.
func (p *parser) integerIn(what string, lo, hi int64) int64 {
	pos := p.tok.pos
	value := p.integer(what)
	if value < lo || value > hi {
		p.fail(pos, "%s must be between %d and %d, not %d", what, lo, hi, value)
	}
	return value
}

// syncModule skips a statement that failed, and its body if it has one.
func (p *parser) syncModule() {
	depth := 0
	for !p.stopped {
		kind := p.tok.kind
		switch {
		case kind == tokEOF:
			return
		case kind == '{':
			depth++
		case kind == '}':
			depth--
		}
		p.tok = p.scan()
		// The end of a statement, or of the body of a function.
		if depth <= 0 && (kind == ';' || kind == '}') {
			return
		}
	}
}

// module parses statements up to the end of the file.
func (p *parser) module() {
	for p.tok.kind != tokEOF {
		p.stmt = p.tok.pos
		p.moduleStatement()
	}
}

// moduleStatement parses one statement of module scope: a directive, or a
// declaration.
func (p *parser) moduleStatement() {
	if p.tok.kind == tokBad {
		p.badToken()
	}
	if p.accept(';') { // an empty statement, as after a body
		return
	}
	if p.accept('@') { // an @@DWARF line of old compilers
		p.skipLine()
		return
	}
	t := p.tok
	if t.kind != tokWord || t.text[0] != '.' {
		p.unexpected("a directive such as .version, .global or .entry")
	}
	switch t.text {
	case ".version":
		p.next()
		p.version()
	case ".target":
		p.next()
		p.target()
	case ".address_size":
		p.next()
		p.addressSize()
	case ".file":
		p.next()
		p.fileDirective()
	case ".section":
		p.next()
		p.section()
	case ".pragma":
		p.next()
		p.pragma()
	case ".loc":
		p.next()
		p.loc()
	case ".alias":
		p.next()
		p.alias()
	default:
		p.declaration()
	}
}

// version parses the number behind .version.
func (p *parser) version() {
	if p.tok.kind != tokNumber || !strings.Contains(p.tok.text, ".") {
		p.unexpected("a version such as 7.8")
	}
	if p.m.Version != "" {
		p.fail(p.stmt, ".version is given twice")
	}
	p.m.Version = p.tok.text
	p.next()
}

// target parses the name and the options behind .target. Options, such as debug, are ignored.
func (p *parser) target() {
	if p.m.Target != "" {
		p.fail(p.stmt, ".target is given twice")
	}
	p.m.Target = p.name("a target such as sm_75").text
	for p.accept(',') {
		p.name("a target option")
	}
}

// addressSize parses the number behind .address_size.
func (p *parser) addressSize() {
	pos := p.tok.pos
	p.m.AddressSize = int(p.integer("32 or 64"))
	if p.m.AddressSize != 32 && p.m.AddressSize != 64 {
		p.fail(pos, "the address size must be 32 or 64, not %d", p.m.AddressSize)
	}
}

// failAtEnd fails at the end of the file, inside a construct that must be closed.
func (p *parser) failAtEnd(what string) {
	if p.tok.kind == tokEOF {
		p.fail(p.stmt, "%s does not end", what)
	}
}

// skipLine skips the tokens of the current line.
func (p *parser) skipLine() {
	line := p.tok.pos.Line
	for p.tok.kind != tokEOF && p.tok.pos.Line == line {
		p.tok = p.scan()
	}
}

// fileDirective parses .file 1 "name" [, timestamp, size]
func (p *parser) fileDirective() {
	n := p.integer("a file number")
	name := p.tok.text
	p.expect(tokString, "for the file name")
	if p.m.Files == nil {
		p.m.Files = map[int32]string{}
	}
	p.m.Files[int32(n)] = name
	for p.accept(',') {
		p.integer("a time stamp or a size")
	}
}

// loc parses the operands of .loc, and keeps the file and line for the instructions that
// follow:
//
//	.loc file line column [, function_name label [+ n]] [, inlined_at file line column]
func (p *parser) loc() {
	file, line := p.integer("the file of .loc"), p.integer("the line of .loc")
	p.integer("the column of .loc")
	p.line = Loc{int32(file), int32(line)}
	for p.accept(',') {
		switch {
		case p.acceptWord("function_name"):
			p.name("a label")
			if p.accept('+') {
				p.integer("an offset")
			}
		case p.acceptWord("inlined_at"):
			for range 3 {
				p.integer("a number of inlined_at")
			}
		default:
			p.unexpected("function_name or inlined_at")
		}
	}
}

// pragma skips the strings behind .pragma.
func (p *parser) pragma() {
	p.expect(tokString, "for the pragma")
	for p.accept(',') {
		p.expect(tokString, "for the pragma")
	}
	p.expect(';', "after the pragma")
}

// section skips debug information.
func (p *parser) section() {
	for p.tok.kind == tokWord { // a name with dots
		p.next()
	}
	p.expect('{', "to open the section")
	for depth := 1; depth > 0; p.next() {
		p.failAtEnd("the .section")
		switch p.tok.kind {
		case '{':
			depth++
		case '}':
			depth--
		}
	}
}

// alias parses .alias name, of. Both are functions that were declared before.
func (p *parser) alias() {
	t := p.name("a function")
	p.expect(',', "between the functions of .alias")
	of := p.name("a function")
	f, target := p.funcs[t.text], p.funcs[of.text]
	switch {
	case f == nil || !f.Extern:
		p.fail(t.pos, "%s must be a function that is declared without a body", t.text)
	case target == nil || target.Extern:
		p.fail(of.pos, "%s must be a function with a body", of.text)
	}
	f.Alias = of.text
	p.expect(';', "after .alias")
}

// finish checks the parts that need the whole file: its head, the names of functions, and
// the sizes of variables. Head and sizes are checked only in a file without other errors,
// which would have followed from a cut file.
func (p *parser) finish() {
	// The comment hides the rest of the file, so all other errors would be consequences.
	if p.unclosed.Line > 0 {
		p.report(p.unclosed, "a comment is not closed; the file was cut short")
		return
	}
	if p.first != ".version" && p.m.Version == "" { // all other errors follow from this one
		p.errs, p.stopped = nil, false
		p.report(Pos{1, 1}, "the file has no .version directive; it is not PTX: pass the text that nvcc -ptx writes")
		return
	}
	if p.m.Target == "" && len(p.errs) == 0 {
		p.report(Pos{1, 1}, "the file has no .target directive; it was cut short or is not PTX")
	}
	if p.stopped {
		return
	}
	for _, u := range p.symbols {
		switch {
		case p.funcs[u.name] != nil || u.kind == useInit && p.vars[u.name] != nil:
		case u.kind == useCall:
			p.report(u.pos, "function %s is not declared in this module", u.name)
		case p.vars[u.name] != nil:
			p.report(u.pos, "variable %s is used before its declaration at line %d", u.name, p.vars[u.name].Pos.Line)
		default:
			p.report(u.pos, "symbol %s is not declared in this module", u.name)
		}
	}
	for _, f := range p.m.Funcs {
		if f.Extern && f.Link != External && f.Alias == "" {
			p.report(f.Pos, "function %s is declared but has no body; it needs .extern or a definition", f.Name)
		}
	}
	// Sizes are checked only in a module without faults: a faulty declaration has no reliable
	// size.
	if len(p.errs) == 0 {
		checkExtents(p.m, p.report)
	}
}
