package ir

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/internal/box"
)

// Parse reads a .rir file. The name is for errors only. Parse checks the syntax and that every name is
// declared; Verify checks the graph, and Load does both. errors.As finds the first *Error.
func Parse(name, src string) (*File, error) {
	f, _, err := parse(name, src)
	return f, err
}

// parser builds a graph from its text by recursive descent. See docs/IR.md for
// the grammar. It reports up to maxErrors mistakes: after one, it goes on with the next statement. This is recovery in
// panic mode (Aho, Sethi and Ullman, Compilers, 4.1), with the end of the line as the synchronizing token. A mistake in
// the header of a block is skipped up to the brace, so that the statements of the block are not read as those of the
// block around it.
//
// Methods read one construct each, whose syntax is in their comments. They return a zero value after a
// mistake and need not check for it, since the scanner reads nothing until the statement ends.
type parser struct {
	scanner
	file   string
	g      *Graph // the graph or body being read
	sched  *Schedule
	nested int // number of bodies around the statement

	tool        string // that wrote the file
	contents    []Contents
	packed      []packed // of contents in sections
	hasContents bool

	modules, params, buffers symbols

	opAt    []int // by operation: offset of its line in the graph
	turnAt  []int // by operation: offset of its line in the schedule, -1 for none
	forward []forwardRef
	misnum  bool // an operation had a wrong number, so later numbers are not checked
	deps    []Dep
	causes  Causes
	shapes  box.Table

	opsAt   map[*Graph][]int    // by body: its opAt
	turnsAt map[*Schedule][]int // by schedule of a body: its turnAt

	launches   slab[Launch]
	copies     slab[Copy]
	memsets    slab[Memset]
	prefetches slab[Prefetch]
	args       slab[Arg]
	uses       slab[Access]
	ids        slab[OpID]
	positions  slab[Position]

	// Scratch memory in which lists grow before a slab keeps a copy.
	someArgs []Arg
	someUses []Access
	someIDs  []OpID
}

// symbols is the table of the declared names of one kind.
type symbols struct {
	what, sigil string         // such as buffer and @
	aName       string         // "the name of a buffer", for "expected ..."
	index       map[string]int // by name: its id
	names       []string       // by id
}

func newSymbols(what, sigil string) symbols {
	return symbols{what: what, sigil: sigil, aName: "the name of a " + what, index: make(map[string]int)}
}

// parse is Parse. It also returns the parser, which has the places of operations for errors of Verify.
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
		p.finishContents()
	}
	if err := p.errors(src); err != nil {
		return nil, nil, err
	}
	return &File{Tool: p.tool, Graph: p.g, Schedule: p.sched, Contents: p.contents}, p, nil
}

// errors returns the mistakes with their lines and columns, by position. It returns nil if there are none.
func (p *parser) errors(src string) error {
	if len(p.errs) == 0 {
		return nil
	}
	slices.SortStableFunc(p.errs, func(a, b mistake) int { return cmp.Compare(a.pos, b.pos) })
	var all mistakes
	for _, m := range p.errs[:min(len(p.errs), maxErrors)] {
		all = append(all, errorAt(p.file, src, m.pos, m.msg))
	}
	return all
}

// errorAt returns an error with the line and column of byte pos of src.
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

// topLevel reads the header, if there is one, a graph, and an optional schedule and contents.
func (p *parser) topLevel() {
	for {
		p.blankLines()
		at := p.pos
		if at >= len(p.src) {
			break
		}
		switch p.choose("rir, graph, schedule or contents", topLevelWords) {
		case 0:
			p.graph(at)
		case 1:
			p.schedule(at)
		case 2:
			p.contentsBlock(at)
		case 3:
			p.header(at)
		}
		p.endStatement()
	}
	if p.g == nil && len(p.errs) == 0 {
		p.fail(p.pos, "the file holds no graph: write graph name { ... }")
	}
}

var topLevelWords = []string{"graph", "schedule", "contents", "rir"}

// block reads statements between braces. After a mistake in the header it continues behind the brace on the
// same line. If there is none, parsing ends.
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

// unclosed reports a block without a closing brace, unless a block inside it has been reported for that.
func (p *parser) unclosed(open int) {
	n := len(p.errs)
	if n >= maxErrors || n > 0 && p.errs[n-1].msg == unclosed {
		return
	}
	p.fail(open, unclosed)
}

const unclosed = "this block is not closed: add }"

// resumeAtBrace moves behind the last opening brace of the line and resumes reading. It reports whether there
// is one.
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

// graph reads graph name { ... }, whose first word is at offset at.
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
	p.finish()
	p.g.Shapes = p.shapes.Shapes()
	if len(p.errs) == 0 {
		p.g.shareAll()
	}
}

// finish completes a graph or a body behind its last statement: it resolves forward references and builds
// the rows of dependencies.
func (p *parser) finish() {
	if len(p.errs) == 0 {
		p.resolveForward()
	}
	if len(p.errs) > 0 {
		return
	}
	if p.g.Phase != Traced {
		r, err := buildRows(len(p.g.Ops), p.deps, p.causes.Ranges())
		if err != nil {
			panic("BUG: the parser let a bad dependency pass: " + err.Error())
		}
		p.g.rows = r
	}
	if len(p.g.Ops) == 0 {
		p.g.Ops = nil
	}
}
