package ir

import "strings"

// depsBlock reads deps { ... } or deps reduced { ... }. A graph with a block is Analyzed, or Reduced.
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
		d.Cause = p.causes.ID(p.span())
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
		p.failed = true // the wrong number above has been reported
	}
	p.fail(at, "there is no operation %v: the graph has %d", v, len(p.g.Ops))
	return v
}

// opID reads %2.
func (p *parser) opID() OpID {
	if p.peek() != '%' {
		p.fail(p.pos, "expected an operation such as %%0, found %s", p.found())
		return 0
	}
	p.pos++
	return OpID(p.natural(31))
}
