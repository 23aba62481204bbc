package ir

import (
	"math"
	"slices"
)

// condition prints until @r below 1e-08 max(100) every(4) of a loop, and if @r below 1e-08 of a branch.
func (p *printer) condition(op *Op) {
	c := op.Control
	if op.Kind == KindLoop {
		p.text(" until ")
	} else {
		p.text(" if ")
	}
	p.span(c.Scalar)
	p.text(" " + c.Is.word() + " ")
	p.buf = Scalar{F64, math.Float64bits(c.Value)}.appendValue(p.buf)
	if op.Kind != KindLoop {
		return
	}
	p.text(" max(")
	p.int(c.Limit)
	p.text(")")
	if c.Every != 1 {
		p.text(" every(")
		p.int(c.Every)
		p.text(")")
	}
}

// word returns the comparison in the text form.
func (c Comparison) word() string {
	if i := slices.Index(comparisons, c); i >= 0 {
		return comparisonWords[i]
	}
	return "?" + c.String()
}

// bodies prints { ... } else { ... }, with the lines of the bodies indented.
func (p *printer) bodies(c *Control) {
	outer, pad := p.g, p.pad
	for i, body := range c.Bodies {
		if i > 0 {
			p.text(" else")
		}
		p.text(" {\n")
		if p.g, p.pad = body, pad+"  "; body != nil {
			p.operations()
		}
		p.g, p.pad = outer, pad
		p.text(pad + "  }")
	}
}
