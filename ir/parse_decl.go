package ir

import (
	"slices"
	"time"
)

// declarations are the statements of a graph that begin with a word.
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

// graphStatement reads an operation, a declaration or the deps block.
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

// declare reads the name of a new symbol and adds it to the table. The caller appends the declared value to
// the graph, under the same index.
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
		p.fail(at-len(table.sigil), "no %s %s%s is declared%s", table.what, table.sigil, name, didYouMean(name, table.names, table.sigil))
	}
	return id
}

// sigil reads the sigil of a kind of names, such as @. Names of modules have none.
func (p *parser) sigil(table *symbols) {
	if table.sigil == "" {
		p.skip()
		return
	}
	p.expect(table.sigil[0])
}

// moduleDecl reads module vec "vec.ptx", behind its first word as the other declarations.
func (p *parser) moduleDecl() {
	m := Module{Name: p.declare(&p.modules, &nameByte), File: p.quoted()}
	p.g.Modules = append(p.g.Modules, m)
}

// paramDecl reads param $alpha f32 = 0.5.
func (p *parser) paramDecl() {
	name := p.declare(&p.params, &dottedBytes)
	t := p.scalarType()
	p.expect('=')
	p.g.Params = append(p.g.Params, Param{Name: name, Value: p.value(t)})
}

// bufferDecl reads buffer @x f32[1024] device(0) input.
func (p *parser) bufferDecl() {
	b := Buffer{Name: p.declare(&p.buffers, &dottedBytes), Elem: p.scalarType()}
	p.open('[')
	b.Len = p.integer(64)
	p.close(']')
	b.Place, b.Role = p.place(), p.role()
	p.g.Buffers = append(p.g.Buffers, b)
}

// place reads device(0), pinned, pageable or managed. The default is device(0).
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

// role reads the role of a buffer. The default is temporary.
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
	p.fail(at, "%q is not a place or a role of a buffer%s", w, didYouMean(w, slices.Concat(placeWords, roleWords), ""))
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
	s, err := ParseScalar(t, text)
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

// span reads @x for a whole buffer or @x[lo:hi] for some of its bytes.
func (p *parser) span() Range {
	p.sigil(&p.buffers)
	return p.spanOf(BufferID(p.refer(&p.buffers, &dottedBytes)))
}

// spanOf reads the rest of a span of buffer id.
func (p *parser) spanOf(id BufferID) Range {
	if p.failed {
		return Range{}
	}
	if p.pos >= len(p.src) || p.src[p.pos] != '[' {
		return Range{Buffer: id, Hi: p.g.Buffers[id].Size()}
	}
	p.open('[')
	r := p.ends(id)
	p.close(']')
	return r
}

// ends reads lo:hi.
func (p *parser) ends(id BufferID) Range {
	r := Range{Buffer: id, Lo: p.integer(64)}
	p.expect(':')
	r.Hi = p.integer(64)
	return r
}

// shapedSpan reads a span, or one with strides: @x[lo:hi, 256 every 4096 times 16 every 65536].
func (p *parser) shapedSpan() (Range, ShapeID) {
	p.sigil(&p.buffers)
	id := BufferID(p.refer(&p.buffers, &dottedBytes))
	if p.failed || p.pos >= len(p.src) || p.src[p.pos] != '[' {
		return p.spanOf(id), 0
	}
	p.open('[')
	r := p.ends(id)
	shape := ShapeID(0)
	if p.accept(',') {
		shape = p.shape(r)
	}
	p.close(']')
	return r, shape
}

var (
	everyWord = []string{"every"}
	timesWord = []string{"times"}

	ofWord     = []string{"of"}
	beforeWord = []string{"before"}
	afterWord  = []string{"after"}
)

// shape reads the strides of an access with hull r: 256 every 4096, or 256 every 4096 times 16 every 65536. The number
// of elements at the last stride follows from the hull.
func (p *parser) shape(r Range) ShapeID {
	p.skip()
	at := p.pos
	s := Shape{Run: p.integer(64)}
	p.choose("the word every", everyWord)
	s.Stride[0] = p.integer(64)
	last, extent := 0, s.Run
	if c := p.peek(); c != ']' {
		p.choose("the word times", timesWord)
		s.Count[0] = p.integer(64)
		p.choose("the word every", everyWord)
		s.Stride[1] = p.integer(64)
		last, extent = 1, s.Run+(s.Count[0]-1)*s.Stride[0]
	}
	d := s.Stride[last]
	if p.failed {
		return 0
	}
	if rest := r.Hi - r.Lo - extent; d > 0 && rest >= 0 && rest%d == 0 {
		s.Count[last] = rest/d + 1
	}
	if !s.Valid() || s.Extent() != r.Hi-r.Lo {
		p.fail(at, "the strides do not fit bytes %d to %d: elements must be apart, two or more at each stride, and the last one must end at byte %d", r.Lo, r.Hi, r.Hi)
		return 0
	}
	return ShapeID(p.shapes.ID(s))
}
