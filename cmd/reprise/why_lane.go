package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/reprise-gpu/reprise/internal/why"
)

func writeLane(w io.Writer, l *why.Lane) {
	fmt.Fprintf(w, "lane %d: %s\n", l.Lane, counted(len(l.Operations), "operation"))
	for i, o := range l.Operations {
		time := ""
		if o.Time != nil {
			time = fmt.Sprintf("%.3f us", o.Time.US)
		}
		reason := followsText(i, o.Behind)
		if len(o.Waits) > 0 {
			reason += "; waits for " + strings.Join(o.Waits, ", ")
		}
		fmt.Fprintf(w, "  %s\t%v\t%s\t%s\n", o.Number, o.Ref, time, reason)
	}
}

// followsText describes the edge from the operation before on the lane.
func followsText(i int, kind string) string {
	switch {
	case i == 0:
		return "first"
	case kind == why.Direct:
		return "depends on the one before"
	case kind == why.None:
		return "independent of the one before"
	}
	return "ordered after the one before by others"
}

func writeDecided(w io.Writer, s *why.Strategy) {
	fmt.Fprintf(w, "  waits\t%d for %d dependencies that no others imply; %s\n", s.Waits, s.Dependencies, delaysText(s.Delays))
	fmt.Fprintf(w, "  lanes\t%s\n", unrequiredText(s.Unrequired))
	fmt.Fprintf(w, "  time\t%.3f us; serial %.3f us, %.2f times as long; lower bound for graphs %.3f us\n", s.Predicted, s.Serial, s.Serial/s.Predicted, s.Bound)
	for i, lane := range s.Lanes {
		fmt.Fprintf(w, "  lane %d\t%s\n", i, laneText(lane))
	}
}

func delaysText(n int) string {
	if n == 0 {
		return "each is needed"
	}
	return counted(n, "delay") + ", which no dependency requires"
}

func unrequiredText(n int) string {
	switch n {
	case 0:
		return "only operations that dependencies order share a lane"
	case 1:
		return "1 operation follows one on which it does not depend"
	}
	return fmt.Sprintf("%d operations follow one on which they do not depend", n)
}

// maxOnLane is the largest number of operations of a lane that are listed.
const maxOnLane = 12

func laneText(ops []string) string {
	if more := len(ops) - maxOnLane; more > 0 {
		return strings.Join(ops[:maxOnLane], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(ops, ", ")
}
