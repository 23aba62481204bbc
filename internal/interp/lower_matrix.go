package interp

import (
	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/unit"
)

// wholeWarp is the member mask of instructions that all lanes execute together.
var wholeWarp = ptx.Operand{Kind: ptx.OpInt, Imm: allLanes, Reg: ptx.NoReg, Reg2: ptx.NoReg}

// maxSources is three fragments of eight registers, the maximum of all shapes.
const maxSources = 24

// fragment resolves operand arg, which holds a part of a matrix. Registers of a source are
// in r.x.sources, in the order of the operands, and those of a result in r.x.elems: layout
// and patch find them there.
func (l *lowering) fragment(r *inst, role byte, arg int, format string, dest bool) (matrixFragment, error) {
	in := l.in
	f := matrixFragment{role: role, format: format, bits: elementBits[format]}
	regs := vector(&in.Args[arg])
	if regCount := ptx.FragmentRegisters(in, arg); f.bits == 0 || regCount == 0 || regCount > 8 || regCount != len(regs) {
		return f, l.fail("the interpreter cannot run this shape and type")
	}
	size := max(4, f.bits/8)
	for i := range regs {
		var s slot
		var err error
		if dest {
			s, err = l.destOrSink(&regs[i], size)
		} else {
			s, err = l.source(&regs[i], size, ptx.B32)
		}
		if err != nil {
			return f, err
		}
		f.regs = append(f.regs, element{s, size})
	}
	if dest {
		r.x.elems = f.regs
		return f, nil
	}
	if r.x.sources == nil {
		r.x.sources = make([]element, 0, maxSources)
	}
	n := len(r.x.sources)
	r.x.sources = append(r.x.sources, f.regs...)
	f.regs = r.x.sources[n:] // an alias, so that both are patched
	return f, nil
}

// wmma lowers the loads, stores and products of wmma, see "Warp-Level Matrix Instructions"
// in the PTX ISA. All lanes of the warp take part, as with a member mask of all lanes:
//
//	wmma.load.a.row.m16n16k16.f16   d, [p], stride    fragmentAccess
//	wmma.store.d.row.m16n16k16.f32  [p], d, stride    fragmentAccess
//	wmma.mma, mma                   d, a, b, c        product
//	ldmatrix, stmatrix              d, [p]; [p], d    tiles
//	movmatrix                       d, a              moveMatrix
func (l *lowering) wmma() error {
	switch {
	case has(l.in, "load"):
		return l.fragmentAccess(true)
	case has(l.in, "store"):
		return l.fragmentAccess(false)
	}
	return l.product()
}

// fragmentAccess lowers wmma.load d, [p], stride and wmma.store [p], d, stride. The record
// has the address in a and imm, the stride in x.e, and the shape and the fragment in
// x.matrix. The stride is in elements.
func (l *lowering) fragmentAccess(load bool) error {
	in := l.in
	if len(in.Suffix) < 2 || len(in.Args) < 2 || len(in.Args) > 3 {
		return l.fail("needs a fragment, an address and at most a stride")
	}
	address, data, kind, role := 0, 1, stores, byte('d')
	if load {
		address, data, kind, role = 1, 0, loads, in.Suffix[1][0]
	}
	format := in.Suffix[len(in.Suffix)-1]
	r := blank()
	if err := l.memory(&r, &in.Args[address], kind, ptx.B32); err != nil {
		return err
	}
	// The watchers would see one access of each lane.
	r.x.memory = false // a lane makes several accesses, see warp.span
	o := &matrixOp{colMajor: has(in, "col")}
	o.m, o.n, o.k = ptx.MatrixShape(in)
	var err error
	if o.d, err = l.fragment(&r, role, data, format, load); err != nil {
		return err
	}
	if o.d.bits < 8 && !o.neighbours(&o.d) {
		return l.fail("elements of less than a byte require the layout in which the elements of a register are adjacent")
	}
	// Without a stride the rows, or columns, follow each other without a gap.
	stride := ptx.Operand{Kind: ptx.OpInt, Imm: int64(o.rowLength()), Reg: ptx.NoReg, Reg2: ptx.NoReg}
	if len(in.Args) == 3 {
		stride = in.Args[2]
	}
	if r.x.e, err = l.source(&stride, 4, ptx.U32); err != nil {
		return err
	}
	r.x.matrix = o
	if load {
		return l.warpSync(loadFragment, r, &wholeWarp, loadCost(r.x.space))
	}
	return l.warpSync(storeFragment, r, &wholeWarp, costStore)
}

// rowLength returns the distance of rows, or columns, that are stored without a gap.
func (o *matrixOp) rowLength() int {
	rows, cols := o.m, o.n
	switch o.d.role {
	case 'a':
		cols = o.k
	case 'b':
		rows = o.k
	}
	if o.colMajor {
		return rows
	}
	return cols
}

// product lowers wmma.mma and mma: d = a·b + c. A product of m x n x k counts 2·m·n·k
// floating-point operations, divided among the lanes.
func (l *lowering) product() error {
	in := l.in
	if has(in, "sp") || has(in, "sp::ordered_metadata") || has(in, "block_scale") || len(in.Args) != 4 {
		return l.fail("sparse and scaled products are not supported")
	}
	formats, ok := productFormats(in)
	if !ok {
		return l.fail("the interpreter cannot run this shape and type")
	}
	r := blank()
	r.x = newExtra()
	o := &matrixOp{satfinite: has(in, "satfinite")}
	o.m, o.n, o.k = ptx.MatrixShape(in)
	var err error
	for i, f := range []*matrixFragment{&o.d, &o.a, &o.b, &o.c} {
		if *f, err = l.fragment(&r, "dabc"[i], i, formats[i], i == 0); err != nil {
			return err
		}
	}
	for _, s := range []string{"xor", "and"} {
		if has(in, s) {
			o.bitwise = s
		}
	}
	exec, flops := multiply, 2*o.m*o.n*o.k
	switch {
	case formats[0] == "s32":
		exec, flops = multiplyInt, 0
	// The only shape whose lanes compute independent products, with a layout of its own.
	case in.Name == "mma" && formats[1] == "f16" && o.m == 8 && o.k == 4:
		o.rowA, o.colB = layoutsOf(in)
		exec, flops = quadPairs, 4*flops // each pair of quads computes its own product
	case has(in, "rz") || has(in, "rm") || has(in, "rp"):
		return l.fail("only .rn is supported")
	}
	r.x.matrix = o
	return l.warpSync(exec, r, &wholeWarp, costMatrix(o).withFlops(int64(flops/lanes)))
}

// layoutsOf reports whether a is stored by rows and b by columns.
func layoutsOf(in *ptx.Inst) (rowA, colB bool) {
	var list []string
	for _, s := range in.Suffix {
		if s == "row" || s == "col" {
			list = append(list, s)
		}
	}
	return len(list) > 0 && list[0] == "row", len(list) > 1 && list[1] == "col"
}

// productFormats returns the types of d, a, b and c.
func productFormats(in *ptx.Inst) (f [4]string, ok bool) {
	var list []string
	for _, s := range in.Suffix {
		if elementBits[s] > 0 {
			list = append(list, s)
		}
	}
	switch len(list) {
	case 2: // wmma of f16, and mma of one type for a and b
		return [4]string{list[0], "f16", "f16", list[1]}, in.Name == "wmma"
	case 4:
		return [4]string(list), true
	}
	return f, false
}

// tiles lowers ldmatrix and stmatrix, which move one, two or four 8x8 tiles of 16-bit
// elements. Lanes 0 to 7 hold the addresses of the rows of the first tile, lanes 8 to 15
// those of the second, and so on.
func (l *lowering) tiles(load bool) error {
	in := l.in
	if len(in.Args) != 2 || !has(in, "m8n8") || !has(in, "b16") {
		return l.fail("only 8x8 tiles of b16 are supported")
	}
	address, data, kind := 0, 1, stores
	if load {
		address, data, kind = 1, 0, loads
	}
	r := blank()
	if err := l.memory(&r, &in.Args[address], kind, ptx.B32); err != nil {
		return err
	}
	r.x.memory = false
	o := &matrixOp{trans: has(in, "trans")}
	var err error
	if o.d, err = l.fragment(&r, 'd', data, "f16", load); err != nil {
		return err
	}
	r.x.matrix = o
	if load {
		return l.warpSync(loadTiles, r, &wholeWarp, loadCost(r.x.space))
	}
	return l.warpSync(storeTiles, r, &wholeWarp, costStore)
}

// loadMatrix lowers ldmatrix.
func (l *lowering) loadMatrix() error { return l.tiles(true) }

// storeMatrix lowers stmatrix.
func (l *lowering) storeMatrix() error { return l.tiles(false) }

// moveMatrix lowers movmatrix.
func (l *lowering) moveMatrix() error {
	in := l.in
	if len(in.Args) != 2 || !has(in, "m8n8") || !has(in, "trans") || !has(in, "b16") {
		return l.fail("only the transpose of an 8x8 tile of b16 is supported")
	}
	r := blank()
	var err error
	if r.d, err = l.dest(&in.Args[0], 4); err != nil {
		return err
	}
	if r.a, err = l.source(&in.Args[1], 4, ptx.B32); err != nil {
		return err
	}
	return l.warpSync(transpose, r, &wholeWarp, costShuffle)
}

// costMatrix returns the cost of a product on a tensor core, in units of a 16x8x16 product
// of 16-bit elements. Wider elements take proportionally longer.
func costMatrix(o *matrixOp) cost {
	return on(unit.Tensor, float64(o.m*o.n*o.k)/(16*8*16)*float64(o.a.bits)/16, 33)
}
