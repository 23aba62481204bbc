package access

import (
	"cmp"
	"math"
	"slices"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// Span is a range of bytes [Lo, Hi) relative to a pointer. It is empty if Lo >=
// Hi.
type Span struct{ Lo, Hi int64 }

// Whole is the span of an access without bounds.
var Whole = Span{math.MinInt64, math.MaxInt64}

// Empty reports whether s contains no bytes.
func (s Span) Empty() bool { return s.Lo >= s.Hi }

// Union returns the smallest span that contains both.
func (s Span) Union(t Span) Span {
	switch {
	case s.Empty():
		return t
	case t.Empty():
		return s
	}
	return Span{min(s.Lo, t.Lo), max(s.Hi, t.Hi)}
}

// Holds reports whether s contains all bytes of t.
func (s Span) Holds(t Span) bool { return t.Empty() || s.Lo <= t.Lo && t.Hi <= s.Hi }

// Reach is what one launch may read and write through one pointer.
type Reach struct{ Read, Write Span }

// Footprint computes how far the launches of one kernel reach from its pointers. It is a
// program over intervals, compiled once by NewFootprint and evaluated for each launch by
// Eval. It must not be used by two goroutines at a time.
//
// The spans contain every byte that the kernel touches through the pointer, provided that
// it stays inside the allocation. Sums that wrap around the address space are not
// considered: they fault on a GPU.
//
// Invariant: the arguments of nodes[i] are before i, and vals and pointers have one entry
// for each node and row.
type Footprint struct {
	Effects *Effects
	Ranges  []Range // one for each access through a parameter, in program order

	nodes    []node                                // the program, in topological order
	vals     []interval                            // the result of each node for the last launch
	outs     []spanOut                             // the results
	rows     []paramRef                            // by row of Effects.Params: the bytes that hold the pointer
	block    []int                                 // by row: byte offset of the pointer in the parameter block, -1 if unknown
	pointers []interval                            // by row: the pointer's value in the last launch
	certain  *certain                              // nil if no access is certain
	strides  struct{ whole, part *stridedProgram } // for whole launches, and for parts; nil if no address may have strides
}

// spanOut is one result: the bytes [addr+lo, addr+hi), for one row.
type spanOut struct {
	row    int32
	addr   nodeID
	alive  nodeID // the result counts only if this node is not empty; or always
	lo, hi int64  // bytes relative to addr
	access Access

	certain bool // both ends of the address are known, and Footprint.certain contains the access
}

// NewFootprint compiles the footprint of kernel f of module m. It returns an
// empty footprint if one of them is nil.
func NewFootprint(m *ptx.Module, f *ptx.Func) *Footprint {
	if m == nil || f == nil {
		return &Footprint{Effects: &Effects{}}
	}
	fp, _ := newFootprint(m, f)
	return fp
}

// newFootprint also returns the builder, for tests.
func newFootprint(m *ptx.Module, f *ptx.Func) (*Footprint, *ranges) {
	rec := analyse(m, f)
	fp := &Footprint{Effects: rec.effects()}
	for _, p := range fp.Effects.Params {
		fp.rows = append(fp.rows, paramRef{param: int32(p.Param), off: int32(p.Field), size: 8})
		at := -1 // not known
		if p.Field >= 0 {
			at = f.Params[p.Param].Offset + p.Field
		}
		fp.block = append(fp.block, at)
	}
	fp.pointers = make([]interval, len(fp.rows))
	r := newRanges(m, f, fp.Effects, rec.reaches)
	r.footprint(fp)
	return fp, r
}

// Eval computes the reach of launch l through each row of Effects.Params into out, which
// must have one entry for each row. The result of a row is the hull of its accesses. Eval
// does not allocate. Its cost is linear in the nodes of the program.
func (fp *Footprint) Eval(l *Launch, out []Reach) {
	fp.compute(l)
	clear(out)
	for i := range fp.outs {
		o := &fp.outs[i]
		span := fp.span(o)
		if o.access&Read != 0 {
			out[o.row].Read = out[o.row].Read.Union(span)
		}
		if o.access&Write != 0 {
			out[o.row].Write = out[o.row].Write.Union(span)
		}
	}
}

// compute evaluates all nodes, and the pointers, for a launch.
func (fp *Footprint) compute(l *Launch) {
	var arg [4]interval
	for i := range fp.nodes {
		n := &fp.nodes[i]
		arg[0], arg[1] = fp.vals[n.args[0]], fp.vals[n.args[1]]
		if n.op == nodeInduct || n.op == nodeTrips {
			arg[2], arg[3] = fp.vals[n.args[2]], fp.vals[n.args[3]]
		}
		fp.vals[i] = n.eval(l, &arg)
	}
	for i := range fp.rows {
		fp.pointers[i] = l.value(fp.rows[i], fp.block[i])
	}
}

// span returns the bytes of one result, relative to its pointer. It is empty if no thread
// of the launch reaches the access, and Whole if the address or the pointer is not known.
func (fp *Footprint) span(o *spanOut) Span {
	if o.alive != always && fp.vals[o.alive].isEmpty() {
		return Span{}
	}
	pointer, addr := fp.pointers[o.row], fp.vals[o.addr]
	if addr.isEmpty() {
		return Span{}
	}
	if addr == all || !pointer.single() {
		return Whole
	}
	return Span{saturated(addr.lo, o.lo, pointer.lo), saturated(addr.hi, o.hi, pointer.lo)}
}

// saturated returns addr+offset-pointer, or the nearest int64 if that
// overflows.
func saturated(addr, offset, pointer int64) int64 {
	switch sum := addr - pointer + offset; {
	case !addOverflows(addr, -pointer) && !addOverflows(addr-pointer, offset):
		return sum
	case addr < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

// ranges builds the interval expressions for the addresses of all accesses of a
// kernel.
type ranges struct {
	m       *ptx.Module
	f       *ptx.Func
	effects *Effects
	reaches []reach
	builder *rangeBuilder
	where   map[*ptx.Inst][]int // by instruction that accesses memory: its steps in the flat program
}

// newRanges leaves builder nil if the kernel has no accesses or is too large
// for a flat program.
func newRanges(m *ptx.Module, f *ptx.Func, e *Effects, reaches []reach) *ranges {
	r := &ranges{m: m, f: f, effects: e, reaches: reaches}
	if len(reaches) == 0 {
		return r
	}
	p := flatten(m, f)
	if p == nil {
		return r
	}
	r.where = map[*ptx.Inst][]int{}
	for _, at := range reaches {
		r.where[at.in] = nil
	}
	for i := range p.steps {
		in := p.steps[i].in
		if list, ok := r.where[in]; ok {
			r.where[in] = append(list, i)
		}
	}
	r.builder = newRangeBuilder(newSSA(newCFG(p)))
	return r
}

// footprint builds the program of fp and describes each access in fp.Ranges.
func (r *ranges) footprint(fp *Footprint) {
	// An address may come from several parameters, for example by a selection: one result
	// for each.
	for n := range r.reaches {
		at := &r.reaches[n]
		for _, root := range at.params {
			row := slices.IndexFunc(r.effects.Params, func(p ParamAccess) bool { return p.Param == root.param && p.Field == root.field })
			if row < 0 {
				panic("BUG: an access through parameter " + r.f.Params[root.param].Name + " has no row")
			}
			r.access(fp, at, row)
		}
	}
	fp.compact(r.builder)
}

// access appends one result for each copy of an access in the flat program. An access
// that cannot be bounded gets the result Whole and a reason.
//
// The facts used are those of the block, and the guard of the instruction itself.
func (r *ranges) access(fp *Footprint, at *reach, row int) {
	p := &r.effects.Params[row]
	// The reasons that apply to all copies of the access.
	rng := Range{Param: p.Param, Field: p.Field, Pos: at.in.Pos, Access: at.access}
	steps := r.where[at.in]
	size, why := at.size(r.m.File)
	switch {
	case r.builder == nil:
		rng.Why = &Reason{r.m.File, at.in.Pos, tooLarge.Msg}
	case fp.rows[row].off < 0:
		rng.Why = &Reason{r.m.File, at.in.Pos, "the pointer is loaded from an unknown offset in a parameter"}
	case r.outOfLine(steps):
		rng.Why = &Reason{r.m.File, at.in.Pos, "the access is in a function that is called through a pointer or calls itself"}
	default:
		rng.Why = why
	}
	if rng.Why != nil {
		fp.outs = append(fp.outs, spanOut{row: int32(row), alive: always, access: at.access})
		fp.Ranges = append(fp.Ranges, rng)
		return
	}
	b := r.builder
	for _, i := range steps {
		if b.blocks[b.blockOf[i]].order < 0 {
			continue // unreachable code
		}
		c := b.in(b.blockOf[i])
		if p := b.guard(i); p != nil {
			c = b.assert(c, p, true)
		}
		base := b.operandBase(at.addr, i)
		o := spanOut{row: int32(row), addr: b.build(base, c), alive: b.alive(c), lo: at.addr.Imm, hi: at.addr.Imm + size, access: at.access}
		// The address is one parameter plus a number, and the instruction touches all of
		// its bytes.
		if at.soleParam && touchesAllBytes(at.in) {
			o.certain = b.known[o.addr].both()
			fp.recordCertain(b, certainAccess{row, i, base, b.guard(i), o.lo, o.hi, at.access})
		}
		fp.outs = append(fp.outs, o)
		one := rng
		b.describe(&one, o)
		fp.Ranges = append(fp.Ranges, one)
	}
}

// recordCertain records an access for Outside and Decided.
func (fp *Footprint) recordCertain(b *rangeBuilder, a certainAccess) {
	if fp.certain == nil {
		fp.certain = newCertain(b)
	}
	block := b.blockOf[a.step]
	fp.certain.accesses[block] = append(fp.certain.accesses[block], a)
}

// outOfLine reports whether an instruction with these steps is also executed
// outside the flat program.
func (r *ranges) outOfLine(steps []int) bool {
	p := r.builder.flat
	return len(steps) == 0 || p.outOfLine[p.steps[steps[0]].frame.f]
}

// operandBase returns the value of the register of a memory operand.
func (s *ssa) operandBase(op *ptx.Operand, i int) *term {
	if op.Reg == ptx.NoReg {
		return s.unknown(64, s.blockOf[i], s.reason(i, "the address is not in a register"))
	}
	fr := s.cfg.steps[i].frame
	return s.before(fr.base+variable(op.Reg), regBits(fr.f, op.Reg), i)
}

// size returns the number of bytes that an access touches from its address on,
// or the reason why that is unknown.
func (at *reach) size(file string) (int64, *Reason) {
	in := at.in
	switch in.Name {
	case "ld", "ldu", "st", "atom", "red":
		if t := memType(in); t != ptx.NoType {
			return int64(t.Size() * elems(in)), nil
		}
	case "cp":
		if len(in.Args) > 2 && in.Args[2].Kind == ptx.OpInt {
			return in.Args[2].Imm, nil
		}
	}
	if at.addr == nil {
		return 0, &Reason{file, in.Pos, "a string of unknown length is printed"}
	}
	return 0, &Reason{file, in.Pos, "the number of bytes that " + in.Opcode() + " accesses is not known"}
}

// compact moves the nodes that results depend on into fp, and renumbers them. Arguments
// precede their users, so one backward pass marks the nodes that are used, and one
// forward pass copies them. The cost is linear.
func (fp *Footprint) compact(b *rangeBuilder) {
	if b == nil {
		return
	}
	used := make([]bool, len(b.nodes))
	used[0] = true
	for _, o := range fp.outs {
		used[o.addr] = true
		if o.alive != always {
			used[o.alive] = true
		}
	}
	for id := len(b.nodes) - 1; id > 0; id-- {
		if n := &b.nodes[id]; used[id] && int(n.op) < len(arity) {
			for _, a := range n.args[:arity[n.op]] {
				used[a] = true
			}
		}
	}
	renamed := make([]nodeID, len(b.nodes))
	for id, n := range b.nodes {
		if !used[id] {
			continue
		}
		for k := range n.args {
			n.args[k] = renamed[n.args[k]]
		}
		renamed[id] = nodeID(len(fp.nodes))
		fp.nodes = append(fp.nodes, n)
	}
	for i := range fp.outs {
		o := &fp.outs[i]
		o.addr = renamed[o.addr]
		if o.alive != always {
			o.alive = renamed[o.alive]
		}
	}
	fp.vals = make([]interval, len(fp.nodes))
	fp.merge()
	fp.strides.whole = newStridedProgram(fp, true)
	fp.strides.part = newStridedProgram(fp, false)
}

// merge joins results that differ only in the bytes relative to the same address and touch
// each other, such as the loads of x[i], x[i+1] and x[i+2] in an unrolled loop. Eval then
// computes one span for all of them.
func (fp *Footprint) merge() {
	type key struct {
		row         int32
		addr, alive nodeID
		access      Access
		certain     bool
	}
	groups := map[key][]int{}
	order := []key{}
	for i, o := range fp.outs {
		k := key{o.row, o.addr, o.alive, o.access, o.certain}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], i)
	}
	var kept []spanOut
	for _, k := range order {
		list := groups[k]
		slices.SortStableFunc(list, func(i, j int) int { return cmp.Compare(fp.outs[i].lo, fp.outs[j].lo) })
		first := len(kept)
		for _, i := range list {
			o := fp.outs[i]
			if n := len(kept); n > first && o.lo <= kept[n-1].hi {
				kept[n-1].hi = max(kept[n-1].hi, o.hi)
				continue
			}
			kept = append(kept, o)
		}
	}
	fp.outs = kept
}
