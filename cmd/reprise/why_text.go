package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/reprise-gpu/reprise/internal/why"
)

// write prints an answer.
func (a *answer) write(w io.Writer) error {
	strategy := a.Asked
	if a.Strategy != a.Asked {
		strategy += " (" + a.Strategy + ")"
	}
	fmt.Fprintf(w, "%s with %s/%s on %s: %s, %s, predicted %.3f us\n%s: %s\n\n", a.Program, strategy, a.Backend, a.Device,
		counted(a.Lanes, "lane"), counted(a.Waits, "wait"), a.Predicted, a.Strategy, a.Rule)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	switch {
	case a.Operation != nil:
		writeOperation(t, a.Operation)
	case a.Edge != nil:
		writeEdge(t, a.Edge)
	case a.Lane != nil:
		writeLane(t, a.Lane)
	default:
		writeDecided(t, a.Decided)
	}
	return t.Flush()
}

func writeOperation(w io.Writer, o *why.Operation) {
	fmt.Fprintln(w, o.Ref)
	what := o.Kind
	if o.Kernel != "" {
		what += fmt.Sprintf(" of %s, grid %s, block %s", o.Kernel, o.Grid, o.Block)
	}
	fmt.Fprintf(w, "  operation\t%s %s\n", o.Number, what)
	writeList(w, "reads", o.Reads)
	writeList(w, "writes", o.Writes)
	if o.Time != nil {
		fmt.Fprintf(w, "  time\t%s alone on the device\n", timeText(o.Time))
	}
	fmt.Fprintf(w, "  lane\t%d, %s\n", o.Lane, besideText(o))
	writeWaitsOf(w, o)
	writeNeeds(w, "depends on", o.Needs)
	if o.Implied > 0 {
		fmt.Fprintf(w, "  \tand on %d more, which these imply\n", o.Implied)
	}
	writeNeeds(w, "needed by", o.Needed)
}

func writeList(w io.Writer, what string, items []string) {
	if len(items) > 0 {
		fmt.Fprintf(w, "  %s\t%s\n", what, strings.Join(items, ", "))
	}
}

// writeWaitsOf prints the waits of an operation, and which dependencies require them if that is not evident.
func writeWaitsOf(w io.Writer, o *why.Operation) {
	what := "waits"
	for _, wait := range o.Waits {
		fmt.Fprintf(w, "  %s\tfor %s%s\n", what, wait.On, keepText(o, &wait))
		what = ""
	}
}

func keepText(o *why.Operation, wait *why.Wait) string {
	switch n := len(wait.Keep); {
	case n == 0:
		return ", which no dependency requires"
	case n == 1 && wait.Keep[0] == [2]string{wait.On, o.Name}:
		return ""
	}
	var keep []string
	for _, d := range wait.Keep {
		keep = append(keep, d[0]+" -> "+d[1])
	}
	return ", which keeps " + strings.Join(keep, ", ")
}

func timeText(t *why.Time) string {
	if t.Bound == "declared" {
		return fmt.Sprintf("%.3f us as declared,", t.US)
	}
	return fmt.Sprintf("%.3f us, limited by %s,", t.US, t.Bound)
}

// besideText describes the neighbours of an operation on its lane.
func besideText(o *why.Operation) string {
	text := "first"
	if o.Before != nil {
		text = "behind " + o.Before.Name + ", " + dependsText(o.Before.Depends)
	}
	if o.Behind != nil {
		return text + "; before " + o.Behind.Name
	}
	return text + "; last"
}

// dependsText describes the edge from the operation before on the lane.
func dependsText(kind string) string {
	switch kind {
	case why.Direct:
		return "on which it depends, so no wait is needed"
	case why.None:
		return "on which it does not depend: only the lane orders the two"
	}
	return "which other dependencies order before it"
}

func writeNeeds(w io.Writer, what string, needs []why.Need) {
	if len(needs) == 0 {
		fmt.Fprintf(w, "  %s\tnothing\n", what)
	}
	for _, n := range needs {
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\n", what, n.Ref, causeText(&n.Cause), byText(n.By))
		what = ""
	}
}

func causeText(c *why.Cause) string {
	if c.Range == "" {
		return c.Hazard
	}
	return fmt.Sprintf("%s %s, %s", c.Hazard, c.Range, counted(int(c.Bytes), "byte"))
}

func byText(by string) string {
	switch by {
	case why.ByPath:
		return "by other waits"
	case why.ByNone:
		return "not ordered"
	case why.ByLane:
		return "by the lane"
	}
	return "by a " + by
}
