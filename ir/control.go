package ir

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/reprise-gpu/reprise/internal/absent"
)

// Comparison is a set of outcomes of comparing a scalar with a value.
type Comparison uint32

const (
	Below Comparison = 1 << iota
	Equal
	Above
	AtMost   = Below | Equal
	AtLeast  = Equal | Above
	NotEqual = Below | Above // false for NaN, unlike != in C
)

var comparisonNames = map[Comparison]string{
	Below: "below", Equal: "equal to", Above: "above", AtMost: "at most", AtLeast: "at least", NotEqual: "not equal to",
}

func (c Comparison) String() string {
	if name, ok := comparisonNames[c]; ok {
		return name
	}
	return fmt.Sprintf("comparison(%d)", uint32(c))
}

// valid reports whether c is one of the comparisons above.
func (c Comparison) valid() bool { return comparisonNames[c] != "" }

// Condition compares an element of a buffer with a value. It does not hold while the element is NaN.
type Condition struct {
	Scalar Range // one element, of f32, f64, i32 or u32, in device memory
	Is     Comparison
	Value  float64
}

// conditionTypes are the types of scalars that a condition may compare. Each fits a double, so that the device
// and the host compare the same numbers.
var conditionTypes = []Type{F32, F64, I32, U32}

// Check returns an error if a device cannot evaluate the condition in a program with the buffers of g. It
// wraps ErrMissing if g is nil.
func (c *Condition) Check(g *Graph) error {
	r := c.Scalar
	if g == nil {
		return absent.Nil("the graph")
	}
	if r.Buffer < 0 || int(r.Buffer) >= len(g.Buffers) {
		return fmt.Errorf("the graph has no buffer %d", r.Buffer)
	}
	b := &g.Buffers[r.Buffer]
	size := b.Elem.Size()
	switch {
	case size == 0 || r.Lo < 0 || r.Hi > b.Size() || r.Hi-r.Lo != size || r.Lo%size != 0:
		return fmt.Errorf("name the bytes of one element, of which each has %d", size)
	case !slices.Contains(conditionTypes, b.Elem):
		return fmt.Errorf("an element is %v: use f32, f64, i32 or u32", b.Elem)
	case b.Place.Kind != OnDevice:
		return errors.New("the buffer is in host or managed memory: use device memory, which the device can read without the host")
	case b.Role == Temporary:
		return errors.New("the buffer is temporary, so that nothing of it is left after the body: give it the role inout or output")
	case !c.Is.valid():
		return fmt.Errorf("%v is none of Below, AtMost, Equal, NotEqual, AtLeast and Above", c.Is)
	case math.IsNaN(c.Value):
		return errors.New("nothing compares to NaN: use a number; a scalar that is no number ends a loop anyway")
	}
	return nil
}

// Control is the condition and the bodies of a loop or a branch.
//
// A loop runs its body up to Limit times. After every Every iterations, and after the last, it evaluates the
// condition, and ends if that holds or the scalar is NaN. A branch runs its first body if the condition holds,
// else the second.
type Control struct {
	Condition
	Limit int64 // of a loop: the largest number of iterations, at least 1
	Every int64 // of a loop: iterations between two evaluations, at least 1

	// Bodies has one graph for a loop, one or two for a branch. A body has the modules, parameters, buffers and
	// shapes of the graph around it, and no Trace. Its operations have ids of their own, from 0.
	Bodies []*Graph
}

// ControlOp returns a loop or a branch without a cost. Its Uses are those of its bodies, and a read of the scalar.
func ControlOp(kind Kind, c Control) Op {
	return Op{Kind: kind, Control: &c, Uses: c.uses(), Cost: -1}
}

// isControl reports whether operations of the kind hold bodies.
func (k Kind) isControl() bool { return k == KindLoop || k == KindBranch }

// uses returns the union of the accesses of all bodies and of the evaluation, as disjoint ranges, ascending. A
// range that is both read and written, in any order, is ReadWrite. An access with strides counts as its whole range.
//
//	read         ├─────────────┤
//	write                 ├──────────┤
//	result       │ Read   │ RW │ Write│        one access for each part
//
// It is a sweep over the ends of all accesses, with counters of the reads and writes that cover the position.
func (c *Control) uses() []Access {
	ends := appendEnds(nil, Access{c.Scalar, Read, 0})
	for _, body := range c.Bodies {
		if body == nil {
			continue
		}
		var scratch [2]Access
		for v := range body.Ops {
			for _, a := range body.Ops[v].Accesses(&scratch) {
				ends = appendEnds(ends, a)
			}
		}
	}
	return sweepEnds(ends)
}

// end is the beginning or the end of an access, with the changes of the two counters at this offset.
type end struct {
	buffer        BufferID
	at            int64
	reads, writes int
}

// appendEnds appends both ends of an access. An empty one has none.
func appendEnds(ends []end, a Access) []end {
	if a.Empty() {
		return ends
	}
	reads, writes := 0, 0
	if a.Mode.Reads() {
		reads = 1
	}
	if a.Mode.Writes() {
		writes = 1
	}
	return append(ends, end{a.Buffer, a.Lo, reads, writes}, end{a.Buffer, a.Hi, -reads, -writes})
}

// sweepEnds walks the ends in order and returns maximal ranges of one mode. It takes O(n log n).
func sweepEnds(ends []end) (uses []Access) {
	slices.SortFunc(ends, func(a, b end) int { return cmp.Or(cmp.Compare(a.buffer, b.buffer), cmp.Compare(a.at, b.at)) })
	reads, writes := 0, 0
	for i, e := range ends {
		reads, writes = reads+e.reads, writes+e.writes
		if reads+writes == 0 || ends[i+1].at == e.at { // no access covers the bytes from here on, or there are none
			continue
		}
		a := Access{Range{e.buffer, e.at, ends[i+1].at}, accessMode(reads > 0, writes > 0), 0}
		if n := len(uses); n > 0 && uses[n-1].Mode == a.Mode && uses[n-1].Buffer == a.Buffer && uses[n-1].Hi == a.Lo {
			uses[n-1].Hi = a.Hi
			continue
		}
		uses = append(uses, a)
	}
	return uses
}

// accessMode returns the mode of a range that is read, written or both.
func accessMode(reads, writes bool) Mode {
	switch {
	case !writes:
		return Read
	case !reads:
		return Write
	}
	return ReadWrite
}

// share sets the tables of a body of one of g's operations, and of the bodies in it, to those of g.
func (g *Graph) share(body *Graph) {
	body.Name = g.Name
	body.Modules, body.Generated, body.Params, body.Buffers, body.Made, body.Shapes = g.Modules, g.Generated, g.Params, g.Buffers, g.Made, g.Shapes
	body.shareAll()
}

// shareAll sets the tables of all bodies in g to those of g.
func (g *Graph) shareAll() {
	for v := range g.Ops {
		if c := g.Ops[v].Control; c != nil {
			for _, body := range c.Bodies {
				g.share(body)
			}
		}
	}
}
