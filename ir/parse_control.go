package ir

import "math"

// maxNesting is the greatest nesting depth of bodies in a text. It bounds the recursion of the parser.
const maxNesting = 16

// control reads a loop or a branch behind its kind:
//
//	until @r below 1e-08 max(100) every(4) { ... }
//	if @r below 1e-08 { ... } else { ... }
func (p *parser) control(op *Op) {
	op.Control = &Control{}
	if op.Kind == KindLoop {
		op.Control.Every = 1
		p.choose("until, the condition that ends the loop", []string{"until"})
	} else {
		p.choose("if, the condition of the first body", []string{"if"})
	}
	op.Control.Condition = p.condition()
	p.attributes(op)
	p.bodies(op)
	if len(p.errs) == 0 {
		op.Uses = op.Control.uses()
	}
}

// condition reads @r[0:4] below 0.5.
func (p *parser) condition() Condition {
	c := Condition{Scalar: p.span()}
	c.Is = comparisons[p.choose("a comparison", comparisonWords)]
	c.Value = math.Float64frombits(p.value(F64).Bits)
	return c
}

// count reads (100), a number of iterations.
func (p *parser) count() int64 {
	p.open('(')
	p.skip()
	at := p.pos
	n := int64(p.natural(63))
	if n == 0 {
		p.fail(at, "a number of iterations is at least 1")
	}
	p.close(')')
	return n
}

// bodies reads the blocks of a loop or a branch. It does so after a mistake in the header, too, so that the
// lines of the body are not taken for lines of the graph.
func (p *parser) bodies(op *Op) {
	op.Control.Bodies = append(op.Control.Bodies, p.body())
	if c := p.peek(); op.Kind == KindBranch && c != '\n' && c != '}' && c != 0 {
		p.choose("else, or the end of the line", []string{"else"})
		op.Control.Bodies = append(op.Control.Bodies, p.body())
	}
}

// scope is the state of the parser that belongs to one graph. body saves it while it reads a nested graph.
type scope struct {
	g       *Graph
	opAt    []int
	forward []forwardRef
	misnum  bool
	deps    []Dep
	causes  Causes
}

// body reads the operations and dependencies of a body.
func (p *parser) body() *Graph {
	if p.nested == maxNesting {
		p.fail(p.pos, "bodies are nested more than %d deep", maxNesting)
	}
	outer := scope{p.g, p.opAt, p.forward, p.misnum, p.deps, p.causes}
	body := &Graph{}
	p.g.share(body)
	p.g, p.opAt, p.forward, p.misnum, p.deps, p.causes = body, nil, nil, false, nil, Causes{}
	p.nested++
	p.block(p.bodyStatement)
	p.finish()
	p.nested--
	if p.opsAt == nil {
		p.opsAt = map[*Graph][]int{}
	}
	p.opsAt[body] = p.opAt
	p.g, p.opAt, p.forward, p.misnum, p.deps, p.causes = outer.g, outer.opAt, outer.forward, outer.misnum, outer.deps, outer.causes
	return body
}

// bodyStatement reads an operation or the deps block of a body, which has no declarations.
func (p *parser) bodyStatement() {
	if p.peek() == '%' {
		p.op()
		return
	}
	p.choose("a statement of a body", []string{"deps"})
	if !p.failed {
		p.depsBlock()
	}
}

// scheduledBody reads the schedule of the next body of operation v of s.
func (p *parser) scheduledBody(s *Schedule, v OpID) {
	c, n := p.g.Ops[v].Control, len(s.Bodies[v])
	if c == nil || n == len(c.Bodies) {
		p.fail(p.pos, "%v has no further body to schedule: it has %d", v, n)
		return
	}
	g, turnAt := p.g, p.turnAt
	p.g = c.Bodies[n]
	inner := p.newSchedule()
	p.scheduleHeader(inner)
	p.block(func() { p.scheduleStatement(inner) })
	if p.turnsAt == nil {
		p.turnsAt = map[*Schedule][]int{}
	}
	p.turnsAt[inner] = p.turnAt
	p.g, p.turnAt = g, turnAt
	if s.Bodies == nil {
		s.Bodies = map[OpID][]*Schedule{}
	}
	s.Bodies[v] = append(s.Bodies[v], inner)
}
