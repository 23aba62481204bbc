package ir

import (
	"slices"
	"strconv"
)

// Print returns the text of g, without the PTX of its modules. If g is valid, Parse returns an equal graph
// from it. An id outside its table prints with a question mark: @?7.
func Print(g *Graph) string {
	if g == nil {
		return ""
	}
	p := printer{g: g}
	p.graph()
	return string(p.buf)
}

// printer appends the text form of a graph to buf. Its methods print one construct each, in the syntax that
// the method of parser for it reads. They accept invalid graphs, since errors of Verify print parts of them.
type printer struct {
	g   *Graph // the graph or body being printed
	buf []byte
	pad string // indentation of lines in bodies, in addition to that of the graph
}

func (p *printer) text(s string) { p.buf = append(p.buf, s...) }
func (p *printer) int(i int64)   { p.buf = strconv.AppendInt(p.buf, i, 10) }
func (p *printer) name(s string) { p.buf = appendName(p.buf, s, true) }
func (p *printer) quote(s string) {
	p.buf = strconv.AppendQuote(p.buf, s)
}

func (p *printer) graph() {
	// An estimate of the size: growth by doubling would copy a large text several times.
	p.buf = slices.Grow(p.buf, 1<<10+128*len(p.g.Ops)+32*len(p.g.Deps()))
	p.text("graph ")
	p.name(p.g.Name)
	p.text(" {\n")
	p.declarations()
	p.operations()
	p.text("}\n")
}

// operations prints the operations and dependencies of a graph or a body.
func (p *printer) operations() {
	for v := range p.g.Ops {
		p.text(p.pad)
		p.text("  ")
		p.op(OpID(v))
		p.text("\n")
	}
	p.deps()
}

func (p *printer) declarations() {
	for i := range p.g.Modules {
		m := &p.g.Modules[i]
		p.text("  module ")
		p.buf = appendName(p.buf, m.Name, false)
		p.text(" ")
		p.quote(m.File)
		p.text("\n")
	}
	for i := range p.g.Params {
		d := &p.g.Params[i]
		p.text("  param ")
		p.param(ParamID(i))
		p.text(" " + d.Value.Type.String() + " = ")
		p.buf = d.Value.appendValue(p.buf)
		p.text("\n")
	}
	for i := range p.g.Buffers {
		p.bufferDecl(BufferID(i))
	}
}

func (p *printer) bufferDecl(id BufferID) {
	b := &p.g.Buffers[id]
	p.text("  buffer ")
	p.buffer(id)
	p.text(" " + b.Elem.String() + "[")
	p.int(b.Len)
	p.text("] " + b.Place.String() + " " + b.Role.String() + "\n")
}

func (p *printer) op(v OpID) {
	op := &p.g.Ops[v]
	p.id(v)
	p.text(" = ")
	p.text(op.Kind.String())
	switch {
	case op.Kind == KindLaunch && op.Launch != nil:
		p.launch(op.Launch)
	case op.Kind == KindCopy && op.Copy != nil:
		p.text(" ")
		p.span(op.Copy.Src)
		p.text(" -> ")
		p.span(op.Copy.Dst)
	case op.Kind == KindMemset && op.Memset != nil:
		p.text(" ")
		p.span(op.Memset.Dst)
		p.text(" ")
		p.scalar(op.Memset.Value)
	case op.Kind == KindHost:
		p.text(" ")
		p.quote(op.Label)
	case op.Kind == KindPrefetch && op.Prefetch != nil:
		p.text(" ")
		p.span(op.Prefetch.Range)
		p.text(" -> " + op.Prefetch.side())
	}
	if op.Kind.isControl() && op.Control != nil {
		p.condition(op)
	}
	p.attributes(op)
	if op.Kind.isControl() && op.Control != nil {
		p.bodies(op.Control)
	}
}

// attributes prints the clauses that any kind of operation may have, in canonical order.
func (p *printer) attributes(op *Op) {
	if len(op.Uses) > 0 && !op.Kind.isControl() {
		p.text(" uses")
		list(p, op.Uses, p.access)
	}
	if len(op.After) > 0 {
		p.text(" after")
		list(p, op.After, p.id)
	}
	if op.Cost >= 0 {
		p.text(" cost(")
		p.int(op.Cost)
		p.text("ns)")
	}
	if op.Label != "" && op.Kind != KindHost {
		p.text(" label(")
		p.quote(op.Label)
		p.text(")")
	}
	if op.Pos != nil {
		p.text(" at(")
		p.quote(op.Pos.File)
		p.text(":")
		p.int(int64(op.Pos.Line))
		p.text(")")
	}
}

func (p *printer) launch(l *Launch) {
	p.text(" ")
	p.module(l.Module)
	p.text(".")
	p.name(l.Entry)
	p.text(" grid")
	p.dim(l.Grid)
	p.text(" block")
	p.dim(l.Block)
	if l.Shared != 0 {
		p.text(" shared(")
		p.int(int64(l.Shared))
		p.text(")")
	}
	if len(l.Args) > 0 {
		p.text(" args")
		list(p, l.Args, p.arg)
	}
	if len(l.Maps) > 0 {
		p.text(" maps")
		list(p, l.Maps, p.mapping)
	}
}

// mapping prints the declared bytes of an argument.
func (p *printer) mapping(m Map) {
	p.int(int64(m.Arg))
	p.text(" of ")
	p.int(m.Size)
	p.text(" every ")
	p.int(m.Step)
	p.text(" before ")
	p.int(m.Before)
	p.text(" after ")
	p.int(m.After)
}

// dim prints the extents, without trailing extents of 1.
func (p *printer) dim(d Dim3) {
	p.text("(")
	p.int(int64(d.X))
	if d.Y != 1 || d.Z != 1 {
		p.text(", ")
		p.int(int64(d.Y))
	}
	if d.Z != 1 {
		p.text(", ")
		p.int(int64(d.Z))
	}
	p.text(")")
}

func (p *printer) arg(a Arg) {
	switch a.Kind {
	case ArgParam:
		p.param(a.Param)
	case ArgBuffer:
		p.buffer(a.Buffer)
		if a.Offset > 0 {
			p.text("+")
		}
		if a.Offset != 0 {
			p.int(a.Offset)
		}
	default:
		p.scalar(a.Scalar)
	}
}

func (p *printer) scalar(s Scalar) { p.buf = s.appendText(p.buf) }

func (p *printer) access(a Access) {
	p.text(a.Mode.String())
	p.text(" ")
	if a.Shape == 0 {
		p.span(a.Range)
		return
	}
	p.buffer(a.Buffer)
	p.text("[")
	p.int(a.Lo)
	p.text(":")
	p.int(a.Hi)
	p.text(", ")
	p.shape(a.Shape)
	p.text("]")
}

// shape prints the strides of an access. The number of elements at the last stride follows from its range.
func (p *printer) shape(id ShapeID) {
	if int(id) > len(p.g.Shapes) {
		p.text("?")
		p.int(int64(id))
		return
	}
	s := p.g.Shapes[id-1]
	p.int(s.Run)
	p.text(" every ")
	p.int(s.Stride[0])
	if s.Count[1] > 0 {
		p.text(" times ")
		p.int(s.Count[0])
		p.text(" every ")
		p.int(s.Stride[1])
	}
}

// span prints a range: the name alone for the whole buffer.
func (p *printer) span(r Range) {
	p.buffer(r.Buffer)
	if int(r.Buffer) < len(p.g.Buffers) && r.Buffer >= 0 && r.Lo == 0 && r.Hi == p.g.Buffers[r.Buffer].Size() {
		return
	}
	p.text("[")
	p.int(r.Lo)
	p.text(":")
	p.int(r.Hi)
	p.text("]")
}

func (p *printer) deps() {
	if p.g.Phase == Traced {
		return
	}
	p.text(p.pad)
	p.text("  deps ")
	if p.g.Phase == Reduced {
		p.text("reduced ")
	}
	p.text("{\n")
	for _, d := range p.g.Deps() {
		p.text(p.pad)
		p.text("    ")
		p.dep(d)
		p.text("\n")
	}
	p.text(p.pad)
	p.text("  }\n")
}

func (p *printer) dep(d Dep) {
	p.id(d.From)
	p.text(" -> ")
	p.id(d.To)
	p.text(" ")
	p.reason(d)
}

// reason prints the hazards of a dependency and the bytes that cause it.
func (p *printer) reason(d Dep) {
	p.text(d.Hazard.String())
	if d.Cause != 0 {
		p.text(" ")
		p.span(p.g.Cause(d))
	}
}

func (p *printer) id(v OpID) {
	p.text("%")
	p.int(int64(v))
}

func (p *printer) buffer(id BufferID) {
	p.text("@")
	if id < 0 || int(id) >= len(p.g.Buffers) {
		p.text("?")
		p.int(int64(id))
		return
	}
	p.name(p.g.Buffers[id].Name)
}

func (p *printer) param(id ParamID) {
	p.text("$")
	if id < 0 || int(id) >= len(p.g.Params) {
		p.text("?")
		p.int(int64(id))
		return
	}
	p.name(p.g.Params[id].Name)
}

func (p *printer) module(id ModuleID) {
	if id < 0 || int(id) >= len(p.g.Modules) {
		p.text("?")
		p.int(int64(id))
		return
	}
	p.buf = appendName(p.buf, p.g.Modules[id].Name, false)
}

// list prints elements in parentheses, separated by commas. one prints an element.
func list[T any](p *printer, elems []T, one func(T)) {
	for i, e := range elems {
		if i == 0 {
			p.text("(")
		} else {
			p.text(", ")
		}
		one(e)
	}
	p.text(")")
}
