package rewrite

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// uneven is the part of a table whose instances have grids of unequal size. The launch has one
// dimension, and block b belongs to the last row i with starts[i] <= b. A row begins with the
// figures of its grid:
//
//	0             16
//	│ blocks │pad │ starts[0] │ starts[1] │ … capacity, filled up with 2^32-1 │ row 0: start, figures, fields │ …
type uneven struct {
	capacity int          // rows, a power of two
	dims     int          // of the grids
	figures  []OriginKind // in a row, behind the start
}

// newUneven returns the layout for grids of up to as many dimensions as those given.
func newUneven(grids [][3]uint32) *uneven {
	u := &uneven{capacity: 1 << bits.Len(uint(len(grids)-1)), dims: 1}
	for _, g := range grids {
		u.dims = max(u.dims, dimensions(g))
	}
	u.figures = []OriginKind{GridX}
	if u.dims > 1 {
		u.figures = append(u.figures, GridY, GridMinusX, GridMagicX, GridShiftX)
	}
	if u.dims > 2 {
		u.figures = append(u.figures, GridZ, GridMinusY, GridMagicY, GridShiftY)
	}
	return u
}

// dimensions returns the number of dimensions of a grid: further extents are 1.
func dimensions(grid [3]uint32) int {
	switch {
	case grid[2] > 1:
		return 3
	case grid[1] > 1:
		return 2
	}
	return 1
}

// header returns the bytes before the first row.
func (u *uneven) header() int { return alignTo(tableAlign+4*u.capacity, tableAlign) }

// PutGrids writes the grids of the first rows of a table of unequal grids, and returns the grid
// of the launch. Only these rows are in use: blocks of a larger launch leave at once. An error is
// a table with equal grids, or a grid that it cannot hold.
func (t *Table) PutGrids(table []byte, grids [][3]uint32) (launch [3]uint32, err error) {
	u := t.uneven
	switch {
	case u == nil:
		return launch, fmt.Errorf("rewrite: the rows of the table have equal grids")
	case len(grids) == 0 || len(grids) > u.capacity || t.Bytes(len(grids)) > len(table):
		return launch, fmt.Errorf("rewrite: %d grids do not fit a table of %d bytes and at most %d rows", len(grids), len(table), u.capacity)
	}
	total := uint64(0)
	for i, g := range grids {
		if blocks(g) == 0 || dimensions(g) > u.dims || total+blocks(g) > maxRangeBlocks {
			return launch, fmt.Errorf("rewrite: grid %v of row %d does not fit the table: it must have 1 to %d dimensions, and all grids 1 to %d blocks together", g, i, u.dims, maxRangeBlocks)
		}
		binary.LittleEndian.PutUint32(table[tableAlign+4*i:], uint32(total))
		row := table[t.Header+i*t.Stride:]
		binary.LittleEndian.PutUint32(row, uint32(total))
		for k, figure := range u.figures {
			binary.LittleEndian.PutUint32(row[4+4*k:], figure.value(g, 0))
		}
		total += blocks(g)
	}
	for i := len(grids); i < u.capacity; i++ {
		binary.LittleEndian.PutUint32(table[tableAlign+4*i:], math.MaxUint32)
	}
	binary.LittleEndian.PutUint32(table, uint32(total))
	return [3]uint32{uint32(total), 1, 1}, nil
}

// findRow emits the search for the row of the block, and the coordinates in its grid. The search
// halves the rows that are left, without a branch:
//
//	ld.global.nc.u32  %total, [%table];
//	setp.ge.u32       %outside, %block, %total;
//	@%outside exit;
//	mov.u64           %at, %table;
//	ld.global.nc.u32  %start, [%at+16+4*step];         for step = capacity/2, …, 2, 1
//	setp.ge.u32       %above, %block, %start;
//	@%above add.s64   %at, %at, 4*step;
func (b *batch) findRow(t *Table, table, row ptx.Operand, vals values) {
	block := b.special("%ctaid.x")
	b.leaveAbove(block, table)
	at := b.reg("at", ptx.B64)
	b.emit("mov.u64", at, table)
	for step := t.uneven.capacity / 2; step > 0; step /= 2 {
		start, above := b.reg("start", ptx.B32), b.reg("above", ptx.Pred)
		b.emit("ld.global.nc.u32", start, memoryAt(at, int64(tableAlign+4*step)))
		b.emit("setp.ge.u32", above, block, start)
		b.guarded(when(above), "add.s64", at, at, number(uint32(4*step)))
	}
	four := b.reg("instance_times_4", ptx.B32)
	b.emit("sub.s64", at, at, table)
	b.emit("cvt.u32.u64", four, at)
	b.emit("mad.wide.u32", row, four, number(uint32(t.Stride/4)), table)

	g := &gridMath{emitter: b.emitter, used: b.used, vals: vals}
	figure := func(k int, name string) ptx.Operand {
		r := b.reg(name, ptx.B32)
		b.emit("ld.global.nc.u32", r, memoryAt(row, int64(t.Header+4*k)))
		return r
	}
	g.load = func(kind OriginKind, name string) ptx.Operand {
		return figure(1+slices.Index(t.uneven.figures, kind), name)
	}
	for i := range axes {
		vals["%ctaid"+axes[i]], vals["%nctaid"+axes[i]] = number(0), number(1)
	}
	if g.reads("%ctaid", t.uneven.dims) {
		index := b.reg("index", ptx.B32)
		b.emit("sub.u32", index, block, figure(0, "first"))
		g.coordinates(index, t.uneven.dims)
	}
	g.extents(t.uneven.dims)
}

// leaveAbove makes blocks leave whose index is at least the first word of the table.
func (b *batch) leaveAbove(index, table ptx.Operand) {
	count, outside := b.reg("count", ptx.B32), b.reg("outside", ptx.Pred)
	b.emit("ld.global.nc.u32", count, memoryAt(table, 0))
	b.emit("setp.ge.u32", outside, index, count)
	b.guarded(when(outside), "exit")
}
