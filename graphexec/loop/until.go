package loop

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec/internal/parts"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/internal/until"
	"github.com/reprise-gpu/reprise/ir"
)

// Until is the condition that ends a loop: an element of a buffer compares to a value. It is evaluated after each
// iteration, so that a loop whose limit is not 0 has at least one. For a flag that kernels set it is NotEqual to 0.
type Until struct {
	Buffer ir.BufferID   // Buffer.ID of device memory of f32, f64, i32 or u32 that the body writes; 0 is the first buffer
	Index  int64         // of the element
	Is     ir.Comparison // required: Below, AtMost, Equal, NotEqual, AtLeast or Above
	Value  float64
}

// predicate is an Until on a device.
type predicate struct {
	Until
	until.Test
	at    device.Ptr
	bytes int64
	name  string // as in "@residual[0] below 1e-08"

	writers []bool // by operation, which may write the scalar
}

func newPredicate(s *ir.Schedule, trace traced.Program, u Until) (*predicate, error) {
	g := s.Graph
	if u.Buffer < 0 || int(u.Buffer) >= len(g.Buffers) {
		return nil, fmt.Errorf("until: the graph has no buffer %d", u.Buffer)
	}
	buf := &g.Buffers[u.Buffer]
	name := fmt.Sprintf("@%s[%d]", buf.Name, u.Index)
	if u.Index < 0 || u.Index >= buf.Len {
		return nil, fmt.Errorf("until %s: the buffer has %d elements", name, buf.Len)
	}
	p := &predicate{Until: u, Test: until.Test{Elem: buf.Elem, Is: u.Is, Value: u.Value}, bytes: buf.Elem.Size(), name: fmt.Sprintf("%s %v %g", name, u.Is, u.Value)}
	c := ir.Condition{Scalar: p.span(), Is: u.Is, Value: u.Value}
	if err := c.Check(g); err != nil {
		return nil, fmt.Errorf("until %s: %w", name, err)
	}
	p.writers = parts.Writers(g, p.span())
	if err := p.written(func(ir.OpID) bool { return false }); err != nil {
		return nil, err
	}
	p.at = trace.Pointer(u.Buffer) + device.Ptr(u.Index*p.bytes)
	return p, nil
}

// written is the error of a body in which nothing writes the scalar, with some operations off.
func (p *predicate) written(off func(ir.OpID) bool) error {
	for v, writes := range p.writers {
		if writes && !off(ir.OpID(v)) {
			return nil
		}
	}
	return fmt.Errorf("until %s: no operation of the body writes it, so that the loop would not end by it", p.name)
}

func (p *predicate) span() ir.Range {
	return ir.Range{Buffer: p.Buffer, Lo: p.Index * p.bytes, Hi: (p.Index + 1) * p.bytes}
}
