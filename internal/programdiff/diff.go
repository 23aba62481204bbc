// Package programdiff compares two programs operation by operation, for the review of a change.
package programdiff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/internal/opname"
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
// label, so that an inserted operation moves no other. The schedules are compared if both programs have one.
func Of(before, after *ir.File) *Difference {
	d := &Difference{Removed: []string{}, Added: []string{}, Changed: []Change{}, Deps: Dependencies{[]string{}, []string{}}}
	code := codes{}
	a, b := side{g: before.Graph, s: before.Schedule, code: code}, side{g: after.Graph, s: after.Schedule, code: code}
	if a.s == nil || b.s == nil {
		a.s, b.s = nil, nil
	}
	d.declared(a.declarations(before.Contents), b.declarations(after.Contents))
	if what := d.operations(&a, &b); a.s != nil && len(what) > 0 {
		d.Changed = append(d.Changed, Change{"schedule", "schedule", what})
	}
	return d
}

// side is a program, or the body of a loop or a branch, with its schedule.
type side struct {
	g    *ir.Graph
	s    *ir.Schedule // nil if schedules are not compared
	path path
	code codes
}

// path is that of a body: "%1/" and "solve/".
type path struct{ number, label string }

// operations compares the operations and their dependencies. It returns what differs in the schedules as a whole.
func (d *Difference) operations(a, b *side) []string {
	to := match(keys(a.g), keys(b.g))
	from := slices.Repeat([]ir.OpID{-1}, b.g.Len())
	for u, v := range to {
		if v >= 0 {
			from[v] = ir.OpID(u)
		}
	}
	for u, v := range to {
		u := ir.OpID(u)
		if v < 0 {
			d.Removed = append(d.Removed, a.name(u))
			continue
		}
		what := changes(a.describe(u), b.describe(v))
		what = append(what, changes(a.planned(u, a.waits(u, func(w ir.OpID) string { return b.other(a, w, to[w]) })),
			b.planned(v, b.waits(v, b.name)))...)
		if len(what) > 0 {
			d.Changed = append(d.Changed, Change{a.name(u), b.name(v), what})
		}
		d.bodies(a, b, u, v)
	}
	for v, u := range from {
		if u < 0 {
			d.Added = append(d.Added, b.name(ir.OpID(v)))
		}
	}
	d.dependencies(a, b, to, from)
	return append(changes(a.wholly(), b.wholly()), orders(a, b, to, from)...)
}

// bodies compares the bodies of a loop or a branch in both programs.
func (d *Difference) bodies(a, b *side, u, v ir.OpID) {
	var n int
	for _, c := range []*ir.Control{a.g.Ops[u].Control, b.g.Ops[v].Control} {
		if c != nil {
			n = max(n, len(c.Bodies))
		}
	}
	for i := range n {
		x, y := a.body(u, i), b.body(v, i)
		if x.s == nil || y.s == nil {
			x.s, y.s = nil, nil
		}
		if what := d.operations(x, y); len(what) > 0 {
			d.Changed = append(d.Changed, Change{"schedule of " + a.name(u), "schedule of " + b.name(v), what})
		}
	}
}

// body returns body i of a loop or a branch. It is empty if there is none.
func (x *side) body(v ir.OpID, i int) *side {
	to := &side{g: &ir.Graph{}, code: x.code, path: path{opname.Path(x.path.number+v.String(), i), opname.Path(x.path.label+nameOnly(&x.g.Ops[v]), i)}}
	if c := x.g.Ops[v].Control; c != nil && i < len(c.Bodies) {
		to.g = c.Bodies[i]
		if x.s != nil && i < len(x.s.Bodies[v]) {
			to.s = x.s.Bodies[v][i]
		}
	}
	return to
}

// dependencies compares the dependencies between operations that are in both programs.
func (d *Difference) dependencies(a, b *side, to, from []ir.OpID) {
	type pair struct{ u, v ir.OpID }
	inA, inB := map[pair]bool{}, map[pair]bool{}
	for _, dep := range a.g.Deps() {
		if u, v := to[dep.From], to[dep.To]; u >= 0 && v >= 0 {
			inA[pair{u, v}] = true
		}
	}
	for _, dep := range b.g.Deps() {
		inB[pair{dep.From, dep.To}] = true
		if from[dep.From] >= 0 && from[dep.To] >= 0 && !inA[pair{dep.From, dep.To}] {
			d.Deps.Added = append(d.Deps.Added, b.name(dep.From)+" -> "+b.name(dep.To))
		}
	}
	for _, dep := range a.g.Deps() {
		if u, v := to[dep.From], to[dep.To]; u >= 0 && v >= 0 && !inB[pair{u, v}] {
			d.Deps.Removed = append(d.Deps.Removed, b.name(u)+" -> "+b.name(v))
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
func (x *side) describe(v ir.OpID) (all []property) {
	g, op := x.g, &x.g.Ops[v]
	if l := op.Launch; l != nil {
		args := make([]string, len(l.Args))
		for i, a := range l.Args {
			args[i] = argument(g, &a)
		}
		all = append(all, property{"kernel", l.Entry}, property{"code", x.code.of(g.Modules[l.Module].Source, l.Entry)}, property{"grid", l.Grid.String()}, property{"block", l.Block.String()},
			property{"shared memory", fmt.Sprint(l.Shared)}, property{"arguments", strings.Join(args, ", ")}, property{"bytes of blocks", maps(l)})
	}
	if op.Memset != nil {
		all = append(all, property{"value", op.Memset.Value.String()})
	}
	if p := op.Prefetch; p != nil {
		all = append(all, property{"to the device", fmt.Sprint(p.ToDevice)})
	}
	if c := op.Control; c != nil {
		scalar := fmt.Sprintf("@%s[%d:%d]", g.Buffers[c.Scalar.Buffer].Name, c.Scalar.Lo, c.Scalar.Hi)
		all = append(all, property{"condition", fmt.Sprintf("%s %v %v", scalar, c.Is, c.Value)}, property{"limit", fmt.Sprint(c.Limit)}, property{"every", fmt.Sprint(c.Every)})
	}
	if op.Cost >= 0 {
		all = append(all, property{"cost", fmt.Sprintf("%d ns", op.Cost)})
	} else {
		all = append(all, property{"cost", "none"})
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

// maps returns the declared bytes of the blocks of a launch.
func maps(l *ir.Launch) string {
	if len(l.Maps) == 0 {
		return "none"
	}
	return fmt.Sprintf("%+v", l.Maps)
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

// name returns the number of an operation, its label, and its line.
func (x *side) name(v ir.OpID) string {
	op := &x.g.Ops[v]
	text := x.path.number + v.String() + " " + x.path.label + nameOnly(op)
	if op.Pos == nil {
		return text
	}
	return fmt.Sprintf("%s at %v", text, op.Pos)
}

// other returns the name of operation w of the program a. It is that of the same operation of x, v, if there is one.
func (x *side) other(a *side, w, v ir.OpID) string {
	if v < 0 {
		return a.name(w)
	}
	return x.name(v)
}
