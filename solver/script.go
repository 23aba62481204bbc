package solver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// script records the launches of a method's function. The first call is a rehearsal in every mode: its operations are
// checked and nothing is launched. Each later call must launch the same, because a replay does so in any case.
type script struct {
	phase     phase
	operation operation // the operation of System in progress; empty for launches by methods of this package
	launches  []launch  // of the rehearsal
	next      int       // index in launches
	written   []ir.Range
	ended     int    // iterations ended in the rehearsal
	fields    fields // of System, when Trace returned
}

// fields holds the exported fields of System that must not change after Trace: issued operations depend on them.
type fields struct {
	n, period  int
	x, running Vector
}

// period returns the number of iterations per call.
func (p *script) period() int { return max(1, p.fields.period) }

func (s *System) fields() fields { return fields{s.N, s.Period, s.X, s.Running} }

// changed returns the name of a field of System that the method changed after Trace, or "".
func (s *System) changed() string {
	was, is := s.script.fields, s.fields()
	switch {
	case s.N != s.p.a.Rows:
		return "System.N"
	case s.script.phase == allocating:
		return ""
	case is.period != was.period:
		return "System.Period"
	case is.x != was.x:
		return "System.X"
	case is.running != was.running:
		return "System.Running"
	}
	return ""
}

// steady sets an error if the fields have changed.
func (s *System) steady() {
	if field := s.changed(); field != "" {
		s.refuse("", field+" has been changed", "set System.X, System.Running and System.Period in Trace alone, and leave System.N")
	}
}

// phase is the stage of a method's set-up.
type phase uint8

const (
	allocating phase = iota // in Method.Trace
	rehearsing
	issuing
)

// operation is an operation of System with its operands.
type operation struct {
	name     string
	operands []operand
}

// String returns the operation as errors show it.
func (o operation) String() string {
	var names []string
	for _, v := range o.operands {
		names = append(names, v.String())
	}
	return fmt.Sprintf("%s(%s)", o.name, strings.Join(names, ", "))
}

// launch is the launch of a kernel with its arguments.
type launch struct {
	operation operation // the operation that it is part of, if any
	kernel    string
	shape     tracer.Shape
	args      []any
}

func (l *launch) equal(m *launch) bool {
	return l.kernel == m.kernel && l.shape == m.shape && slices.Equal(l.args, m.args)
}

// String returns the operation or, without one, the kernel and its buffers.
func (l *launch) String() string {
	if l.operation.name != "" {
		return l.operation.String()
	}
	o := operation{name: l.kernel}
	for _, arg := range l.args {
		if b, ok := arg.(Vector); ok {
			o.operands = append(o.operands, operand{Vector: b})
		}
	}
	return o.String()
}

// refuse sets the error for a method that breaks the rules, unless there is an error already.
func (s *System) refuse(operation, reason, remedy string) {
	if s.failed() == nil {
		s.err = &MethodError{Method: s.method, Operation: operation, Reason: reason, Remedy: remedy}
	}
}

// failed returns the first error of the tracer, or that of the method.
func (s *System) failed() error {
	if err := s.t.Err(); err != nil {
		return err
	}
	return s.err
}

const sameEachTime = "issue the same operations in each call, and set System.Period where several iterations make up a period"

// rehearse makes the first call of the function that Method.Trace returned. It launches nothing: every operation is checked
// and noted, so that a mistake in a method is reported before any work, with the operation and the remedy.
func (s *System) rehearse(iterate func()) error {
	switch {
	case s.failed() != nil:
		return s.failed()
	case s.changed() != "":
		s.steady()
		return s.failed()
	case iterate == nil:
		s.refuse("", "Trace returns nil", "return the function that issues one iteration")
		return s.failed()
	case !s.keeps(s.X, s.N):
		s.refuse("", "System.X is not a vector that the method keeps", "leave it, or put what System.Vector returns in its place")
		return s.failed()
	case !s.keeps(s.Running, 1):
		s.refuse("", "System.Running is not a scalar that the method keeps", "leave it, or put what System.Scalar returns in its place")
		return s.failed()
	}
	s.script.phase, s.script.fields = rehearsing, s.fields()
	iterate()
	s.script.phase = issuing
	s.steady()
	if period := s.script.period(); s.script.ended != period {
		s.refuse("", fmt.Sprintf("a call of the function that Trace returns ends %d iterations, not %d", s.script.ended, period),
			"end each iteration with System.Check, and set System.Period to how many a call issues")
	}
	return s.failed()
}

// keeps reports whether v belongs to this System, is kept between iterations and has n elements.
func (s *System) keeps(v Vector, n int) bool {
	return traced.Owns(s.t, v) && kept(v) && v.Len() == int64(n)
}

// issue makes a later call of the function.
func (s *System) issue(iterate func()) error {
	s.script.next = 0
	iterate()
	s.steady()
	if left := s.script.launches[s.script.next:]; len(left) > 0 {
		s.refuse(left[0].String(), "the first call of the function that Trace returns issued it, and a later one does not", sameEachTime)
	}
	return s.failed()
}

// issues reports whether a launch goes to the device. In the rehearsal the launch is recorded.
func (s *System) issues(l launch) bool {
	p := &s.script
	s.steady()
	switch {
	case s.failed() != nil:
		return false
	case p.phase == allocating:
		s.refuse(l.String(), "it is issued by Trace", "issue it in the function that Trace returns, which is called for each iteration")
		return false
	case p.phase == rehearsing:
		p.launches = append(p.launches, l)
		if slices.Contains(l.args, any(s.history)) {
			p.ended++
		}
		return false
	case p.next == len(p.launches) || !p.launches[p.next].equal(&l):
		s.refuse(l.String(), "the first call of the function that Trace returns did not issue it there", sameEachTime)
		return false
	}
	p.next++
	return true
}

// allocates reports whether an allocation is possible. It sets an error if the allocation comes too late.
func (s *System) allocates(how, name string) bool {
	s.steady()
	if s.script.phase != allocating {
		s.refuse(fmt.Sprintf("%s(%q)", how, name), "the function that Trace returns allocates it, again in each call", "allocate in Trace")
	}
	return s.failed() == nil
}

// operand is a vector or a scalar of an operation, with its number of elements and its kind of access.
type operand struct {
	Vector
	elements int64
	mode     ir.Mode
}

// String returns the name of the buffer.
func (o operand) String() string {
	if o.Vector == (Vector{}) {
		return "a zero Vector"
	}
	return "@" + o.Declaration().Name
}

func (s *System) vectorOf(v Vector, mode ir.Mode) operand { return operand{v, int64(s.N), mode} }

func scalarOf(v Vector, mode ir.Mode) operand { return operand{v, 1, mode} }

// begin starts an operation and reports whether it may be issued. In the rehearsal it checks the operands.
func (s *System) begin(name string, operands ...operand) bool {
	s.steady()
	if s.failed() != nil {
		return false
	}
	s.script.operation = operation{name, operands}
	if s.script.phase != rehearsing {
		return true
	}
	reason, remedy := s.wrong(name, operands)
	if reason != "" {
		s.refuse(s.script.operation.String(), reason, remedy)
	}
	return reason == ""
}

// end ends an operation.
func (s *System) end() { s.script.operation = operation{} }

// wrong returns what is wrong with the operands of an operation, if anything, and the remedy.
func (s *System) wrong(name string, operands []operand) (reason, remedy string) {
	for i, o := range operands {
		if o.Vector == (Vector{}) {
			return fmt.Sprintf("operand %d is a zero Vector", i+1), "allocate it in Trace, with a method of System"
		}
		if !traced.Owns(s.t, o.Vector) {
			return fmt.Sprintf("operand %d, %v, is of another System", i+1, o), "allocate it in Trace, with a method of the System that Trace is passed"
		}
		if n := o.Len(); n != o.elements {
			return fmt.Sprintf("%v has %d elements, not %d", o, n, o.elements), "pass a vector of System.N elements, or a scalar of one, as the operation takes"
		}
		if o.mode.Reads() && !kept(o.Vector) && !covered(o.Range(), s.script.written) {
			return fmt.Sprintf("temporary %v is read before the iteration has written it", o),
				"write it first, or allocate it with System.Vector or System.Scalar, which keep it from one iteration to the next"
		}
	}
	out := operands[len(operands)-1]
	if !out.mode.Writes() {
		return "", ""
	}
	for _, o := range operands[:len(operands)-1] {
		if same := o.Range() == out.Range(); o.Range().Overlaps(out.Range()) && (!same || name == "SpMV") {
			return fmt.Sprintf("it writes %v while it reads it", out), "use other memory for the result"
		}
	}
	s.script.written = append(s.script.written, out.Range())
	return "", ""
}

// covered reports whether every byte of r is in one of the ranges.
func covered(r ir.Range, ranges []ir.Range) bool {
	for i := 0; i < len(ranges) && !r.Empty(); i++ {
		if w := ranges[i]; w.Buffer == r.Buffer && w.Lo <= r.Lo && r.Lo < w.Hi {
			r.Lo, i = w.Hi, -1
		}
	}
	return r.Empty()
}
