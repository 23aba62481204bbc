package ir

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/bufsize"
	"github.com/reprise-gpu/reprise/internal/parallel"
)

// rule is one requirement of a valid graph. check tests the whole graph, perOp a single operation; exactly
// one of them is set.
type rule struct {
	name  string
	since Phase // the first phase that must satisfy it
	gate  bool  // later rules rely on it, so verification stops if it is broken
	check func(*verifier)
	perOp func(*verifier, OpID, *Op)
}

// rules are checked in order, up to the phase of the graph. An init function sets them, because the rule
// about bodies calls Verify, which would make a declaration with a value refer to itself.
var rules []rule

func init() {
	rules = []rule{
		{name: "names", check: (*verifier).names},
		{name: "modules", check: (*verifier).moduleFiles},
		{name: "scalars", gate: true, check: (*verifier).params},
		{name: "buffers", gate: true, check: (*verifier).buffers},
		{name: "shapes", gate: true, check: (*verifier).shapes},
		{name: "payload", gate: true, perOp: (*verifier).payload},
		{name: "ids", gate: true, perOp: (*verifier).ids},
		{name: "ranges", gate: true, perOp: (*verifier).ranges},
		{name: "copy", perOp: (*verifier).copy},
		{name: "memset", perOp: (*verifier).memset},
		{name: "prefetch", perOp: (*verifier).prefetch},
		{name: "launch", perOp: (*verifier).launch},
		{name: "condition", gate: true, perOp: (*verifier).condition},
		{name: "bodies", gate: true, perOp: (*verifier).bodies},
		{name: "arguments", perOp: (*verifier).arguments},
		{name: "maps", gate: true, perOp: (*verifier).maps},
		{name: "constants", perOp: (*verifier).constants},
		{name: "after", gate: true, perOp: (*verifier).after},
		{name: "dependencies", gate: true, check: (*verifier).dependencies},
		{name: "hazards", since: Analyzed, check: (*verifier).hazards},
		{name: "reduced", since: Reduced, check: (*verifier).reduced},
	}
}

// Verify checks that g is a valid graph of its phase. A traced graph must be well formed: ids, ranges and
// operands within bounds, constants never written, after edges to earlier operations. The dependencies of an
// analyzed one must order every pair of operations that touch the same bytes, one of them writing, and every
// after edge. A reduced one must have no dependency that the others imply.
//
// errors.As finds the first *Violation. Verify takes about 200 bytes per operation beyond the graph, and the
// time of one sweep over the accesses (see sweep) and one search for paths (see dense.Preds.Implied).
func Verify(g *Graph) error {
	if g == nil {
		return absent.Nil("the graph")
	}
	v := &verifier{g: g}
	sound := sync.OnceValue(func() bool { return soundOps(g) }) // evaluated behind the gates about tables
	for _, r := range rules {
		if r.since > g.Phase || v.full() {
			break
		}
		if r.perOp != nil && sound() {
			continue
		}
		v.rule = r.name
		before := len(v.found)
		v.apply(&r)
		if r.gate && len(v.found) > before {
			break
		}
	}
	return v.err()
}

// soundOps reports whether every operation satisfies the rules about operations. It checks all of these rules
// on one block of operations after another, in parallel: rule by rule, a large graph would pass through the
// cache once for each. Only if it returns false, Verify checks rule by rule, to report which is broken.
func soundOps(g *Graph) bool {
	const block = 256 // operations: 35 kB
	var broken atomic.Bool
	parallel.Blocks(len(g.Ops), block, func(first, end int) {
		if !broken.Load() && !soundBlock(g, first, end) {
			broken.Store(true)
		}
	})
	return !broken.Load()
}

// soundBlock is soundOps for the operations [first, end).
func soundBlock(g *Graph, first, end int) bool {
	v := &verifier{g: g}
	for _, r := range rules {
		for id := first; id < end && r.perOp != nil; id++ {
			r.perOp(v, OpID(id), &g.Ops[id])
		}
		if len(v.found) > 0 {
			return false
		}
	}
	return true
}

// verifier checks one graph.
type verifier struct {
	report
	g       *Graph
	scratch [2]Access
}

// apply checks a rule on the whole graph.
func (v *verifier) apply(r *rule) {
	if r.perOp == nil {
		r.check(v)
		return
	}
	for id := range v.g.Ops {
		r.perOp(v, OpID(id), &v.g.Ops[id])
	}
}

// about names an operation: %3 launch square at main.go:12.
func (v *verifier) about(id OpID) string { return about(v.g, id) }

// about names operation id of g in a message.
func about(g *Graph, id OpID) string {
	op := &g.Ops[id]
	s := id.String() + " " + op.Kind.String()
	if op.Kind == KindLaunch && op.Launch != nil {
		s += " " + op.Launch.Entry
	}
	if op.Label != "" {
		s += fmt.Sprintf(" %q", op.Label)
	}
	if op.Pos != nil {
		s += fmt.Sprintf(" at %v", op.Pos)
	}
	return s
}

// rangeText returns a range in the text form.
func rangeText(g *Graph, r Range) string {
	p := printer{g: g}
	p.span(r)
	return string(p.buf)
}

// names are unique among modules, parameters and buffers each.
func (v *verifier) names() {
	unique(v, "module", "", v.g.Modules, func(m *Module) string { return m.Name })
	unique(v, "param", "$", v.g.Params, func(p *Param) string { return p.Name })
	unique(v, "buffer", "@", v.g.Buffers, func(b *Buffer) string { return b.Name })
}

// unique checks that the names of elems are distinct. what and sigil name the kind in a message.
func unique[T any](v *verifier, what, sigil string, elems []T, name func(*T) string) {
	first := make(map[string]int, len(elems))
	for i := range elems {
		n := name(&elems[i])
		if j, ok := first[n]; ok {
			v.add(-1, "%ss %d and %d are both named %s%s: rename one", what, j, i, sigil, n)
		}
		first[n] = i
	}
}

// moduleFiles: the sources of modules can be sections of one text file, which Parse separates again.
func (v *verifier) moduleFiles() {
	unique(v, "module file", "", v.g.Modules, func(m *Module) string { return m.File })
	if n := v.g.Generated; n < 0 || n > len(v.g.Modules) {
		v.add(-1, "%d of %d modules are generated: count the modules that passes have added at the end", n, len(v.g.Modules))
	}
	for i := range v.g.Modules {
		m := &v.g.Modules[i]
		if m.Source == "" {
			continue
		}
		if m.File == "" || strings.TrimSpace(m.File) != m.File || strings.ContainsAny(m.File, "\r\n") {
			v.add(-1, "module %s has the file name %q, which cannot head a section: use a plain name", m.Name, m.File)
		}
		if _, sections := cutSections(m.Source); len(sections) > 0 {
			v.add(-1, "the source of module %s holds the line -- %s --, which would start a section: change the comment", m.Name, sections[0].Name)
		}
	}
}

// params have known types.
func (v *verifier) params() {
	for i := range v.g.Params {
		p := &v.g.Params[i]
		if p.Value.Type >= numTypes {
			v.add(-1, "param $%s has the unknown type %v", p.Name, p.Value.Type)
		}
	}
}

// shapes are in canonical form, with strides and at most once. Equal accesses then have equal shapes.
func (v *verifier) shapes() {
	if len(v.g.Shapes) == 0 {
		return
	}
	first := make(map[Shape]int, len(v.g.Shapes))
	for i, s := range v.g.Shapes {
		j, again := first[s]
		switch {
		case again:
			v.add(-1, "shapes %d and %d are equal: keep one", j+1, i+1)
		case s.Contiguous() || !s.Valid():
			v.add(-1, "shape %d, %+v, is not in canonical form: runs and elements must be apart, and a stride needs a count of at least 2", i+1, s)
		}
		first[s] = i
	}
}

// buffers have sizes whose sum does not overflow, and known roles and places.
func (v *verifier) buffers() {
	var total bufsize.Total
	for i := range v.g.Buffers {
		b := &v.g.Buffers[i]
		if err := total.Add(b.Name, b.Elem, b.Len); err != nil {
			v.add(-1, "%v", err)
			break
		}
	}
	for i := range v.g.Buffers {
		b := &v.g.Buffers[i]
		if b.Role > Constant || b.Place.Kind > Managed || b.Place.Device < 0 {
			v.add(-1, "buffer @%s has the unknown role or place %v %v", b.Name, b.Role, b.Place)
		}
	}
}
