package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/ir"
)

// Race is two operations that access the same bytes, and that the lowered program does not order.
type Race struct {
	First  string `json:"first"` // as in "square#2 at vec.go:41"; the one that program order runs first
	Second string `json:"second"`
	Later  int    `json:"later,omitempty"` // replays from the first to the second one
	Hazard string `json:"hazard"`          // "raw", "war", "waw", "after" or "overwritten"; see Check
	Buffer string `json:"buffer,omitempty"`
	Lo     int64  `json:"lo"` // the first bytes that both access, of the buffer
	Hi     int64  `json:"hi"`

	// Before lists the operations that run before the two in an execution in which these overlap, in order. It is nil
	// if the lowered program always runs the second one first.
	Before   []string `json:"before"`
	Reversed bool     `json:"reversed,omitempty"` // the lowered program always runs the second one first
}

// hazards are the verbs of the first and the second operation.
var hazards = map[ir.Hazard]struct{ name, first, second string }{
	ir.RAW: {"raw", "writes", "reads"}, ir.WAR: {"war", "reads", "writes"}, ir.WAW: {"waw", "writes", "writes"}, ir.Ordered: {"after", "", ""},
}

// overwritten is the hazard of an operation that reads a buffer behind a write of another one in the same memory.
const overwritten = "overwritten"

// maxBefore bounds the lines of an execution in String.
const maxBefore = 12

// String returns the race as lines of text.
func (r *Race) String() string {
	var b strings.Builder
	second := r.Second
	if r.Later > 0 {
		second += " of the next replay"
	}
	switch r.Hazard {
	case overwritten:
		return fmt.Sprintf("%s reads memory that %s has overwritten with @%s[%d:%d]\n", second, r.First, r.Buffer, r.Lo, r.Hi)
	case hazards[ir.Ordered].name:
		fmt.Fprintf(&b, "%s must run after %s, and nothing orders them\n", second, r.First)
	default:
		h := verbs(r.Hazard)
		fmt.Fprintf(&b, "%s %s @%s[%d:%d], which %s %s: nothing orders them\n", r.First, h.first, r.Buffer, r.Lo, r.Hi, second, h.second)
	}
	if r.Reversed {
		fmt.Fprintf(&b, "  the second always runs before the first\n")
		return b.String()
	}
	fmt.Fprintf(&b, "  an execution in which they overlap:\n")
	hidden := max(0, len(r.Before)-maxBefore)
	if hidden > 0 {
		fmt.Fprintf(&b, "    %d other operations\n", hidden)
	}
	for _, name := range r.Before[hidden:] {
		fmt.Fprintf(&b, "    %s\n", name)
	}
	fmt.Fprintf(&b, "    %s, and at the same time %s\n", r.First, second)
	return b.String()
}

func verbs(name string) struct{ name, first, second string } {
	for _, h := range hazards {
		if h.name == name {
			return h
		}
	}
	panic("BUG: hazard " + name)
}

// race returns the witness of a need that is not ordered if the program omits a wait.
func (l *loweredProgram) race(n need, without int32) Race {
	u, v := &l.ops[n.first], &l.ops[n.second]
	r := Race{First: u.Name, Second: v.Name, Later: n.later, Hazard: hazards[n.hazard].name}
	if at := n.bytes(); n.hazard != ir.Ordered {
		r.Buffer, r.Lo, r.Hi = v.Schedule.Graph.Buffers[at.Buffer].Name, at.Lo, at.Hi
	}
	i := slices.Index(l.rec.Ordered(n.pairs, without), false)
	p := n.pairs[i]
	if p.To < p.From && slices.Contains(l.rec.Before(without, p.From), p.To) {
		r.Reversed = true
		return r
	}
	r.Before = l.before(n, p, without)
	return r
}

// before returns the names of the operations that precede one of two steps, without their own.
func (l *loweredProgram) before(n need, p dense.Edge, without int32) []string {
	names := []string{}
	for _, step := range l.rec.Before(without, p.From, p.To) {
		w, ok := l.of[step]
		if !ok || l.holds(n.first, w, p.From) || l.holds(n.second, w, p.To) {
			continue
		}
		name := l.ops[w.op].Name
		if n.later > 0 {
			name += fmt.Sprintf(", replay %d", w.replay+1)
		}
		names = append(names, name)
	}
	return names
}

// holds reports whether w is the work of an operation that has the step.
func (l *loweredProgram) holds(op int, w work, step int32) bool {
	if w.op != op {
		return false
	}
	span := l.spans(l.ops[op].At[0])[w.replay]
	return span.First <= step && step <= span.Last
}
