package ir

import (
	"fmt"
	"math"
	"strings"
)

// rule is one demand on a graph.
type rule struct {
	name  string
	since Phase // the first phase that must satisfy it
	gate  bool  // later rules rely on it: stop when it is broken
	check func(*verifier)
}

// rules are walked in order, up to those of the graph's phase.
var rules = []rule{
	{"names", Traced, false, (*verifier).names},
	{"modules", Traced, false, (*verifier).moduleFiles},
	{"scalars", Traced, true, (*verifier).params},
	{"buffers", Traced, true, (*verifier).buffers},
	{"payload", Traced, true, perOp((*verifier).payload)},
	{"ids", Traced, true, perOp((*verifier).ids)},
	{"ranges", Traced, true, perOp((*verifier).ranges)},
	{"copy", Traced, false, perOp((*verifier).copy)},
	{"memset", Traced, false, perOp((*verifier).memset)},
	{"launch", Traced, false, perOp((*verifier).launch)},
	{"arguments", Traced, false, perOp((*verifier).arguments)},
	{"constants", Traced, false, perOp((*verifier).constants)},
	{"after", Traced, true, perOp((*verifier).after)},
	{"dependencies", Traced, true, (*verifier).dependencies},
	{"hazards", Analyzed, false, (*verifier).hazards},
	{"reduced", Reduced, false, (*verifier).reduced},
}

// Verify checks that g is a valid graph of its phase. A traced graph must be
// well formed: ids, ranges and operands within bounds, constants never
// written, after edges backwards. An analyzed one must order every pair of
// operations that touch the same bytes, one of them writing, and every after
// edge. A reduced one must have no dependency that others imply.
//
// The error is of type Violations. Verify never fails a graph it cannot
// check: it needs some 200 bytes per operation beyond the graph, and time for
// one sweep over the accesses and one search for paths (see implied).
func Verify(g *Graph) error {
	v := &verifier{g: g}
	for _, r := range rules {
		if r.since > g.Phase || v.full() {
			break
		}
		v.rule = r.name
		before := len(v.found)
		r.check(v)
		if r.gate && len(v.found) > before {
			break
		}
	}
	return v.err()
}

type verifier struct {
	report
	g        *Graph
	accesses []Access
}

// perOp makes a rule of a check on one operation.
func perOp(check func(*verifier, OpID, *Op)) func(*verifier) {
	return func(v *verifier) {
		for id := range v.g.Ops {
			check(v, OpID(id), &v.g.Ops[id])
		}
	}
}

// about names an operation: %3 launch square at main.go:12.
func (v *verifier) about(id OpID) string { return about(v.g, id) }

func about(g *Graph, id OpID) string {
	op := &g.Ops[id]
	s := id.String() + " " + op.Kind.String()
	if op.Kind == KindLaunch && op.Launch != nil {
		s += " " + op.Launch.Entry
	}
	if op.Label != "" {
		s += fmt.Sprintf(" %q", op.Label)
	}
	if !op.Pos.IsZero() {
		s += fmt.Sprintf(" at %s:%d", op.Pos.File, op.Pos.Line)
	}
	return s
}

// bytes names a range as the text form does.
func bytes(g *Graph, r Range) string {
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

// moduleFiles can be sections of one text file.
func (v *verifier) moduleFiles() {
	unique(v, "module file", "", v.g.Modules, func(m *Module) string { return m.File })
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

func (v *verifier) params() {
	for i := range v.g.Params {
		p := &v.g.Params[i]
		if p.Value.Type >= numTypes {
			v.add(-1, "param $%s has the unknown type %v", p.Name, p.Value.Type)
		}
	}
}

func (v *verifier) buffers() {
	for i := range v.g.Buffers {
		b := &v.g.Buffers[i]
		switch {
		case b.Elem >= numTypes:
			v.add(-1, "buffer @%s has elements of the unknown type %v", b.Name, b.Elem)
		case b.Len < 0:
			v.add(-1, "buffer @%s has %d elements: the number cannot be negative", b.Name, b.Len)
		case b.Len > math.MaxInt64/b.Elem.Size():
			v.add(-1, "buffer @%s has %d elements of %d bytes: the size overflows 63 bits", b.Name, b.Len, b.Elem.Size())
		case b.Role > Constant || b.Place.Kind > PageableHost || b.Place.Device < 0:
			v.add(-1, "buffer @%s has the unknown role or place %v %v", b.Name, b.Role, b.Place)
		}
	}
}

// payload: exactly what the kind calls for is set.
func (v *verifier) payload(id OpID, op *Op) {
	switch {
	case op.Kind >= numKinds:
		v.add(id, "%v has the unknown kind %v", id, op.Kind)
	case (op.Kind == KindLaunch) != (op.Launch != nil),
		(op.Kind == KindCopy) != (op.Copy != nil),
		(op.Kind == KindMemset) != (op.Memset != nil):
		v.add(id, "%v %v needs exactly the operands of its kind: set the field that Kind names and no other", id, op.Kind)
	case len(op.Uses) > 0 && op.Kind != KindLaunch && op.Kind != KindHost:
		v.add(id, "%s declares uses: those of a %v follow from its operands", v.about(id), op.Kind)
	}
}

// ids name something.
func (v *verifier) ids(id OpID, op *Op) {
	v.accesses = op.AppendAccesses(v.accesses[:0])
	for _, a := range v.accesses {
		v.bufferID(id, a.Buffer)
		if a.Mode > Reduce {
			v.add(id, "%s uses a buffer in the unknown mode %v", v.about(id), a.Mode)
		}
	}
	if op.Kind != KindLaunch {
		return
	}
	if m := op.Launch.Module; m < 0 || int(m) >= len(v.g.Modules) {
		v.add(id, "%s names module %d of %d: add the module to the graph", v.about(id), m, len(v.g.Modules))
	}
	for _, a := range op.Launch.Args {
		switch {
		case a.Kind == ArgBuffer:
			v.bufferID(id, a.Buffer)
		case a.Kind == ArgParam && (a.Param < 0 || int(a.Param) >= len(v.g.Params)):
			v.add(id, "%s names param %d of %d: add the param to the graph", v.about(id), a.Param, len(v.g.Params))
		case a.Kind > ArgParam || a.Kind == ArgScalar && a.Scalar.Type >= numTypes:
			v.add(id, "%s has an argument of unknown kind or type", v.about(id))
		}
	}
}

func (v *verifier) bufferID(id OpID, b BufferID) {
	if b < 0 || int(b) >= len(v.g.Buffers) {
		v.add(id, "%s names buffer %d of %d: add the buffer to the graph", v.about(id), b, len(v.g.Buffers))
	}
}

// ranges lie inside their buffers.
func (v *verifier) ranges(id OpID, op *Op) {
	v.accesses = op.AppendAccesses(v.accesses[:0])
	for _, a := range v.accesses {
		v.inside(a.Range, func(why string) { v.add(id, "%s touches %s: %s", v.about(id), bytes(v.g, a.Range), why) })
	}
}

// inside complains about a range that does not lie in its buffer.
func (v *verifier) inside(r Range, complain func(string)) {
	switch size := v.g.Buffers[r.Buffer].Size(); {
	case r.Lo < 0:
		complain("the range starts before the buffer")
	case r.Hi < r.Lo:
		complain("the range ends before it starts")
	case r.Hi > size:
		complain(fmt.Sprintf("the buffer has %d bytes", size))
	}
}

// copy: ranges of equal size that share no byte.
func (v *verifier) copy(id OpID, op *Op) {
	if op.Kind != KindCopy {
		return
	}
	src, dst := op.Copy.Src, op.Copy.Dst
	if n, m := src.Hi-src.Lo, dst.Hi-dst.Lo; n != m {
		v.add(id, "%s moves %d bytes of %s onto the %d of %s: make the ranges equal", v.about(id), n, bytes(v.g, src), m, bytes(v.g, dst))
	}
	if both := src.Intersect(dst); src.Overlaps(dst) {
		v.add(id, "%s reads and writes %s: copy through another buffer", v.about(id), bytes(v.g, both))
	}
}

// memset: a pattern of 1, 2 or 4 bytes that fits a whole number of times.
func (v *verifier) memset(id OpID, op *Op) {
	if op.Kind != KindMemset {
		return
	}
	m := op.Memset
	if m.Value.Type >= numTypes || m.Value.Type.Size() > 4 {
		v.add(id, "%s fills with a pattern of type %v: use one of 1, 2 or 4 bytes", v.about(id), m.Value.Type)
		return
	}
	if n, w := m.Dst.Hi-m.Dst.Lo, m.Value.Type.Size(); n%w != 0 || m.Dst.Lo%w != 0 {
		v.add(id, "%s fills %s with a pattern of %d bytes: make start and size multiples of %d, or use u8",
			v.about(id), bytes(v.g, m.Dst), w, w)
	}
}

// maxBlock is the largest block of every device since Fermi, in threads.
const maxBlock = 1024

func (v *verifier) launch(id OpID, op *Op) {
	if op.Kind != KindLaunch {
		return
	}
	l := op.Launch
	if l.Entry == "" {
		v.add(id, "%s names no kernel", v.about(id))
	}
	for _, d := range []struct {
		what string
		dim  Dim3
	}{{"grid", l.Grid}, {"block", l.Block}} {
		if d.dim.X == 0 || d.dim.Y == 0 || d.dim.Z == 0 {
			v.add(id, "%s has a %s of %d x %d x %d: every extent must be at least 1", v.about(id), d.what, d.dim.X, d.dim.Y, d.dim.Z)
		}
	}
	if b := l.Block; uint64(b.X) > maxBlock || uint64(b.X)*uint64(b.Y) > maxBlock || b.Count() > maxBlock {
		v.add(id, "%s has blocks of %d x %d x %d threads: a block holds at most %d", v.about(id), b.X, b.Y, b.Z, maxBlock)
	}
}

// arguments that are addresses point into their buffers or just behind them.
func (v *verifier) arguments(id OpID, op *Op) {
	if op.Kind != KindLaunch {
		return
	}
	for i, a := range op.Launch.Args {
		if a.Kind != ArgBuffer {
			continue
		}
		if b := &v.g.Buffers[a.Buffer]; a.Offset < 0 || a.Offset > b.Size() {
			v.add(id, "%s passes @%s%+d as argument %d, but the buffer has %d bytes", v.about(id), b.Name, a.Offset, i, b.Size())
		}
	}
}

// constants are never written.
func (v *verifier) constants(id OpID, op *Op) {
	v.accesses = op.AppendAccesses(v.accesses[:0])
	for _, a := range v.accesses {
		if a.Mode.Writes() && !a.Empty() && v.g.Buffers[a.Buffer].Role == Constant {
			v.add(id, "%s writes %s, which is constant: give the buffer another role", v.about(id), bytes(v.g, a.Range))
		}
	}
}

// after edges name earlier operations.
func (v *verifier) after(id OpID, op *Op) {
	for _, u := range op.After {
		switch {
		case u < 0 || int(u) >= len(v.g.Ops):
			v.add(id, "%s is after %v, but the graph has %d operations", v.about(id), u, len(v.g.Ops))
		case u >= id:
			v.add(id, "%s is after %v, which is not earlier in program order: list it first", v.about(id), u)
		}
	}
}

// dependencies are absent in a traced graph; in others each has a reason, and
// the bytes behind it are some of its buffer's.
func (v *verifier) dependencies() {
	if v.g.Phase == Traced {
		if n := len(v.g.Deps()); n > 0 {
			v.add(-1, "a traced graph has no dependencies, this one has %d: give it a later phase", n)
		}
		return
	}
	if v.g.Phase > Reduced {
		v.add(-1, "the graph is in the unknown phase %v", v.g.Phase)
		return
	}
	for _, d := range v.g.Deps() {
		v.dependency(d)
	}
}

func (v *verifier) dependency(d Dep) {
	if d.Hazard == 0 || d.Hazard >= 1<<len(hazardWords) {
		v.add(d.To, "dependency %v -> %v has no known reason: name raw, war, waw or after", d.From, d.To)
	}
	if d.Cause.Empty() {
		return
	}
	if b := d.Cause.Buffer; b < 0 || int(b) >= len(v.g.Buffers) {
		v.add(d.To, "dependency %v -> %v names buffer %d of %d", d.From, d.To, b, len(v.g.Buffers))
		return
	}
	v.inside(d.Cause, func(why string) {
		v.add(d.To, "dependency %v -> %v is caused by %s: %s", d.From, d.To, bytes(v.g, d.Cause), why)
	})
}

// hazards and after edges are implied by a path of dependencies.
func (v *verifier) hazards() {
	d := v.g.dag()
	for _, c := range missing(d, v.g.needs(d)) {
		v.add(OpID(c.to), "%s must wait for %s (%s): add the dependency %v -> %v",
			v.about(OpID(c.to)), v.about(OpID(c.from)), c.reason(v.g), OpID(c.from), OpID(c.to))
	}
}

// needs returns what must be ordered in g, conflicts and after edges, but for
// what the edges of settled order; settled may be nil.
func (g *Graph) needs(settled *dag) []conflict {
	needs := conflicts(g, settled)
	for id := range g.Ops {
		for _, u := range g.Ops[id].After {
			if settled != nil && settled.has(int32(u), int32(id)) {
				continue
			}
			needs = append(needs, conflict{query{int32(u), int32(id)}, Ordered, Range{}})
		}
	}
	return needs
}

// reason prints why two operations must be ordered: raw @x[0:4096].
func (c *conflict) reason(g *Graph) string {
	if c.cause.Empty() {
		return c.hazard.String()
	}
	return c.hazard.String() + " " + bytes(g, c.cause)
}

// missing returns the needs that neither an edge nor a path of d satisfies.
func missing(d *dag, needs []conflict) []conflict {
	var open []conflict
	for _, c := range needs {
		if !d.has(c.from, c.to) {
			open = append(open, c)
		}
	}
	queries := make([]query, len(open))
	for i, c := range open {
		queries[i] = c.query
	}
	var lost []conflict
	for i, ok := range implied(d, queries) {
		if !ok {
			lost = append(lost, open[i])
		}
	}
	return lost
}

// reduced: no dependency is implied by a path over others.
func (v *verifier) reduced() {
	deps := v.g.Deps()
	queries := make([]query, len(deps))
	for i, d := range deps {
		queries[i] = query{int32(d.From), int32(d.To)}
	}
	for i, redundant := range implied(v.g.dag(), queries) {
		if d := deps[i]; redundant {
			v.add(d.To, "dependency %v -> %v is implied by a path over other operations: drop it", d.From, d.To)
		}
	}
}
