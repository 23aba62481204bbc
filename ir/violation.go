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
}

func (v *Violation) Error() string { return v.Msg + " (rule " + v.Rule + ")" }

// Violations are what one verification found: at most ten, all of one rule
// where later rules would stumble over the same fault.
type Violations []*Violation

func (v Violations) Error() string {
	msgs := make([]string, len(v))
	for i, one := range v {
		msgs[i] = one.Error()
	}
	return strings.Join(msgs, "\n")
}

// Unwrap lets errors.As find the first *Violation.
func (v Violations) Unwrap() []error {
	errs := make([]error, len(v))
	for i, one := range v {
		errs[i] = one
	}
	return errs
}

// report collects the violations of one verification.
type report struct {
	rule  string // the one being checked
	found Violations
}

func (r *report) full() bool { return len(r.found) >= maxErrors }

func (r *report) add(v OpID, format string, args ...any) {
	if !r.full() {
		r.found = append(r.found, &Violation{r.rule, v, fmt.Sprintf(format, args...)})
	}
}

func (r *report) err() error {
	if len(r.found) == 0 {
		return nil
	}
	return r.found
}

// Load parses a file and verifies its graph and schedule. Errors have the
// place in the text, also those of the verifier, and are of type Errors.
func Load(name, src string) (*File, error) {
	f, p, err := parse(name, src)
	if err != nil {
		return nil, err
	}
	if err := Verify(f.Graph); err != nil {
		return nil, locate(name, src, p.opAt, err)
	}
	if f.Schedule == nil {
		return f, nil
	}
	if err := VerifySchedule(f.Schedule); err != nil {
		for v, at := range p.turnAt {
			if at < 0 {
				p.turnAt[v] = p.opAt[v]
			}
		}
		return nil, locate(name, src, p.turnAt, err)
	}
	return f, nil
}

// locate gives violations their places in the text.
func locate(name, src string, at []int, err error) error {
	var found Violations
	if !errors.As(err, &found) {
		return err
	}
	var all Errors
	for _, v := range found {
		if v.Op < 0 {
			all = append(all, &Error{File: name, Msg: v.Error()})
			continue
		}
		all = append(all, errorAt(name, src, at[v.Op], v.Error()))
	}
	return all
}
