package ir

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Parse reads a .rir file; the name serves for errors only. It checks the
// form and that every name is declared; Verify checks what the graph means, and
// Load does both. The error is of type Errors.
func Parse(name, src string) (*File, error) {
	f, _, err := parse(name, src)
	return f, err
}

// parser builds a graph from its text. See docs/IR.md for the grammar.
type parser struct {
	scanner
	file  string
	g     *Graph
	sched *Schedule

	modules, params, buffers symbols

	opAt    []int // by operation: offset of its line in the graph
	turnAt  []int // by operation: offset of its line in the schedule, -1 without
	forward []forwardRef
	misnum  bool // an operation had a wrong number: later ones may have, too
	deps    []Dep

	launches slab[Launch]
	copies   slab[Copy]
	memsets  slab[Memset]
	args     slab[Arg]
	uses     slab[Access]
	ids      slab[OpID]

	// Lists grow here before they are kept.
	someArgs []Arg
	someUses []Access
	someIDs  []OpID
}

// symbols are the declared names of one kind.
type symbols struct {
	what, sigil string
	aName       string // for "expected ..."
	index       map[string]int
	names       []string
}

func newSymbols(what, sigil string) symbols {
	return symbols{what: what, sigil: sigil, aName: "the name of a " + what, index: make(map[string]int)}
}

func parse(name, src string) (*File, *parser, error) {
	text, sections := cutSections(src)
	p := &parser{
		scanner: scanner{src: text},
		file:    name,
		modules: newSymbols("module", ""),
		params:  newSymbols("param", "$"),
		buffers: newSymbols("buffer", "@"),
	}
	p.pos = len(text) - len(strings.TrimPrefix(text, "\ufeff")) // a byte order mark
	p.topLevel()
	if len(p.errs) == 0 {
		p.sections(src, sections)
	}
	if err := p.errors(src); err != nil {
		return nil, nil, err
	}
	return &File{Graph: p.g, Schedule: p.sched}, p, nil
}

// errors turns the mistakes into errors with lines; nil when there are none.
func (p *parser) errors(src string) error {
	if len(p.errs) == 0 {
		return nil
	}
	slices.SortStableFunc(p.errs, func(a, b mistake) int { return cmp.Compare(a.pos, b.pos) })
	var all Errors
	for _, m := range p.errs[:min(len(p.errs), maxErrors)] {
		all = append(all, errorAt(p.file, src, m.pos, m.msg))
	}
	return all
}

// errorAt finds the line and column of byte pos of src.
func errorAt(file, src string, pos int, msg string) *Error {
	start := strings.LastIndexByte(src[:pos], '\n') + 1
	line, _, _ := strings.Cut(src[start:], "\n")
	return &Error{
		File:   file,
		Line:   1 + strings.Count(src[:start], "\n"),
		Col:    1 + pos - start,
		Msg:    msg,
		Source: strings.TrimSuffix(line, "\r"),
	}
}

// topLevel reads a graph and an optional schedule.
func (p *parser) topLevel() {
	for {
		p.blankLines()
		at := p.pos
		if at >= len(p.src) {
			break
		}
		switch p.choose("graph or schedule", []string{"graph", "schedule"}) {
		case 0:
			p.graph(at)
		case 1:
			p.schedule(at)
		}
		p.endStatement()
	}
	if p.g == nil && len(p.errs) == 0 {
		p.fail(p.pos, "the file holds no graph: write graph name { ... }")
	}
}

// block reads statements between braces. After a mistake in the header it goes
// on behind the brace of the same line, and gives up when there is none.
func (p *parser) block(statement func()) {
	p.skip()
	open := p.pos
	p.expect('{')
	if p.failed && !p.resumeAtBrace() {
		return
	}
	for {
		p.blankLines()
		if p.accept('}') {
			return
		}
		if p.pos >= len(p.src) {
			p.unclosed(open)
			return
		}
		statement()
		p.endStatement()
	}
}

// unclosed reports a block without end, unless one inside it is to blame.
func (p *parser) unclosed(open int) {
	n := len(p.errs)
	if n >= maxErrors || n > 0 && p.errs[n-1].msg == unclosed {
		return
	}
	p.fail(open, unclosed)
}

const unclosed = "this block is not closed: add }"

// resumeAtBrace moves behind the last brace of the line and forgets that the
// statement has failed.
func (p *parser) resumeAtBrace() bool {
	line, _, _ := strings.Cut(p.src[p.pos:], "\n")
	i := strings.LastIndexByte(line, '{')
	if i < 0 || len(p.errs) >= maxErrors {
		p.pos = len(p.src)
		return false
	}
	p.failed, p.depth = false, 0
	p.pos += i + 1
	return true
}

// endStatement checks that nothing follows on the line.
func (p *parser) endStatement() {
	switch p.peek() {
	case '\n', '}', 0:
	default:
		p.fail(p.pos, "expected the end of the line, found %s", p.found())
	}
	if p.failed {
		p.recover()
	}
}

func (p *parser) graph(at int) {
	if p.g != nil {
		p.fail(at, "a second graph: a file holds one")
	}
	if p.failed {
		p.pos = len(p.src)
		return
	}
	p.skip()
	p.g = &Graph{Name: p.name("a name for the graph", &dottedBytes)}
	p.g.Ops = make([]Op, 0, strings.Count(p.src, " = ")) // one per operation in canonical text
	p.block(p.graphStatement)
	if len(p.errs) == 0 {
		p.resolveForward()
	}
	if len(p.errs) > 0 {
		return
	}
	if p.g.Phase != Traced {
		r, err := buildRows(len(p.g.Ops), p.deps)
		if err != nil {
			panic("BUG: the parser let a bad dependency pass: " + err.Error())
		}
		p.g.rows = r
	}
	if len(p.g.Ops) == 0 {
		p.g.Ops = nil
	}
}

var declarations = []struct {
	word string
	read func(*parser)
}{
	{"module", (*parser).moduleDecl},
	{"param", (*parser).paramDecl},
	{"buffer", (*parser).bufferDecl},
	{"deps", (*parser).depsBlock},
}

var declarationWords = func() (words []string) {
	for _, d := range declarations {
		words = append(words, d.word)
	}
	return words
}()

func (p *parser) graphStatement() {
	if p.peek() == '%' {
		p.op()
		return
	}
	i := p.choose("a statement of a graph", declarationWords)
	if !p.failed {
		declarations[i].read(p)
	}
}

// declare reads the name of a new symbol; the caller adds what it stands for.
func (p *parser) declare(table *symbols, set *[256]bool) string {
	p.sigil(table)
	at := p.pos
	name := p.name(table.aName, set)
	if p.failed {
		return ""
	}
	if _, ok := table.index[name]; ok {
		p.fail(at, "%s %s%s is declared twice", table.what, table.sigil, name)
	}
	table.index[name] = len(table.names)
	table.names = append(table.names, name)
	return name
}

// refer reads the name of a declared symbol and returns its id.
func (p *parser) refer(table *symbols, set *[256]bool) int {
	at := p.pos
	name := p.name(table.aName, set)
	id, ok := table.index[name]
	if !ok {
		p.fail(at-len(table.sigil), "no %s %s%s is declared%s", table.what, table.sigil, name, suggest(name, table.names, table.sigil))
	}
	return id
}

func (p *parser) sigil(table *symbols) {
	if table.sigil == "" {
		p.skip()
		return
	}
	p.expect(table.sigil[0])
}

func (p *parser) moduleDecl() {
	m := Module{Name: p.declare(&p.modules, &nameByte), File: p.quoted()}
	p.g.Modules = append(p.g.Modules, m)
}

func (p *parser) paramDecl() {
	name := p.declare(&p.params, &dottedBytes)
	t := p.scalarType()
	p.expect('=')
	p.g.Params = append(p.g.Params, Param{Name: name, Value: p.value(t)})
}

func (p *parser) bufferDecl() {
	b := Buffer{Name: p.declare(&p.buffers, &dottedBytes), Elem: p.scalarType()}
	p.open('[')
	b.Len = p.integer(64)
	p.close(']')
	b.Place, b.Role = p.place(), p.role()
	p.g.Buffers = append(p.g.Buffers, b)
}

// place reads where a buffer lives; device(0) may be left out.
func (p *parser) place() Place {
	at := p.pos
	w := p.word()
	i := slices.Index(placeWords, w)
	if i < 0 {
		p.pos = at
		return Place{}
	}
	place := Place{Kind: PlaceKind(i)}
	if place.Kind == OnDevice {
		p.open('(')
		place.Device = int32(p.natural(31))
		p.close(')')
	}
	return place
}

// role reads what a buffer means to the program; temporary may be left out.
func (p *parser) role() Role {
	if c := p.peek(); c == '\n' || c == '}' || c == 0 {
		return Temporary
	}
	at := p.pos
	w := p.word()
	if i := slices.Index(roleWords, w); i >= 0 {
		return Role(i)
	}
	p.pos = at
	if w == "" {
		p.fail(at, "expected the end of the line, found %s", p.found())
	}
	p.fail(at, "%q is not a place or a role of a buffer%s", w, suggest(w, slices.Concat(placeWords, roleWords), ""))
	return 0
}

var typeWords = func() (words []string) {
	for t := range numTypes {
		words = append(words, t.String())
	}
	return words
}()

func (p *parser) scalarType() Type { return Type(p.choose("a type", typeWords)) }

// value reads a scalar's value.
func (p *parser) value(t Type) Scalar {
	p.skip()
	at := p.pos
	text := p.run(&valueBytes)
	if text == "" {
		p.fail(at, "expected a value of type %v, found %s", t, p.found())
		return Scalar{}
	}
	s, err := parseScalar(t, text)
	if err != nil {
		p.fail(at, "%v", err)
	}
	return s
}

// scalar reads u32=0.
func (p *parser) scalar() Scalar {
	t := p.scalarType()
	p.expect('=')
	return p.value(t)
}

// duration reads 1500ns or any duration in Go's syntax, in nanoseconds.
func (p *parser) duration() int64 {
	p.skip()
	at := p.pos
	text := p.run(&valueBytes)
	d, err := time.ParseDuration(text)
	switch {
	case text == "":
		p.fail(at, "expected a duration such as 1500ns, found %s", p.found())
	case err != nil:
		p.fail(at, "%q is not a duration: write a number and its unit, such as 1500ns or 1.5us", text)
	case d < 0:
		p.fail(at, "a duration cannot be negative")
	}
	return int64(d)
}

// depsBlock reads the dependencies and with them the phase.
func (p *parser) depsBlock() {
	if p.g.Phase != Traced {
		p.fail(p.pos, "a second deps block: a graph has one")
	}
	p.g.Phase = Analyzed
	if p.peek() != '{' {
		p.choose("reduced, which alone may follow deps", []string{"reduced"})
		p.g.Phase = Reduced
	}
	p.block(p.dep)
}

// dep reads %0 -> %2 raw|war @x[0:4096].
func (p *parser) dep() {
	p.skip()
	at := p.pos
	d := Dep{From: p.knownOp()}
	p.arrow()
	d.To = p.knownOp()
	if !p.failed && d.From >= d.To {
		p.fail(at, "%v -> %v runs against program order: the first must be listed earlier", d.From, d.To)
	}
	for {
		d.Hazard |= 1 << p.choose("a reason for a dependency", hazardWords)
		if !p.accept('|') {
			break
		}
	}
	if p.peek() == '@' {
		d.Cause = p.span()
	}
	p.deps = append(p.deps, d)
}

func (p *parser) arrow() {
	if p.peek() != '-' || !strings.HasPrefix(p.src[p.pos:], "->") {
		p.fail(p.pos, "expected \"->\", found %s", p.found())
		return
	}
	p.pos += 2
}

// knownOp reads the id of an operation listed above.
func (p *parser) knownOp() OpID {
	p.skip()
	at := p.pos
	v := p.opID()
	if int(v) < len(p.g.Ops) {
		return v
	}
	if p.misnum {
		p.failed = true // the wrong number above is the mistake
	}
	p.fail(at, "there is no operation %v: the graph has %d", v, len(p.g.Ops))
	return v
}

func (p *parser) opID() OpID {
	if p.peek() != '%' {
		p.fail(p.pos, "expected an operation such as %%0, found %s", p.found())
		return 0
	}
	p.pos++
	return OpID(p.natural(31))
}

// span reads @x for a whole buffer or @x[lo:hi] for some of its bytes.
func (p *parser) span() Range {
	p.sigil(&p.buffers)
	return p.spanOf(BufferID(p.refer(&p.buffers, &dottedBytes)))
}

func (p *parser) spanOf(id BufferID) Range {
	if p.failed {
		return Range{}
	}
	if p.pos >= len(p.src) || p.src[p.pos] != '[' {
		return Range{Buffer: id, Hi: p.g.Buffers[id].Size()}
	}
	p.open('[')
	r := Range{Buffer: id, Lo: p.integer(64)}
	p.expect(':')
	r.Hi = p.integer(64)
	p.close(']')
	return r
}
