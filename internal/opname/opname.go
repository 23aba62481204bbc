// Package opname names the operations of a graph for people.
//
// The base of a name is the label of the operation. Without a label, it is the kernel of a launch; the kind and the buffer
// that is written of a copy, a fill or a prefetch, as in "copy:x"; and the kind of any other operation. If several operations
// of the recorded program have the same base, each gets its number among them: "axpy#1", "axpy#2". So names are unique, and
// an operation keeps its name in every plan of the program.
//
// A plan may contain several parts of one recorded operation, and launches that stand for several:
//
//	axpy#2@3                    the third copy of axpy#2, as after unrolling
//	axpy, blocks 8 to 15 of 64  a slice of a launch
//	axpy#1+axpy#2               a merged launch
package opname

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/reprise-gpu/reprise/ir"
)

// Names are the names of the operations of a graph, or of one body.
type Names struct {
	g     *ir.Graph
	names []string // by operation
	of    []string // of the recorded program; nil if the operations are those
}

// Of returns the names of all operations of g, without those of its bodies. It takes O(operations).
func Of(g *ir.Graph) *Names {
	n := &Names{g: g}
	if len(g.Recorded) == 0 {
		n.names = recorded(g, g.Ops)
		return n
	}
	n.of = recorded(g, g.Recorded)
	n.names = make([]string, g.Len())
	count := map[string]int{}
	for v := range n.names {
		n.names[v] = planned(g, ir.OpID(v), n.of)
		count[n.names[v]]++
	}
	copies := map[string]int{}
	for v, name := range n.names {
		if count[name] > 1 {
			copies[name]++
			n.names[v] = name + "@" + strconv.Itoa(copies[name])
		}
	}
	return n
}

// Of returns the name of operation v.
func (n *Names) Of(v ir.OpID) string { return n.names[v] }

// Recorded returns the name of an operation of the recorded program.
func (n *Names) Recorded(id ir.OpID) string {
	if n.of == nil {
		return n.names[id]
	}
	return n.of[id]
}

// Is reports whether text is the name of operation v; or, in the recorded program, the name or the number, as in "%3", of
// the operation from which v was made, or of a part of a merged launch.
func (n *Names) Is(v ir.OpID, text string) bool {
	if text == n.names[v] || n.was(origin(n.g, v), text) {
		return true
	}
	for _, p := range n.g.Merged[v] {
		if n.was(p.Op, text) {
			return true
		}
	}
	return false
}

// was reports whether text is the name or the number of operation id of the recorded program.
func (n *Names) was(id ir.OpID, text string) bool {
	return text == id.String() || n.of != nil && text == n.of[id]
}

// Like reports whether text is what several operations may share: the label or the kernel of operation v.
func (n *Names) Like(v ir.OpID, text string) bool {
	op := &n.g.Ops[v]
	return text == base(n.g, op) || text == op.Label && text != "" || op.Kind == ir.KindLaunch && text == op.Launch.Entry
}

func origin(g *ir.Graph, v ir.OpID) ir.OpID {
	if g.Origin == nil {
		return v
	}
	return g.Origin[v]
}

// base returns the name of an operation without its number.
func base(g *ir.Graph, op *ir.Op) string {
	switch {
	case op.Label != "":
		return printable(op.Label)
	case op.Kind == ir.KindLaunch:
		return op.Launch.Entry
	case op.Kind == ir.KindCopy:
		return "copy:" + g.Buffers[op.Copy.Dst.Buffer].Name
	case op.Kind == ir.KindMemset:
		return "memset:" + g.Buffers[op.Memset.Dst.Buffer].Name
	case op.Kind == ir.KindPrefetch:
		return "prefetch:" + g.Buffers[op.Prefetch.Range.Buffer].Name
	}
	return op.Kind.String()
}

// printable returns a label with escapes, as in Go, for characters that would control a terminal or end a line.
func printable(label string) string {
	if strings.IndexFunc(label, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return label
	}
	quoted := strconv.Quote(label)
	return quoted[1 : len(quoted)-1]
}

// recorded returns the names of the operations of a recorded program. Numbers whose name is the base of other operations,
// such as a label "axpy#2", are left out.
func recorded(g *ir.Graph, ops []ir.Op) []string {
	names := make([]string, len(ops))
	count := map[string]int{}
	for v := range ops {
		names[v] = base(g, &ops[v])
		count[names[v]]++
	}
	next := map[string]int{}
	for v, name := range names {
		if count[name] == 1 {
			continue
		}
		for {
			next[name]++
			if names[v] = name + "#" + strconv.Itoa(next[name]); count[names[v]] == 0 {
				break
			}
		}
	}
	return names
}

// maxParts is the largest number of parts that the name of a merged launch lists.
const maxParts = 4

// planned returns the name of an operation of a plan. of has the names of the recorded operations.
func planned(g *ir.Graph, v ir.OpID, of []string) string {
	name := of[g.Origin[v]]
	if parts := g.Merged[v]; len(parts) > 0 {
		var list []string
		for _, p := range parts {
			list = append(list, of[p.Op])
		}
		if more := len(list) - maxParts; more > 1 {
			list = append(list[:maxParts], fmt.Sprintf("%d more", more))
		}
		name = strings.Join(list, "+")
	}
	if s, ok := g.Sliced[v]; ok && g.Ops[v].Kind == ir.KindLaunch {
		name += fmt.Sprintf(", blocks %d to %d of %d", s.First, s.First+s.Blocks-1, s.Of)
	} else if ok {
		name += fmt.Sprintf(", part %d of %d", s.First+1, s.Of)
	}
	return name
}
