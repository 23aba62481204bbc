package interp

import (
	"fmt"
	"math"
	"math/bits"
)

// Matrix instructions work on tiles whose elements are spread over the 32 lanes of a warp.
// Of each 8x8 tile of results, lane 4g+t holds row g and columns 2t and 2t+1:
//
//	        column 0  1    2  3    4  5    6  7
//	row 0   lane   0  0    1  1    2  2    3  3
//	row 1          4  4    5  5    6  6    7  7
//	…
//	row 7         28 28   29 29   30 30   31 31
//
// Of an operand, a lane holds row g (column g of matrix b), and as many columns (rows) as
// fit into one 32-bit register, from t times that number on. The ISA defines this for mma
// and leaves it open for wmma. Here both use the same layout, so they can be mixed as on
// hardware since compute capability 7.5.

// matrixOp describes a matrix instruction.
type matrixOp struct {
	m, n, k    int
	d, a, b, c matrixFragment
	colMajor   bool // of a load or store
	satfinite  bool
	bitwise    string // "xor" or "and", of single bits
	trans      bool   // .trans of ldmatrix and stmatrix
	rowA, colB bool   // layouts of m8n8k4
}

// matrixFragment is the part of a matrix in the registers of a lane.
type matrixFragment struct {
	role   byte // 'd', 'a', 'b' or 'c'
	format string
	bits   int // of an element
	regs   []element
}

// elementBits is the size of an element in bits.
var elementBits = map[string]int{
	"b1": 1, "s4": 4, "u4": 4, "s8": 8, "u8": 8, "f16": 16, "bf16": 16, "tf32": 32, "f32": 32, "s32": 32, "f64": 64,
}

// perRegister returns the number of elements in a register.
func (f *matrixFragment) perRegister() int { return max(1, 32/f.bits) }

// place returns the row and column of element j of register r in a lane, in the layout
// described at the top of this file. u is the number of elements in a register.
func (o *matrixOp) place(f *matrixFragment, r, j, lane int) (row, col int) {
	g, t, u := lane/4, lane%4, f.perRegister()
	switch f.role {
	case 'a':
		// Registers go down the tiles of a column of tiles first, then to the next column.
		r %= max(1, o.m/8*(o.k/(4*u))) // in wmma, several registers hold the same element
		return r%(o.m/8)*8 + g, r/(o.m/8)*4*u + t*u + j
	case 'b':
		deep := max(1, o.k/(4*u))
		r %= max(1, o.n/8*deep)
		return r%deep*4*u + t*u + j, r/deep*8 + g
	}
	e := r*u + j
	tile := e / 2
	return tile%(o.m/8)*8 + g, tile/(o.m/8)*8 + 2*t + e%2
}

// width returns the number of columns of a fragment's matrix.
func (o *matrixOp) width(f *matrixFragment) int {
	if f.role == 'a' {
		return o.k
	}
	return o.n
}

// element returns element j of a register.
func (f *matrixFragment) element(v uint64, j int) uint64 {
	if f.bits == 64 {
		return v
	}
	return v >> (j * f.bits) & (1<<f.bits - 1)
}

// number decodes a floating-point element.
func (f *matrixFragment) number(v uint64) float64 {
	switch f.format {
	case "f16":
		return fromHalf(uint16(v))
	case "bf16":
		return float64(math.Float32frombits(uint32(v) << 16))
	case "tf32": // the tensor core ignores the lower 13 bits
		return float64(math.Float32frombits(uint32(v) &^ (1<<13 - 1)))
	case "f32":
		return float64(math.Float32frombits(uint32(v)))
	}
	return math.Float64frombits(v)
}

// integer decodes an integer element.
func (f *matrixFragment) integer(v uint64) int64 {
	if f.format[0] == 's' {
		return int64(v<<(64-f.bits)) >> (64 - f.bits)
	}
	return int64(v)
}

// gather collects a matrix, row after row, from the registers of all lanes.
func gather[T int64 | float64](w *warp, o *matrixOp, f *matrixFragment, out []T, decode func(uint64) T) {
	width := o.width(f)
	for r, e := range f.regs {
		for lane := range lanes {
			v := w.lane(e, lane)
			for j := range f.perRegister() {
				row, col := o.place(f, r, j, lane)
				out[row*width+col] = decode(f.element(v, j))
			}
		}
	}
}

// scatter distributes the result to the registers of all lanes.
func scatter[T int64 | float64](w *warp, o *matrixOp, in []T, encode func(T) uint64) {
	f := &o.d
	for r, e := range f.regs {
		for lane := range lanes {
			var v uint64
			for j := range f.perRegister() {
				row, col := o.place(f, r, j, lane)
				v |= encode(in[row*o.n+col]) << (j * f.bits)
			}
			w.setLane(e, lane, v)
		}
	}
}

// maxTile is the maximum number of elements of a matrix: 16x256 single bits.
const maxTile = 16 * 256

// requireFullWarp reports whether all lanes of the warp are live, and fails the launch if
// they are not.
func (w *warp) requireFullWarp(in *inst) bool {
	if w.live == allLanes {
		return true
	}
	w.fail(BarrierMismatch, in, firstLane(w.live), 0, fmt.Sprintf(
		"a matrix instruction needs all 32 lanes of a warp; %s missing (mask %#08x)",
		count(uint64(32-bits.OnesCount32(w.live)), "lane"), ^w.live))
	return false
}

// multiply is wmma.mma and mma on floats: d = a·b + c. It gathers the matrices from the
// lanes, multiplies them, and scatters the result. The products are exact and are added in
// float64, so only the result is rounded; the ISA does not define the order and rounding of
// the sum. Doubles are accumulated with one rounding per step, by ascending k.
func multiply(w *warp, in *inst) {
	if !w.requireFullWarp(in) {
		return
	}
	o := in.x.matrix
	var a, b, c [maxTile]float64
	gather(w, o, &o.a, a[:], o.a.number)
	gather(w, o, &o.b, b[:], o.b.number)
	gather(w, o, &o.c, c[:], o.c.number)
	for i := range o.m {
		for j := range o.n {
			sum := c[i*o.n+j]
			for k := range o.k {
				sum = math.FMA(a[i*o.k+k], b[k*o.n+j], sum)
			}
			c[i*o.n+j] = sum
		}
	}
	scatter(w, o, c[:], o.d.encode)
}

// encode rounds to the format of the result.
func (f *matrixFragment) encode(v float64) uint64 {
	switch f.format {
	case "f16":
		return uint64(half(v))
	case "f32":
		return uint64(math.Float32bits(float32(v)))
	}
	return math.Float64bits(v)
}

// multiplyInt is multiply on integers.
func multiplyInt(w *warp, in *inst) {
	if !w.requireFullWarp(in) {
		return
	}
	o := in.x.matrix
	var a, b, c [maxTile]int64
	gather(w, o, &o.a, a[:], o.a.integer)
	gather(w, o, &o.b, b[:], o.b.integer)
	gather(w, o, &o.c, c[:], o.c.integer)
	for i := range o.m {
		for j := range o.n {
			// Sums of integers do not overflow 64 bits; the result is cut to 32.
			sum := c[i*o.n+j]
			for k := range o.k {
				sum += o.product(a[i*o.k+k], b[k*o.n+j])
			}
			// .satfinite saturates the sum, not each step.
			if o.satfinite {
				sum = min(max(sum, math.MinInt32), math.MaxInt32)
			}
			c[i*o.n+j] = sum
		}
	}
	scatter(w, o, c[:], func(v int64) uint64 { return uint64(uint32(v)) })
}

// product returns the product of two integers, or a bit operation on them.
func (o *matrixOp) product(a, b int64) int64 {
	switch o.bitwise {
	case "xor":
		return a ^ b
	case "and":
		return a & b
	}
	return a * b
}

// loadFragment is wmma.load: each lane reads its elements from the tile whose first
// element is at its address. in.x.e is the distance of rows, or columns, in elements.
func loadFragment(w *warp, in *inst) {
	if !w.requireFullWarp(in) {
		return
	}
	eachElement(w, in, &in.x.matrix.d, func(e element, lane, shift, size int, addr uint64) uint64 {
		p := w.span(in, addr, uint64(size), lane)
		if p == nil {
			return 0
		}
		v := readCell(p, size) << shift
		if shift > 0 {
			v |= w.lane(e, lane)
		}
		w.setLane(e, lane, v)
		return uint64(size)
	})
}

// storeFragment is wmma.store.
func storeFragment(w *warp, in *inst) {
	if !w.requireFullWarp(in) {
		return
	}
	w.polls = 0
	eachElement(w, in, &in.x.matrix.d, func(e element, lane, shift, size int, addr uint64) uint64 {
		p := w.span(in, addr, uint64(size), lane)
		if p == nil {
			return 0
		}
		writeCell(p, size, w.lane(e, lane)>>shift)
		return uint64(size)
	})
}

// eachElement calls access for the parts of a fragment in memory: whole registers if
// their elements are adjacent, else single elements. shift is the position of the part
// in the register. It counts sectors and stops at a fault.
func eachElement(w *warp, in *inst, f *matrixFragment, access func(e element, lane, shift, size int, addr uint64) uint64) {
	o := in.x.matrix
	strides := view[uint32](w, in.x.e)
	pieces, size := f.perRegister(), f.bits/8
	if o.neighbours(f) {
		pieces, size = 1, max(4, f.bits/8)
	}
	var sectors sectorSet
	for r, e := range f.regs {
		for piece := range pieces {
			for lane := range lanes {
				row, col := o.place(f, r, piece, lane)
				if o.colMajor {
					row, col = col, row
				}
				at := uint64(row)*uint64(strides[lane]) + uint64(col)
				addr := w.address(in, lane) + at*uint64(f.bits)/8
				n := access(e, lane, piece*f.bits, size, addr)
				if n == 0 {
					return
				}
				sectors.add(addr, n)
			}
		}
	}
	w.countSectors(in, sectors.count)
}

// neighbours reports whether the elements of a register are adjacent in memory. They
// share a row, or a column of matrix b.
func (o *matrixOp) neighbours(f *matrixFragment) bool {
	return f.perRegister() == 1 || (f.role == 'b') == o.colMajor
}

// loadTiles is ldmatrix. Lane i has the address of row i%8 of tile i/8, a row of eight
// 16-bit elements. Each lane gets two adjacent elements of row lane/4 of each tile.
func loadTiles(w *warp, in *inst) {
	eachTileElement(w, in, func(e element, lane, half int, addr uint64) bool {
		p := w.span(in, addr, 2, lane)
		if p == nil {
			return false
		}
		v := readCell(p, 2)
		if half == 1 {
			v = v<<16 | w.lane(e, lane)
		}
		w.setLane(e, lane, v)
		return true
	})
}

// storeTiles is stmatrix.
func storeTiles(w *warp, in *inst) {
	w.polls = 0
	eachTileElement(w, in, func(e element, lane, half int, addr uint64) bool {
		p := w.span(in, addr, 2, lane)
		if p == nil {
			return false
		}
		writeCell(p, 2, w.lane(e, lane)>>(16*half))
		return true
	})
}

// eachTileElement calls access for the two elements of each 8x8 tile that a lane
// holds, with their addresses. It stops when access returns false. The row
// addresses are read first, since a destination may be the address register.
func eachTileElement(w *warp, in *inst, access func(e element, lane, half int, addr uint64) bool) {
	if !w.requireFullWarp(in) {
		return
	}
	var rows [lanes]uint64 // a destination may be the address register
	for i := range rows {
		rows[i] = w.address(in, i)
	}
	o := in.x.matrix
	for tile, e := range o.d.regs {
		for lane := range lanes {
			for half := range 2 {
				row, col := lane/4, 2*(lane%4)+half
				if o.trans {
					row, col = col, row
				}
				if !access(e, lane, half, rows[8*tile+row]+uint64(2*col)) {
					return
				}
			}
		}
	}
}

// transpose is movmatrix: it transposes an 8x8 tile of 16-bit elements.
func transpose(w *warp, in *inst) {
	if !w.requireFullWarp(in) {
		return
	}
	a, d := *view[uint32](w, in.a), view[uint32](w, in.d)
	for lane := range lanes {
		var v uint32
		for half := range 2 {
			row, col := 2*(lane%4)+half, lane/4 // of a
			v |= a[4*row+col/2] >> (16 * (col % 2)) & 0xffff << (16 * half)
		}
		d[lane] = v
	}
}

// quadPairs is mma.m8n8k4 on f16. Lanes 4i to 4i+3 and 16+4i to 16+4i+3 compute product i,
// in a separate layout; see "Matrix Fragments for mma.m8n8k4 with .f16" in the PTX ISA.
func quadPairs(w *warp, in *inst) {
	if !w.requireFullWarp(in) {
		return
	}
	o := in.x.matrix
	for quad := range 4 {
		var a, b [32]float64
		var c [64]float64
		o.eachQuad(w, quad, &o.a, func(lane, i int, v uint64) uint64 { a[o.quadA(lane, i)] = o.a.number(v); return v })
		o.eachQuad(w, quad, &o.b, func(lane, i int, v uint64) uint64 { b[o.quadB(lane, i)] = o.b.number(v); return v })
		o.eachQuad(w, quad, &o.c, func(lane, i int, v uint64) uint64 { c[o.c.quadC(lane, i)] = o.c.number(v); return v })
		for i := range 8 {
			for j := range 8 {
				for k := range 4 {
					c[8*i+j] = math.FMA(a[4*i+k], b[8*k+j], c[8*i+j])
				}
			}
		}
		o.eachQuad(w, quad, &o.d, func(lane, i int, _ uint64) uint64 { return o.d.encode(c[o.d.quadC(lane, i)]) })
	}
}

// eachQuad replaces the elements in the eight lanes of a product.
func (o *matrixOp) eachQuad(w *warp, quad int, f *matrixFragment, visit func(lane, i int, v uint64) uint64) {
	for n := range 8 {
		lane := 4*quad + n%4 + n/4*16
		for r, e := range f.regs {
			old := w.lane(e, lane)
			var v uint64
			for j := range f.perRegister() {
				v |= visit(lane, r*f.perRegister()+j, f.element(old, j)) << (j * f.bits)
			}
			if f.role == 'd' {
				w.setLane(e, lane, v)
			}
		}
	}
}

// quadA, quadB and quadC return the index of element i of a lane, by rows of four,
// eight and eight.
func (o *matrixOp) quadA(lane, i int) int {
	row, col := lane%4+lane/16*4, i
	if !o.rowA {
		row, col = i%4+lane/16*4, lane%4
	}
	return 4*row + col
}

// quadB is quadA for matrix b.
func (o *matrixOp) quadB(lane, i int) int {
	row, col := lane%4, i+lane/16*4
	if o.colB {
		row, col = i, lane%4+lane/16*4
	}
	return 8*row + col
}

// quadC is quadA for matrices c and d.
func (f *matrixFragment) quadC(lane, i int) int {
	if f.bits == 16 {
		return 8*(lane%4+lane/16*4) + i
	}
	return 8*(lane&1+i&2+lane/16*4) + i&4 + lane&2 + i&1
}
