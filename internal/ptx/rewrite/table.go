package rewrite

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// Table is the layout of the table that a batch reads its arguments from. It must be aligned to
// 16 bytes, and must not change while a launch runs.
//
//	0                Header           Header+Stride
//	│ rows in use │   │ row 0          │ row 1          │ …
//	└ if Partial ─┘   │ a │ b │ pad    │ a │ b │ pad    │
type Table struct {
	Header int // bytes before the first row
	Stride int // bytes of a row, a multiple of 16
	Fields []Field
	grid   func(rows int) [3]uint32
	params int     // bytes of an original parameter block
	count  bool    // begins with the number of rows in use
	uneven *uneven // of grids of unequal size, else nil
}

// Field is a parameter in a row.
type Field struct {
	Param  int // index in the original kernel
	Offset int // in the row, bytes
	Size   int // bytes
	from   int // offset in the original parameter block
}

// tableAlign is the alignment of the table and its rows, that of the widest load.
const tableAlign = 16

// newTable returns the layout for the parameters that differ.
func newTable(f *ptx.Func, differs func(i int) bool, o *BatchOptions) *Table {
	t := &Table{params: f.ParamBytes(), count: o.Partial}
	switch {
	case o.Grids != nil:
		t.uneven = newUneven(o.Grids)
		t.Header, t.Stride = t.uneven.header(), 4*(1+len(t.uneven.figures))
	case o.Partial:
		t.Header = tableAlign
	}
	for i, v := range f.Params {
		if !differs(i) {
			continue
		}
		offset := alignTo(t.Stride, v.Align)
		t.Fields = append(t.Fields, Field{i, offset, int(v.Size()), v.Offset})
		t.Stride = offset + int(v.Size())
	}
	t.Stride = alignTo(t.Stride, tableAlign)
	return t
}

// alignTo rounds n up to a multiple of a power of two.
func alignTo(n, align int) int { return (n + align - 1) &^ (align - 1) }

// Grid returns the grid of a launch that runs the first rows of a table of equal grids. For
// others see PutGrids.
func (t *Table) Grid(rows int) [3]uint32 {
	if t.grid == nil {
		return [3]uint32{}
	}
	return t.grid(rows)
}

// Bytes returns the size of a table of n rows.
func (t *Table) Bytes(n int) int { return t.Header + n*t.Stride }

// PutRow writes row i of a table. block is the parameter block of the instance for the original
// kernel; parameters that are equal for all instances are ignored.
func (t *Table) PutRow(table []byte, i int, block []byte) error {
	if len(block) < t.params {
		return fmt.Errorf("rewrite: the parameter block of row %d has %d bytes: the kernel has %d", i, len(block), t.params)
	}
	if i < 0 || t.Bytes(i+1) > len(table) {
		return fmt.Errorf("rewrite: row %d is outside a table of %d bytes", i, len(table))
	}
	row := table[t.Header+i*t.Stride:]
	for _, f := range t.Fields {
		copy(row[f.Offset:f.Offset+f.Size], block[f.from:])
	}
	return nil
}

// PutCount writes the number of rows in use. Blocks of the other instances leave at once. It has
// no effect without BatchOptions.Partial.
func (t *Table) PutCount(table []byte, n int) {
	if t.count {
		binary.LittleEndian.PutUint32(table, uint32(n))
	}
}

// Layout returns a table with the rows of the given instances, all in use. If their grids
// differ, PutGrids must be called, too.
func (t *Table) Layout(blocks ...[]byte) ([]byte, error) {
	table := make([]byte, t.Bytes(len(blocks)))
	t.PutCount(table, len(blocks))
	for i, b := range blocks {
		if err := t.PutRow(table, i, b); err != nil {
			return nil, err
		}
	}
	return table, nil
}

// fromTable makes the differing parameters loads from the row of the block's instance. An
// instruction that takes the address of one takes that of the field, so that all parameters
// whose address is taken are in the table.
//
//	ld.param.u64       %table, [table];              declared .ptr .global: no cvta is needed
//	mad.wide.u32       %row, %instance, Stride, %table;
//	…
//	ld.global.nc.u64   %rd1, [%row+Offset];          was ld.param.u64 %rd1, [p];
func (b *batch) fromTable(place *placement, vals values) error {
	differs, err := b.inTable()
	if err != nil {
		return err
	}
	t := newTable(b.kernel, differs, &b.options)
	t.grid = place.gridFor
	b.result.Table = t
	original := b.kernel.Params
	b.kernel.Params = nil
	for i, v := range original {
		if !differs(i) {
			b.kernel.Params = append(b.kernel.Params, v)
			b.result.Params = append(b.result.Params, Origin{Argument, -1, i})
		}
	}
	row := b.rowOf(place, t, vals)
	fields := map[*ptx.Var]int64{}
	for _, f := range t.Fields {
		fields[original[f.Param]] = int64(t.Header + f.Offset)
	}
	for i := range b.kernel.Body {
		if err := b.readRow(&b.kernel.Body[i], row, fields); err != nil {
			return err
		}
	}
	return nil
}

// rowOf declares the parameters of the table and returns a register with the address of the row of the block's instance.
func (b *batch) rowOf(place *placement, t *Table, vals values) ptx.Operand {
	param := b.result.add(b.kernel, Origin{Kind: TableAddress}, ptx.U64, b.tag+"_table")
	param.Ptr = ptx.PtrAttr{Present: true, Space: ptx.Global, Align: tableAlign}
	table, row := b.reg("table", ptx.B64), b.reg("row", ptx.B64)
	b.emit("ld.param.u64", table, memory(param, 0))
	switch {
	case b.options.Source == FromRows:
		b.rowInList(place, table, row)
		return row
	case t.uneven != nil:
		b.findRow(t, table, row, vals)
		return row
	case t.count:
		b.leaveAbove(place.index, table)
	}
	b.emit("mad.wide.u32", row, place.index, number(uint32(t.Stride)), table)
	return row
}

// rowInList loads the address of a row from a list:
//
//	mad.wide.u32      %row, %instance, 8, %table;
//	ld.global.nc.u64  %row, [%row];
//	setp.eq.u64       %none, %row, 0;
//	@%none exit;
//	ld.param.u32      %offset, [offset];
//	mad.wide.u32      %row, %offset, 1, %row;
func (b *batch) rowInList(place *placement, table, row ptx.Operand) {
	param := b.result.add(b.kernel, Origin{Kind: RowOffset}, ptx.U32, b.tag+"_offset")
	none, offset := b.reg("none", ptx.Pred), b.reg("offset", ptx.B32)
	b.emit("mad.wide.u32", row, place.index, number(8), table)
	b.emit("ld.global.nc.u64", row, memoryAt(row, 0))
	b.emit("setp.eq.u64", none, row, number(0))
	b.guarded(when(none), "exit")
	b.emit("ld.param.u32", offset, memory(param, 0))
	b.emit("mad.wide.u32", row, offset, number(1), row)
}

// inTable decides which parameters are in the table: those that differ, and if one of these has
// its address taken, all whose address is taken, since a load through a register may be of any.
func (b *batch) inTable() (func(int) bool, error) {
	taken := make([]bool, len(b.kernel.Params))
	eachOperand(b.kernel, func(_ *ptx.Inst, op *ptx.Operand) {
		if op.Var == nil || op.Kind != ptx.OpSymbol {
			return
		}
		if j := slices.Index(b.kernel.Params, op.Var); j >= 0 {
			taken[j] = true
			b.addresses = b.addresses || b.options.differs(j)
		}
	})
	if b.addresses {
		for _, f := range b.bodies() {
			if f != b.kernel && readsParamsByAddress(f) {
				return nil, refuse(b.kernel.Name, "function %s loads parameters through an address", f.Name)
			}
			if comparesWithParamSpace(f) {
				return nil, refuse(b.kernel.Name, "isspacep finds whether an address is that of a parameter, and those in the table are in global memory")
			}
		}
	}
	return func(j int) bool { return b.options.differs(j) || b.addresses && taken[j] }, nil
}

// readsParamsByAddress reports whether f loads .param memory through a register.
func readsParamsByAddress(f *ptx.Func) bool {
	return slices.ContainsFunc(f.Body, func(in ptx.Inst) bool {
		return in.Name == "ld" && slices.ContainsFunc(in.Suffix, isParamSuffix) && in.Args[1].Reg != ptx.NoReg
	})
}

// comparesWithParamSpace reports whether f compares an address with the .param space.
func comparesWithParamSpace(f *ptx.Func) bool {
	return slices.ContainsFunc(f.Body, func(in ptx.Inst) bool { return in.Name == "isspacep" && slices.ContainsFunc(in.Suffix, isParamSuffix) })
}

// isParamSuffix reports whether a suffix names the .param space, "param" or "param::entry".
func isParamSuffix(s string) bool { space, _ := ptx.ParseSpace(s); return space == ptx.ParamSpace }

// readRow changes an instruction of the kernel that refers to a parameter in the table.
func (b *batch) readRow(in *ptx.Inst, row ptx.Operand, fields map[*ptx.Var]int64) error {
	for i := range in.Args {
		op := &in.Args[i]
		offset, ok := fields[op.Var]
		byAddress := op.Kind == ptx.OpMem && op.Reg != ptx.NoReg && in.Name == "ld" && slices.ContainsFunc(in.Suffix, isParamSuffix) && b.addresses
		switch {
		case in.Name == "ld" && op.Kind == ptx.OpMem && (ok || byAddress):
			if ok {
				*op = memoryAt(row, offset+op.Imm)
			}
			in.Suffix = replaceParam(in.Suffix, "global", "nc")
		case !ok && in.Name == "cvta" && slices.ContainsFunc(in.Suffix, isParamSuffix) && b.addresses:
			in.Suffix = replaceParam(in.Suffix, "global")
		case !ok:
		case in.Name == "mov" && lastType(in).Size() == 8:
			*in = ptx.Inst{Guard: in.Guard, Name: "add", Suffix: []string{"s64"}, Args: []ptx.Operand{in.Args[0], row, number(uint32(offset + op.Imm))}}
			return nil
		default:
			return refuse(b.kernel.Name, "%s takes the address of parameter %s, which is in the table", in.Opcode(), op.Var.Name)
		}
	}
	return nil
}

// replaceParam returns suffixes with others in place of the .param space.
func replaceParam(suffix []string, with ...string) []string {
	at := slices.IndexFunc(suffix, isParamSuffix)
	return slices.Concat(suffix[:at], with, suffix[at+1:])
}
