package ir

import (
	"errors"
	"fmt"
	"strings"
)

// Violation is a rule of the verifier that a graph or a schedule breaks.
type Violation struct {
	Rule string // name of the rule
	Op   OpID   // the operation at fault, -1 when it is none
	Msg  string // what is wrong, where, and the remedy

	in inner // the operation at fault if that is in a body of Op
}

// inner is an operation of a body: of its graph, or of its schedule if that is at fault.
type inner struct {
	graph    *Graph
	schedule *Schedule
	op       OpID
}

func (v *Violation) Error() string { return v.Msg + " (rule " + v.Rule + ")" }

// violations are the result of one verification: at most ten, all of one rule if later rules would fail for the same fault.
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
	rule  string // the one being checked
	found violations
}

func (r *report) full() bool { return len(r.found) >= maxErrors }

func (r *report) add(v OpID, format string, args ...any) {
	if !r.full() {
		r.found = append(r.found, &Violation{Rule: r.rule, Op: v, Msg: fmt.Sprintf(format, args...)})
	}
}

// addInner adds what is wrong in a body of operation v, which about names.
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

// Load parses a file and verifies its graph and schedule. Errors have the
// place in the text, also those of the verifier; errors.As finds the first *Error.
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

// locate gives violations their places in the text.
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

// lineOf is the offset of the line at fault, -1 for none. at has those of the operations or turns of the graph.
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
