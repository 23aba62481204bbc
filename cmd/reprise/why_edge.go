package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/reprise-gpu/reprise/internal/why"
)

func writeEdge(w io.Writer, e *why.Edge) {
	fmt.Fprintf(w, "%v -> %v\n", e.From, e.To)
	for _, c := range e.Conflicts {
		fmt.Fprintf(w, "  conflict\t%s\n", conflictText(&c))
	}
	if len(e.Conflicts) == 0 {
		fmt.Fprintln(w, "  conflict\tnone")
	}
	if e.Explicit {
		fmt.Fprintln(w, "  after\tthe program states this order")
	}
	fmt.Fprintf(w, "  dependency\t%s\n", kindText(e))
	fmt.Fprintf(w, "  plan\t%s\n", orderText(e))
	fmt.Fprintf(w, "  what if\t%s\n", whatIfText(e))
}

// conflictText describes the bytes on which two operations conflict.
func conflictText(c *why.Conflict) string {
	text := c.Hazard + " " + c.Range
	if c.Bytes > 0 {
		text += ", " + counted(int(c.Bytes), "byte")
	}
	return text + ": " + c.First + ", then " + c.Second
}

// kindText describes the dependency of an edge.
func kindText(e *why.Edge) string {
	others := strings.Join(e.Others, " -> ")
	switch {
	case e.Kind == why.Direct:
		return "needed: no other dependencies imply it"
	case e.Kind == why.Implied && e.Cause == nil:
		return "not recorded, because others imply it: " + others
	case e.Kind == why.Implied:
		return "removed by transitive reduction, because others imply it: " + others
	case e.Kind == why.Ordered:
		return "none between the two, but others order them: " + others
	}
	return "none: the two may overlap"
}

// orderText describes how the plan orders the two operations.
func orderText(e *why.Edge) string {
	steps := []string{e.From.Name}
	for _, s := range e.Path {
		steps = append(steps, fmt.Sprintf("%s (%s)", s.To, stepText(&s)))
	}
	way := strings.Join(steps, " -> ")
	switch e.By {
	case why.ByLane:
		return "one lane orders them: " + way
	case why.ByWait:
		return "a wait orders them: " + way
	case why.ByDelay:
		return "a wait that no dependency requires orders them: " + way
	case why.ByPath:
		return "other waits order them: " + way
	}
	return "it does not order them"
}

func stepText(s *why.Step) string {
	if s.By == why.ByLane {
		return fmt.Sprintf("lane %d", s.Lane)
	}
	return s.By
}

// whatIfText describes what the removal of the dependency would gain.
func whatIfText(e *why.Edge) string {
	switch x := e.WhatIf; {
	case e.Kind == why.None:
		return "there is no dependency to remove"
	case e.Kind != why.Direct:
		return "without it, nothing changes: the others remain"
	case x == nil:
		return "removal is not predicted inside a loop or a branch"
	default:
		change := "no difference"
		switch gain := x.Gain(); {
		case gain > 0:
			change = fmt.Sprintf("%.3f us less", gain)
		case gain < 0:
			change = fmt.Sprintf("%.3f us more", -gain)
		}
		return fmt.Sprintf("without this dependency, a plan is predicted to take %.3f us (%s), on %s with %s",
			x.Without, change, counted(x.Lanes, "lane"), counted(x.Waits, "wait"))
	}
}
