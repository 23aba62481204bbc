// Package programdiff compares two programs operation by operation, for the review of a change.
package programdiff

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/ir"
)

// Difference is what changed from one program to another.
type Difference struct {
	Removed []string     `json:"removed"` // as in "%3 square at vec.go:41", "buffer @x" or "param $alpha"
	Added   []string     `json:"added"`
	Changed []Change     `json:"changed"`
	Deps    Dependencies `json:"dependencies"`
}

// Change is an operation, a parameter or a buffer that is in both programs and differs.
type Change struct {
	Before string   `json:"before"`
	After  string   `json:"after"`
	What   []string `json:"what"` // as in "grid (64,1,1) -> (128,1,1)"
}

// Dependencies are those between operations that are in both programs, by their names in the second one.
type Dependencies struct {
	Removed []string `json:"removed"`
	Added   []string `json:"added"`
}

// Equal reports whether nothing changed.
func (d *Difference) Equal() bool {
	return len(d.Removed)+len(d.Added)+len(d.Changed)+len(d.Deps.Removed)+len(d.Deps.Added) == 0
}

// Of compares two programs, whose graphs have been analyzed. Parameters and buffers are matched by their names.
// Operations are matched by a longest common subsequence of their labels, or of their kernels and kinds where they have no
// label, so that an inserted operation moves no other.
func Of(before, after *ir.File) *Difference {
	d := &Difference{Removed: []string{}, Added: []string{}, Changed: []Change{}, Deps: Dependencies{[]string{}, []string{}}}
	d.declared(declarations(before), declarations(after))
	a, b := before.Graph, after.Graph
	keysA, keysB := keys(a), keys(b)
	to := match(keysA, keysB)
	from := slices.Repeat([]ir.OpID{-1}, b.Len())
	for u, v := range to {
		if v < 0 {
			d.Removed = append(d.Removed, name(a, ir.OpID(u)))
			continue
		}
		from[v] = ir.OpID(u)
		if what := changes(describe(a, ir.OpID(u)), describe(b, v)); len(what) > 0 {
			d.Changed = append(d.Changed, Change{name(a, ir.OpID(u)), name(b, v), what})
		}
	}
	for v, u := range from {
		if u < 0 {
			d.Added = append(d.Added, name(b, ir.OpID(v)))
		}
	}
	d.dependencies(a, b, to, from)
	return d
}

// dependencies compares the dependencies between operations that are in both programs.
func (d *Difference) dependencies(a, b *ir.Graph, to, from []ir.OpID) {
	type pair struct{ u, v ir.OpID }
	inA, inB := map[pair]bool{}, map[pair]bool{}
	for _, dep := range a.Deps() {
		if u, v := to[dep.From], to[dep.To]; u >= 0 && v >= 0 {
			inA[pair{u, v}] = true
		}
	}
	for _, dep := range b.Deps() {
		inB[pair{dep.From, dep.To}] = true
		if from[dep.From] >= 0 && from[dep.To] >= 0 && !inA[pair{dep.From, dep.To}] {
			d.Deps.Added = append(d.Deps.Added, name(b, dep.From)+" -> "+name(b, dep.To))
		}
	}
	for _, dep := range a.Deps() {
		if u, v := to[dep.From], to[dep.To]; u >= 0 && v >= 0 && !inB[pair{u, v}] {
			d.Deps.Removed = append(d.Deps.Removed, name(b, u)+" -> "+name(b, v))
		}
	}
}

// keys returns what identifies the operations for the match.
func keys(g *ir.Graph) []string {
	all := make([]string, g.Len())
	for v := range g.Ops {
		all[v] = g.Ops[v].Kind.String() + " " + nameOnly(&g.Ops[v])
	}
	return all
}

// maxTable bounds the table of the longest common subsequence, in entries.
const maxTable = 1 << 26

// match returns, by operation of the first program, that of the second one, or -1. Equal beginnings and ends are matched
// at once; between them it is the longest common subsequence by dynamic programming, or position by position if that
// table would be too large.
func match(a, b []string) []ir.OpID {
	to := slices.Repeat([]ir.OpID{-1}, len(a))
	lo := 0
	for lo < len(a) && lo < len(b) && a[lo] == b[lo] {
		to[lo] = ir.OpID(lo)
		lo++
	}
	endA, endB := len(a), len(b)
	for endA > lo && endB > lo && a[endA-1] == b[endB-1] {
		endA, endB = endA-1, endB-1
		to[endA] = ir.OpID(endB)
	}
	n, m := endA-lo, endB-lo
	if n*m > maxTable {
		for i := range min(n, m) {
			if a[lo+i] == b[lo+i] {
				to[lo+i] = ir.OpID(lo + i)
			}
		}
		return to
	}
	longest := make([][]int32, n+1) // from i and j to the ends
	for i := range longest {
		longest[i] = make([]int32, m+1)
	}
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			if a[lo+i] == b[lo+j] {
				longest[i][j] = longest[i+1][j+1] + 1
			}
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case a[lo+i] == b[lo+j]:
			to[lo+i] = ir.OpID(lo + j)
			i, j = i+1, j+1
		case longest[i+1][j] >= longest[i][j+1]:
			i++
		default:
			j++
		}
	}
	return to
}

// property is one aspect of an operation, as text.
type property struct{ what, is string }

// describe returns the properties that a review compares.
func describe(g *ir.Graph, v ir.OpID) (all []property) {
	op := &g.Ops[v]
	if l := op.Launch; l != nil {
		args := make([]string, len(l.Args))
		for i, a := range l.Args {
			args[i] = argument(g, &a)
		}
		all = append(all, property{"kernel", l.Entry}, property{"code", codeOf(g, l.Module)}, property{"grid", l.Grid.String()}, property{"block", l.Block.String()},
			property{"shared memory", fmt.Sprint(l.Shared)}, property{"arguments", strings.Join(args, ", ")})
	}
	if op.Memset != nil {
		all = append(all, property{"value", op.Memset.Value.String()})
	}
	if c := op.Control; c != nil {
		all = append(all, property{"condition", fmt.Sprintf("%v %v", c.Is, c.Value)}, property{"limit", fmt.Sprint(c.Limit)}, property{"bodies", bodiesOf(c)})
	}
	var scratch [2]ir.Access
	var uses []string
	for _, a := range op.Accesses(&scratch) {
		use := fmt.Sprintf("%s @%s[%d:%d]", modes[a.Mode], g.Buffers[a.Buffer].Name, a.Lo, a.Hi)
		if a.Shape != 0 {
			use += " in " + g.Box(a).Shape.String()
		}
		uses = append(uses, use)
	}
	return append(all, property{"accesses", strings.Join(uses, ", ")})
}

// bodiesOf returns a short hash of the operations in the bodies of a loop or a branch.
func bodiesOf(c *ir.Control) string {
	h := fnv.New64a()
	for _, body := range c.Bodies {
		for v := range body.Ops {
			fmt.Fprintln(h, nameOnly(&body.Ops[v]), describe(body, ir.OpID(v)))
		}
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

var modes = map[ir.Mode]string{ir.Read: "read", ir.Write: "write", ir.ReadWrite: "readwrite", ir.Reduce: "reduce"}

func argument(g *ir.Graph, a *ir.Arg) string {
	switch a.Kind {
	case ir.ArgBuffer:
		return fmt.Sprintf("@%s+%d", g.Buffers[a.Buffer].Name, a.Offset)
	case ir.ArgParam:
		return "$" + g.Params[a.Param].Name
	}
	return a.Scalar.String()
}

// codeOf returns a short hash of the PTX of a module.
func codeOf(g *ir.Graph, m ir.ModuleID) string {
	h := fnv.New64a()
	h.Write([]byte(g.Modules[m].Source))
	return fmt.Sprintf("%016x", h.Sum64())
}

// changes returns the properties that differ. Operations of one kind have the same ones.
func changes(a, b []property) (what []string) {
	for i := range a {
		if a[i].is != b[i].is {
			what = append(what, fmt.Sprintf("%s %s -> %s", a[i].what, a[i].is, b[i].is))
		}
	}
	return what
}

// nameOnly returns the label of an operation, or its kernel or kind.
func nameOnly(op *ir.Op) string {
	switch {
	case op.Label != "":
		return op.Label
	case op.Kind == ir.KindLaunch:
		return op.Launch.Entry
	}
	return op.Kind.String()
}

func name(g *ir.Graph, v ir.OpID) string {
	op := &g.Ops[v]
	if op.Pos == nil {
		return fmt.Sprintf("%v %s", v, nameOnly(op))
	}
	return fmt.Sprintf("%v %s at %v", v, nameOnly(op), op.Pos)
}
