package interp

import (
	"github.com/reprise-gpu/reprise/internal/ptx"
)

// lowerings are the instructions that need more than a lookup in ops. A lowering checks the
// operands, resolves them to registers, and appends records:
//
//	PTX                               records
//	add.s32 %r2, %r1, 4;              ops["add.s32"]    d %r2, a %r1, b the constant 4
//	mov.u32 %r3, %tid.x;              none: %r3 becomes a name of the register of %tid.x
//	ld.global.v2.f32 {%f1, %f2}, …    loadVector        elems %f1, %f2
//	@%p1 st.shared.u32 [%r4], %r3;    storeShared       guard %p1
//	bra LOOP;                         ends the segment
//	call f, (a);                      the body of f
//	mov.b128 %rq1, %rq2;              two movs of 64 bits
//
// A fault of lowering is an error of type *unsupported, which a launch of the kernel
// returns.
var lowerings map[string]func(l *lowering) error

// The map is filled in init, since the lowerings refer to it.
func init() {
	lowerings = map[string]func(l *lowering) error{
		"ld": (*lowering).load, "ldu": (*lowering).load, "st": (*lowering).store,
		"atom": (*lowering).atomic, "red": (*lowering).reduction,
		"mov": (*lowering).mov, "cvta": (*lowering).cvta, "cvt": (*lowering).cvt,
		"setp": (*lowering).setp, "set": (*lowering).set, "selp": (*lowering).selp, "slct": (*lowering).slct,
		"bfi": (*lowering).bfi, "lop3": (*lowering).lop3, "testp": (*lowering).testp, "isspacep": (*lowering).isspacep,
		"bra": (*lowering).bra, "ret": (*lowering).ret, "exit": (*lowering).exit, "call": (*lowering).call, "brx": (*lowering).brx,
		"bar": (*lowering).bar, "barrier": (*lowering).bar,
		"shfl": (*lowering).shfl, "vote": (*lowering).vote, "match": (*lowering).match, "redux": (*lowering).redux, "cp": (*lowering).cp, "mbarrier": (*lowering).mbarrier,
		"alloca": (*lowering).alloca, "stacksave": (*lowering).stackSave, "stackrestore": (*lowering).stackRestore,
		"createpolicy": (*lowering).createPolicy, "mapa": (*lowering).mapa, "getctarank": (*lowering).getctarank,
		"setmaxnreg": (*lowering).nothing, "elect": (*lowering).elect,
		"activemask": (*lowering).activemask, "trap": (*lowering).trap, "brkpt": (*lowering).nothing,
		"membar": (*lowering).fence, "fence": (*lowering).fence, "nanosleep": (*lowering).nothing,
		"prefetch": (*lowering).nothing, "prefetchu": (*lowering).nothing, "pmevent": (*lowering).nothing,
		"tex": (*lowering).texture, "tld4": (*lowering).gathered, "txq": (*lowering).imageQuery, "suq": (*lowering).imageQuery,
		"suld": (*lowering).surfaceLoad, "sust": (*lowering).surfaceStore, "sured": (*lowering).surfaceUpdate,
		"wmma": (*lowering).wmma, "mma": (*lowering).product,
		"ldmatrix": (*lowering).loadMatrix, "stmatrix": (*lowering).storeMatrix, "movmatrix": (*lowering).moveMatrix,
		"vmad":    (*lowering).vmad,
		"discard": (*lowering).nothing, "applypriority": (*lowering).nothing, "griddepcontrol": (*lowering).nothing,
	}
	for _, name := range []string{"vadd", "vsub", "vabsdiff", "vmin", "vmax", "vavrg", "vset"} {
		for _, lanes := range []string{"", "2", "4"} {
			lowerings[name+lanes] = (*lowering).video
		}
	}
	lowerings["vshl"], lowerings["vshr"] = (*lowering).video, (*lowering).video
}

// lower appends the records of the current instruction. An instruction that the parser's
// tables do not contain is refused here; see ptx.Inst.Unknown.
func (l *lowering) lower() error {
	if what := l.in.Unknown(); what != "" {
		return l.fail("%s is unknown", what)
	}
	// A cache policy has no effect on results.
	if has(l.in, "L2::cache_hint") && len(l.in.Args) > 1 { // the policy is the last operand
		plain := *l.in
		plain.Args = plain.Args[:len(plain.Args)-1]
		l.in = &plain
	}
	if has(l.in, "b128") {
		return l.wide()
	}
	if f, ok := lowerings[l.in.Name]; ok {
		return f(l)
	}
	return l.arithmetic()
}

// arithmetic lowers an operation in ops, from registers to a register.
func (l *lowering) arithmetic() error {
	in := l.in
	list := types(in)
	if len(list) == 0 {
		return l.fail("the interpreter cannot run this instruction")
	}
	exec, ok := ops[opKey(in, list)]
	if !ok {
		return l.fail("the interpreter cannot run this instruction")
	}
	// Registers must have exactly the size of their operand: the parser has checked the
	// types, and inst has no conversions.
	sizes := operandSizes(in, registerSize(list[0]))
	if widens(list) { // all sources except the last one, the addend
		sizes[1] = registerSize(list[1])
		if in.Name == "fma" {
			sizes[2] = sizes[1]
		}
	}
	c := arithmeticCost(in, list[0]).withFlops(flops(in, list[0]))
	c.fuses = fusingOf(in, list[0])
	return l.registers(exec, c, list[0], sizes[:1+sourceCount(in)]...)
}

// registers lowers an operation on registers. sizes are the bytes of the destination and of
// each source. A literal is encoded as typ. The fourth source, which only bfi and lop3
// have, is in extra.
func (l *lowering) registers(exec handler, c cost, typ ptx.Type, sizes ...int) error {
	in := l.in
	if len(in.Args) != len(sizes) {
		return l.fail("needs %d operands", len(sizes))
	}
	r := blank()
	r.exec = exec
	var err error
	if r.d, err = l.dest(&in.Args[0], sizes[0]); err != nil {
		return err
	}
	// Sources fill a, b and c in order.
	sources := []*slot{&r.a, &r.b, &r.c}
	if len(sizes) == 5 {
		r.x = newExtra()
		sources = append(sources, &r.x.e)
	}
	for i, size := range sizes[1:] {
		if *sources[i], err = l.source(&in.Args[i+1], size, typ); err != nil {
			return err
		}
	}
	l.emit(r, c)
	return nil
}

// sourceCount returns the number of sources of an operation in ops.
func sourceCount(in *ptx.Inst) int {
	switch in.Name {
	case "min", "max":
		if len(in.Args) == 4 {
			return 3
		}
	case "neg", "abs", "not", "cnot", "popc", "clz", "brev", "bfind",
		"sqrt", "rcp", "rsqrt", "sin", "cos", "ex2", "lg2", "tanh":
		return 1
	case "mad", "madc", "mad24", "fma", "sad", "bfe", "shf", "prmt", "dp4a", "dp2a", "fns":
		return 3
	}
	return 2
}

// opKey returns the key of an operation in ops: the opcode for integers; name, rounding,
// type and modifiers for floats:
//
//	add.s32                    add.s32
//	mul.wide.u32               mul.wide.u32
//	add.f32, add.rn.f32        add.rn.f32.0
//	fma.rn.ftz.sat.f32         fma.rn.f32.ftz.sat
//	max.NaN.f16x2              max.NaN.rn.f16x2.0
//	add.rn.f32.bf16            add.rn.f32.bf16.0
func opKey(in *ptx.Inst, list []ptx.Type) string {
	if !list[0].Float() {
		return in.Opcode()
	}
	name, round, mods, typ := in.Name, "rn", "", list[0].String()
	if widens(list) {
		typ += "." + list[1].String()
	}
	for _, s := range in.Suffix {
		switch s {
		case "approx", "full":
			round = s
		case "rn", "rz", "rm", "rp":
			round = s
		case "NaN", "xorsign", "abs":
			name += "." + s
		default:
			if _, ok := ptx.ParseType(s); !ok {
				mods += "." + s
			}
		}
	}
	if (in.Name == "min" || in.Name == "max") && sourceCount(in) == 3 {
		name += "3"
	}
	return opName(name+"."+round+"."+typ, mods)
}

// widens reports whether arithmetic in f32 has 16-bit sources.
func widens(list []ptx.Type) bool { return len(list) == 2 && list[0] == ptx.F32 && list[1].Size() == 2 }

// operandSizes returns the bytes of destination and sources of an operation on operands
// of size bytes.
func operandSizes(in *ptx.Inst, size int) [4]int {
	z := [4]int{size, size, size, size}
	switch in.Name {
	case "shl", "shr":
		z[2] = 4
	case "bfe":
		z[2], z[3] = 4, 4
	case "popc", "clz", "bfind":
		z[0] = 4
	case "mul":
		if has(in, "wide") {
			z[0] = 2 * size
		}
	case "mad":
		if has(in, "wide") {
			z[0], z[3] = 2*size, 2*size
		}
	}
	return z
}

// bitsType returns the untyped form of a type, the key of movs and selections.
func bitsType(size int) string {
	switch size {
	case 2:
		return "b16"
	case 4:
		return "b32"
	}
	return "b64"
}

// mov lowers a copy of a register or predicate. Copies of launch constants are folded
// before, see fold.
func (l *lowering) mov() error {
	in := l.in
	if len(in.Args) != 2 || len(in.Suffix) == 0 {
		return l.fail("needs a destination and a source")
	}
	if has(in, "v2") || has(in, "v4") {
		return l.movVector()
	}
	if in.Args[0].Kind == ptx.OpVector || in.Args[1].Kind == ptx.OpVector {
		return l.pack()
	}
	list := types(in)
	if len(list) == 0 {
		return l.fail("needs a type")
	}
	typ := list[0]
	size := registerSize(typ)
	r := blank()
	var err error
	if r.d, err = l.dest(&in.Args[0], size); err != nil {
		return err
	}
	if size == 0 {
		var neg bool
		if r.a, neg, err = l.predicate(&in.Args[1]); neg {
			r.exec = ops["not.pred"]
		} else {
			r.exec = ops["mov.pred"]
		}
	} else {
		r.a, err = l.source(&in.Args[1], size, typ)
		r.exec = ops["mov."+bitsType(size)]
	}
	l.emit(r, costFree)
	return err
}

// movVector copies element by element. All elements are read before the first is
// written.
func (l *lowering) movVector() error {
	list := types(l.in)
	to, from := vector(&l.in.Args[0]), vector(&l.in.Args[1])
	if len(list) != 1 || len(to) != len(from) || list[0].Size() > 8 || list[0] == ptx.Pred {
		return l.fail("the vectors do not fit each other")
	}
	size := registerSize(list[0])
	read := make([]slot, len(from))
	for i := range from {
		s, err := l.source(&from[i], size, list[0])
		if err != nil {
			return err
		}
		read[i] = l.temp(size)
		l.emitMov(read[i], s, size)
	}
	for i := range to {
		d, err := l.dest(&to[i], size)
		if err != nil {
			return err
		}
		l.emitMov(d, read[i], size)
	}
	return nil
}

// emitMov appends a copy between registers of size bytes.
func (l *lowering) emitMov(d, a slot, size int) {
	r := blank()
	r.d, r.a, r.exec = d, a, ops["mov."+bitsType(size)]
	l.emit(r, costFree)
}

// pack is mov between a register and a vector of narrower ones, the first of which holds
// the low bits.
func (l *lowering) pack() error {
	in := l.in
	whole, parts, unpack := &in.Args[0], &in.Args[1], false
	if whole.Kind == ptx.OpVector {
		whole, parts, unpack = parts, whole, true
	}
	list := types(in)
	if len(list) == 0 || len(parts.Elems) < 2 || list[0].Size()%len(parts.Elems) != 0 || list[0].Size() > 8 {
		return l.fail("the vector does not fit the register")
	}
	r := blank()
	r.x = newExtra()
	r.x.size = list[0].Size() / len(parts.Elems)
	var err error
	if err = l.elements(r.x, parts.Elems, unpack, registerSizeOf(r.x.size)); err != nil {
		return err
	}
	if unpack {
		r.a, err = l.source(whole, list[0].Size(), list[0])
		r.exec = unpackLanes
		if r.x.size == 4 {
			r.exec = unpackPair
		}
	} else {
		r.d, err = l.dest(whole, list[0].Size())
		r.exec = packLanes
		if r.x.size == 4 {
			r.exec = packPair
		}
	}
	l.emit(r, costFree).reads = !unpack
	return err
}

// elements resolves the registers of a vector operand. regSize is their size in bytes, or 0
// if registers may be wider than the elements.
func (l *lowering) elements(x *extra, ops []ptx.Operand, dest bool, regSize int) error {
	for i := range ops {
		op := &ops[i]
		size := regSize
		if size == 0 {
			size = l.size(op, registerSizeOf(x.size))
		}
		var s slot
		var err error
		if dest {
			s, err = l.destOrSink(op, size)
		} else {
			s, err = l.source(op, size, ptx.NoType)
		}
		if err != nil {
			return err
		}
		if size == 0 {
			return l.fail("a predicate cannot be loaded or stored")
		}
		x.elems = append(x.elems, element{s, size})
	}
	return nil
}

// registerSizeOf returns the bytes of the register for a value of size bytes.
func registerSizeOf(size int) int { return max(size, 2) }

// packLanes joins the elements of each lane.
func packLanes(w *warp, in *inst) {
	n := in.x.size
	each(w.live, func(i int) {
		var v uint64
		for k, e := range in.x.elems {
			v |= signExtend(w.lane(e, i), n, false) << (8 * n * k)
		}
		w.setLane(element{in.d, n * len(in.x.elems)}, i, v)
	})
}

// unpackLanes splits the register of each lane.
func unpackLanes(w *warp, in *inst) {
	n := in.x.size
	each(w.live, func(i int) {
		v := w.lane(element{in.a, n * len(in.x.elems)}, i)
		for k, e := range in.x.elems {
			w.setLane(e, i, signExtend(v>>(8*n*k), n, false))
		}
	})
}

// packPair is packLanes for two registers of 32 bits, the most frequent case.
func packPair(w *warp, in *inst) {
	d := view[uint64](w, in.d)
	lo, hi := view[uint32](w, in.x.elems[0].reg), view[uint32](w, in.x.elems[1].reg)
	each(w.live, func(i int) { d[i] = uint64(hi[i])<<32 | uint64(lo[i]) })
}

// unpackPair is unpackLanes for two registers of 32 bits.
func unpackPair(w *warp, in *inst) {
	a := view[uint64](w, in.a)
	if s := in.x.elems[0].reg; s != noSlot {
		d := view[uint32](w, s)
		each(w.live, func(i int) { d[i] = uint32(a[i]) })
	}
	if s := in.x.elems[1].reg; s != noSlot {
		d := view[uint32](w, s)
		each(w.live, func(i int) { d[i] = uint32(a[i] >> 32) })
	}
}

// cvta adds or subtracts the base of the window of shared, local or parameter memory.
// Global and constant addresses are generic addresses already:
//
//	0x0001_0000_0000   workspace of cooperative launches
//	0x0002_0000_0000   device memory
//	0x5000_0000_0000   memory of the host
//	0x6000_0000_0000   handles of textures and surfaces
//	0x7000_0000_0000   shared memory of the block
//	0x7100_0000_0000   local memory of the thread
//	0x7200_0000_0000   addresses of functions
//	0x7300_0000_0000   parameters of the kernel
func (l *lowering) cvta() error {
	in := l.in
	if len(in.Args) != 2 {
		return l.fail("needs a destination and an address")
	}
	size := l.size(&in.Args[0], 8)
	r := blank()
	var err error
	if r.d, err = l.dest(&in.Args[0], size); err != nil {
		return err
	}
	if r.a, err = l.source(&in.Args[1], size, ptx.U64); err != nil {
		return err
	}
	// A window of 0 means that both addresses are the same.
	window := uint64(0)
	switch spaceOf(in) {
	case ptx.Shared:
		window = sharedWindow
	case ptx.Local:
		window = localWindow
	case ptx.ParamSpace:
		window = paramWindow
	}
	if size != 8 {
		return l.fail("addresses must have 64 bits")
	}
	if window == 0 {
		r.exec = ops["mov.b64"]
	} else {
		r.exec = ops["add.u64"]
		// cvta.to goes from a generic address to one of the space.
		if has(in, "to") {
			window = -window
		}
		r.b = l.constant(8, window)
	}
	l.emit(r, costFree)
	return nil
}

// bfi lowers the insertion of a bit field, with four sources.
func (l *lowering) bfi() error {
	list := types(l.in)
	if len(list) != 1 || list[0].Size() < 4 {
		return l.fail("needs a type of 32 or 64 bits")
	}
	size, exec := list[0].Size(), bfiLanes[uint32]
	if size == 8 {
		exec = bfiLanes[uint64]
	}
	return l.registers(exec, integerCost(list[0]), ptx.B32, size, size, size, 4, 4)
}

// bfiLanes inserts the low n bits of a at position p of b.
func bfiLanes[T unsigned](w *warp, in *inst) {
	d, a, b := view[T](w, in.d), view[T](w, in.a), view[T](w, in.b)
	p, n := view[uint32](w, in.c), view[uint32](w, in.x.e)
	each(w.live, func(i int) { d[i] = insert(a[i], b[i], p[i], n[i]) })
}

// lop3 lowers a bitwise function of three sources, with or without a predicate.
func (l *lowering) lop3() error {
	if len(l.in.Args) == 6 {
		return l.lop3Joined()
	}
	return l.registers(lop3Lanes, costALU, ptx.B32, 4, 4, 4, 4, 4)
}

// lop3Lanes applies a table of eight bits to each position of three registers.
func lop3Lanes(w *warp, in *inst) {
	d, a, b := view[uint32](w, in.d), view[uint32](w, in.a), view[uint32](w, in.b)
	c, lut := view[uint32](w, in.c), view[uint32](w, in.x.e)
	each(w.live, func(i int) { d[i] = lop3Bits(a[i], b[i], c[i], uint8(lut[i])) })
}

// lop3Joined is lop3 with d|p: p is true if d is not zero, combined with a predicate
// operand. It is lowered to lop3 and a comparison of its result.
func (l *lowering) lop3Joined() error {
	whole := l.in
	d := whole.Args[0]
	if d.Kind != ptx.OpPair || d.Reg2 == ptx.NoReg || combiners[whole.Suffix[0]] == nil {
		return l.fail("needs d|p and a boolean operator")
	}
	r := blank()
	r.exec, r.x = lop3Lanes, newExtra()
	var err error
	if r.d, err = l.dest(&d, 4); err != nil {
		return err
	}
	for i, to := range []*slot{&r.a, &r.b, &r.c, &r.x.e} {
		if *to, err = l.source(&whole.Args[i+1], 4, ptx.B32); err != nil {
			return err
		}
	}
	// p = (d != 0) op c
	test := blank()
	test.exec, test.x = setp, newExtra()
	test.x.test, test.x.combine = tests["ne.b32"], combiners[whole.Suffix[0]]
	test.a, test.b = r.d, l.constant(4, 0)
	if test.d, err = l.second(&d); err != nil {
		return err
	}
	if test.x.p, test.x.pNeg, err = l.predicate(&whole.Args[5]); err != nil {
		return err
	}
	l.emit(r, costALU)
	l.emit(test, costALU)
	return nil
}
