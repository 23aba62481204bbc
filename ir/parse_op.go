package ir

// attribute is a clause that may follow an operation's operands, in any order and at most once.
type attribute struct {
	word  string
	kinds kindSet // operations that may have it
	read  func(*parser, *Op)
}

// kindSet is a set of kinds, one bit each.
type kindSet uint8

const (
	launches kindSet = 1 << KindLaunch
	hosts    kindSet = 1 << KindHost
	loops    kindSet = 1 << KindLoop
	allKinds kindSet = 1<<numKinds - 1
)

var attributes = []attribute{
	{"grid", launches, func(p *parser, op *Op) { op.Launch.Grid = p.dim() }},
	{"block", launches, func(p *parser, op *Op) { op.Launch.Block = p.dim() }},
	{"shared", launches, (*parser).shared},
	{"args", launches, (*parser).argList},
	{"maps", launches, (*parser).mapList},
	{"uses", launches | hosts, (*parser).useList},
	{"after", allKinds, (*parser).afterList},
	{"cost", allKinds, (*parser).cost},
	{"label", allKinds &^ hosts, (*parser).label},
	{"at", allKinds, (*parser).at},
	{"max", loops, func(p *parser, op *Op) { op.Control.Limit = p.count() }},
	{"every", loops, func(p *parser, op *Op) { op.Control.Every = p.count() }},
}

var attributeWords = func() (words []string) {
	for _, a := range attributes {
		words = append(words, a.word)
	}
	return words
}()

var kindWords = func() (words []string) {
	for k := range numKinds {
		words = append(words, k.String())
	}
	return words
}()

// op reads an operation. One with a mistake keeps its place in the graph, so that the numbers of later
// operations stay right.
func (p *parser) op() {
	at := p.pos
	p.number(at, p.opID())
	p.opAt = append(p.opAt, at)
	p.g.Ops = append(p.g.Ops, Op{Cost: -1})
	op := &p.g.Ops[len(p.g.Ops)-1]
	p.expect('=')
	op.Kind = Kind(p.choose("an operation", kindWords))
	if p.failed {
		return
	}
	if op.Kind.isControl() {
		p.control(op)
		return
	}
	switch op.Kind {
	case KindLaunch:
		op.Launch = p.launches.one(p.target())
	case KindCopy:
		src := p.span()
		p.arrow()
		op.Copy = p.copies.one(Copy{Src: src, Dst: p.span()})
	case KindMemset:
		dst := p.span()
		op.Memset = p.memsets.one(Memset{Dst: dst, Value: p.scalar()})
	case KindHost:
		op.Label = p.quoted()
	case KindPrefetch:
		span := p.span()
		p.arrow()
		op.Prefetch = p.prefetches.one(Prefetch{Range: span, ToDevice: p.choose("device or host", sideWords) == deviceSide})
	}
	p.attributes(op)
}

// number checks that v is the id of the next operation. It reports the first wrong id only, since later ones
// are usually shifted by it.
func (p *parser) number(at int, v OpID) {
	next := OpID(len(p.g.Ops))
	if p.failed || p.misnum || v == next {
		return
	}
	p.misnum = true
	if v < next {
		first := errorAt("", p.src, p.opAt[v], "")
		p.fail(at, "%v is defined twice, first on line %d; the next operation is %v", v, first.Line, next)
		return
	}
	p.fail(at, "%v is out of turn: operations are numbered without gaps and the next is %v", v, next)
}

// attributes reads the clauses of op up to the end of the line.
func (p *parser) attributes(op *Op) {
	var seen uint16
	for {
		if c := p.peek(); c == '\n' || c == '}' || c == 0 || c == '{' && op.Kind.isControl() {
			break
		}
		at := p.pos
		i := p.choose("an attribute of an operation", attributeWords)
		if p.failed {
			return
		}
		a := &attributes[i]
		switch {
		case a.kinds&(1<<op.Kind) == 0:
			p.fail(at, "%s takes no %s: only %s", op.Kind, a.word, a.takers())
		case seen&(1<<i) != 0:
			p.fail(at, "%s is given twice", a.word)
		}
		seen |= 1 << i
		if p.failed {
			return
		}
		a.read(p, op)
	}
	const shape = 1<<0 | 1<<1 // grid and block
	if op.Kind == KindLaunch && seen&shape != shape {
		p.fail(p.pos, "a launch needs grid(...) and block(...)")
	}
	if op.Kind == KindLoop && op.Control.Limit == 0 {
		p.fail(p.pos, "a loop needs max(...), its number of iterations at most")
	}
}

// takers returns the kinds that may have the attribute, for an error.
func (a *attribute) takers() string {
	s := ""
	for k := range numKinds {
		if a.kinds&(1<<k) == 0 {
			continue
		}
		if s != "" {
			s += ", "
		}
		s += k.String()
	}
	return s + " may"
}

// target reads the module and entry of a launch: vec.square.
func (p *parser) target() Launch {
	p.skip()
	l := Launch{Module: ModuleID(p.refer(&p.modules, &nameByte))}
	if p.failed {
		return l
	}
	if p.pos >= len(p.src) || p.src[p.pos] != '.' {
		p.fail(p.pos, "expected a dot and the kernel's name, found %s", p.found())
		return l
	}
	p.pos++
	l.Entry = p.name("the kernel's name", &dottedBytes)
	return l
}

// dim reads (128, 2): one to three extents. Missing ones are 1.
func (p *parser) dim() Dim3 {
	d := Dim3{X: 1, Y: 1, Z: 1}
	p.skip()
	at, n := p.pos, 0
	p.list(func() {
		extent := uint32(p.natural(32))
		switch n {
		case 0:
			d.X = extent
		case 1:
			d.Y = extent
		case 2:
			d.Z = extent
		}
		n++
	})
	if n < 1 || n > 3 {
		p.fail(at, "expected one to three extents, found %d", n)
	}
	return d
}

// shared reads shared(1024), in bytes, behind the word as the other attributes.
func (p *parser) shared(op *Op) {
	p.open('(')
	op.Launch.Shared = uint32(p.natural(32))
	p.close(')')
}

// argList reads args(@x+128, $n, i32=5).
func (p *parser) argList(op *Op) {
	p.someArgs = p.someArgs[:0]
	p.list(func() { p.someArgs = append(p.someArgs, p.arg()) })
	op.Launch.Args = p.args.keep(p.someArgs)
}

// arg reads @x+128, $n or i32=5.
func (p *parser) arg() Arg {
	switch p.peek() {
	case '@':
		p.pos++
		a := Arg{Kind: ArgBuffer, Buffer: BufferID(p.refer(&p.buffers, &dottedBytes))}
		if c := p.peek(); c == '+' || c == '-' {
			if c == '+' {
				p.pos++
			}
			a.Offset = p.integer(64)
		}
		return a
	case '$':
		p.pos++
		return Arg{Kind: ArgParam, Param: ParamID(p.refer(&p.params, &dottedBytes))}
	}
	return Arg{Scalar: p.scalar()}
}

// mapList reads maps(1 of 4096 every 256 before 8 after 8): argument 1, of which 4096 bytes are declared.
func (p *parser) mapList(op *Op) {
	p.list(func() {
		m := Map{Arg: int(p.natural(31))}
		p.choose("the word of", ofWord)
		m.Size = p.integer(64)
		p.choose("the word every", everyWord)
		m.Step = p.integer(64)
		p.choose("the word before", beforeWord)
		m.Before = p.integer(64)
		p.choose("the word after", afterWord)
		m.After = p.integer(64)
		op.Launch.Maps = append(op.Launch.Maps, m)
	})
}

// useList reads uses(read @x[0:4096], write @y, read @a[0:62208, 256 every 4096]).
func (p *parser) useList(op *Op) {
	p.someUses = p.someUses[:0]
	p.list(func() {
		mode := Mode(p.choose("a mode of access", modeWords))
		a := Access{Mode: mode}
		a.Range, a.Shape = p.shapedSpan()
		p.someUses = append(p.someUses, a)
	})
	op.Uses = p.uses.keep(p.someUses)
}

// afterList reads after(%0, %1). References to later operations are checked by resolveForward.
func (p *parser) afterList(op *Op) {
	v := OpID(len(p.g.Ops) - 1)
	p.someIDs = p.someIDs[:0]
	p.list(func() {
		p.skip()
		at := p.pos
		u := p.opID()
		if u >= v && !p.failed {
			p.forward = append(p.forward, forwardRef{from: u, to: v, pos: at})
		}
		p.someIDs = append(p.someIDs, u)
	})
	op.After = p.ids.keep(p.someIDs)
}

// cost reads cost(1500ns).
func (p *parser) cost(op *Op) {
	p.open('(')
	op.Cost = p.duration()
	p.close(')')
}

// label reads label("name").
func (p *parser) label(op *Op) {
	p.open('(')
	op.Label = p.quoted()
	p.close(')')
}

// at reads the position of the call in the traced program: at("main.go":12).
func (p *parser) at(op *Op) {
	p.open('(')
	file := p.quoted()
	p.expect(':')
	op.Pos = p.positions.one(Position{file, int(p.integer(64))})
	p.close(')')
}
