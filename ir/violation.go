package ir

import (
	"errors"
	"fmt"
	"strings"
)

// Violation reports a rule of the verifier that a graph or a schedule breaks.
type Violation struct {
	Rule string // name of the rule
	Op   OpID   // the operation at fault, -1 for none
	Msg  string // what is wrong, where, and the remedy

	in inner // the operation at fault if that is in a body of Op
}

// inner is an operation of a body. Exactly one of graph and schedule is set: the one at fault. Both are nil if
// the operation is in no body.
type inner struct {
	graph    *Graph
	schedule *Schedule
	op       OpID
}

func (v *Violation) Error() string { return v.Msg + " (rule " + v.Rule + ")" }

// violations is the result of one verification: at most maxErrors. They are of one rule if that rule is a
// gate, since later rules would fail for the same fault.
type violations []*Violation

func (v violations) Error() string {
	msgs := make([]string, len(v))
	for i, one := range v {
		msgs[i] = one.Error()
	}
	return strings.Join(msgs, "\n")
}

// Unwrap returns all violations: errors.As finds the first *Violation.
func (v violations) Unwrap() []error {
	errs := make([]error, len(v))
	for i, one := range v {
		errs[i] = one
	}
	return errs
}

// report collects the violations of one verification.
type report struct {
	rule  string // name of the rule being checked
	found violations
}

func (r *report) full() bool { return len(r.found) >= maxErrors }

func (r *report) add(v OpID, format string, args ...any) {
	if !r.full() {
		r.found = append(r.found, &Violation{Rule: r.rule, Op: v, Msg: fmt.Sprintf(format, args...)})
	}
}

// addInner adds the violations in err, of a body of operation v. about names v; graph or schedule is the body.
func (r *report) addInner(v OpID, about string, err error, graph *Graph, schedule *Schedule) {
	var found violations
	if !errors.As(err, &found) {
		r.add(v, "%s: %v", about, err)
		return
	}
	for _, one := range found {
		if r.full() {
			return
		}
		in := one.in
		if in.graph == nil && in.schedule == nil {
			in = inner{graph, schedule, one.Op}
		}
		r.found = append(r.found, &Violation{one.Rule, v, "in the body of " + about + ": " + one.Msg, in})
	}
}

func (r *report) err() error {
	if len(r.found) == 0 {
		return nil
	}
	return r.found
}

// Load parses a file and verifies its graph and schedule. Errors, also those of the verifier, have the line
// in the text; errors.As finds the first *Error.
func Load(name, src string) (*File, error) {
	f, p, err := parse(name, src)
	if err != nil {
		return nil, err
	}
	if err := Verify(f.Graph); err != nil {
		return nil, p.locate(name, src, p.opAt, err)
	}
	if f.Schedule == nil {
		return f, nil
	}
	if err := VerifySchedule(f.Schedule); err != nil {
		return nil, p.locate(name, src, p.turnAt, err)
	}
	return f, nil
}

// locate returns the violations in err as mistakes in the text. at is as for lineOf.
func (p *parser) locate(name, src string, at []int, err error) error {
	var found violations
	if !errors.As(err, &found) {
		return err
	}
	var all mistakes
	for _, v := range found {
		pos := p.lineOf(at, v)
		if pos < 0 {
			all = append(all, &Error{File: name, Msg: v.Error()})
			continue
		}
		all = append(all, errorAt(name, src, pos, v.Error()))
	}
	return all
}

// lineOf returns the offset of the line at fault, -1 for none. at has the offsets of the operations or turns
// of the graph.
func (p *parser) lineOf(at []int, v *Violation) int {
	if v.Op < 0 {
		return -1
	}
	pos := at[v.Op]
	inner := p.opsAt[v.in.graph]
	if v.in.schedule != nil {
		inner = p.turnsAt[v.in.schedule]
	}
	if v.in.op >= 0 && int(v.in.op) < len(inner) && inner[v.in.op] >= 0 {
		pos = inner[v.in.op]
	}
	if pos < 0 { // an operation without a turn
		pos = p.opAt[v.Op]
	}
	return pos
}
