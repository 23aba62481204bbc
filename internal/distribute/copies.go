package distribute

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/ptx/access"
	"github.com/reprise-gpu/reprise/ir"
)

// fill adds the buffer of copies and the operation that fills it.
func (p *privatiser) fill(v ir.OpID, u updated) Private {
	bits, _ := identity(u.Update)
	word := uint32(bits)
	launched := u.Type.Size() == 8 && word != uint32(bits>>32) // a fill writes words
	unit := int64(rangeUnit)
	if launched {
		unit = fillThreads * 8
	}
	stride := (u.bytes.Hi - u.bytes.Lo + unit - 1) / unit * unit
	b := &p.old.Buffers[u.bytes.Buffer]
	id := ir.BufferID(len(p.new.Buffers))
	size := stride * int64(len(p.layout.Devices))
	p.new.Buffers = append(p.new.Buffers, ir.Buffer{Name: fmt.Sprintf("%s.copies%d", b.Name, id), Elem: ir.U32, Len: size / 4})
	p.new.Made++
	p.rows[id] = stride
	if launched {
		p.fills[p.launchFill(v, id, size, bits, b.Name)] = true
	} else {
		p.add(ir.Op{
			Kind: ir.KindMemset, Cost: -1, Pos: p.old.Ops[v].Pos,
			Memset: &ir.Memset{Dst: ir.Range{Buffer: id, Hi: size}, Value: ir.Scalar{Type: ir.U32, Bits: uint64(word)}},
		}, v)
	}
	return Private{Arg: u.arg, Copies: id, Stride: stride, Lo: u.bytes.Lo}
}

// fillThreads is the number of threads of a block that fills copies. Each writes an element of eight bytes.
const fillThreads = 256

// launchFill adds the launch that fills copies with elements of eight bytes. Each device runs the blocks of its row.
func (p *privatiser) launchFill(v ir.OpID, copies ir.BufferID, size int64, bits uint64, name string) ir.OpID {
	return p.add(ir.Op{
		Kind: ir.KindLaunch, Cost: -1, Pos: p.old.Ops[v].Pos, Label: "fill copies of " + name,
		Launch: &ir.Launch{
			Module: p.made("fill_b64", fillPTX), Entry: "fill",
			Grid: ir.Dim3{X: uint32(size / (fillThreads * 8)), Y: 1, Z: 1}, Block: ir.Dim3{X: fillThreads, Y: 1, Z: 1},
			Args: []ir.Arg{{Kind: ir.ArgBuffer, Buffer: copies}, {Kind: ir.ArgScalar, Scalar: ir.Scalar{Type: ir.U64, Bits: bits}}},
		},
		Uses: []ir.Access{{Range: ir.Range{Buffer: copies, Hi: size}, Mode: ir.Write}},
	}, v)
}

// foldThreads is the number of threads of a block that folds copies.
const foldThreads = 256

// fold adds the launch that folds the copies into the buffer.
func (p *privatiser) fold(v ir.OpID, u updated, c Private) ir.OpID {
	n := (u.bytes.Hi - u.bytes.Lo) / int64(u.Type.Size())
	count := len(p.layout.Devices)
	scalar := func(t ir.Type, x int64) ir.Arg {
		return ir.Arg{Kind: ir.ArgScalar, Scalar: ir.Scalar{Type: t, Bits: uint64(x)}}
	}
	id := p.add(ir.Op{
		Kind: ir.KindLaunch, Cost: -1, Pos: p.old.Ops[v].Pos, Label: "fold copies of " + p.old.Buffers[u.bytes.Buffer].Name,
		Launch: &ir.Launch{
			Module: p.made(fmt.Sprintf("fold_%s_%v", u.Op, u.Type), foldPTX(u.Update)), Entry: "fold",
			Grid: ir.Dim3{X: uint32((n + foldThreads - 1) / foldThreads), Y: 1, Z: 1}, Block: ir.Dim3{X: foldThreads, Y: 1, Z: 1},
			Args: []ir.Arg{
				{Kind: ir.ArgBuffer, Buffer: u.bytes.Buffer, Offset: u.bytes.Lo}, {Kind: ir.ArgBuffer, Buffer: c.Copies},
				scalar(ir.U32, n), scalar(ir.U32, int64(count)), scalar(ir.U32, c.Stride),
			},
		},
		Uses: []ir.Access{
			{Range: u.bytes, Mode: ir.ReadWrite}, {Range: ir.Range{Buffer: c.Copies, Hi: c.Stride * int64(count)}, Mode: ir.Read},
		},
	}, v)
	p.folds[id] = true
	return id
}

// made returns the module that is made with a name and a text, whose kernels fill or fold copies.
func (p *privatiser) made(name, text string) ir.ModuleID {
	if id, is := p.modules[name]; is {
		return id
	}
	unique := name
	for slices.ContainsFunc(p.new.Modules, func(m ir.Module) bool { return m.Name == unique || m.File == unique+".ptx" }) {
		unique += "_"
	}
	id := ir.ModuleID(len(p.new.Modules))
	p.new.Modules = append(p.new.Modules, ir.Module{Name: unique, File: unique + ".ptx", Source: text})
	p.new.Generated++
	p.modules[name] = id
	return id
}

// fillPTX is a kernel that sets element i of copies, of eight bytes, to value, in thread i.
const fillPTX = `.version 6.0
.target sm_50
.address_size 64

.visible .entry fill(.param .u64 copies, .param .u64 value)
{
	.reg .u32 %r<5>;
	.reg .u64 %rd<5>;
	ld.param.u64 %rd1, [copies];
	ld.param.u64 %rd2, [value];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.u32 %r4, %r1, %r2, %r3;
	mul.wide.u32 %rd3, %r4, 8;
	add.u64 %rd4, %rd1, %rd3;
	st.global.u64 [%rd4], %rd2;
	ret;
}
`

// foldPTX returns a kernel that updates dst[i] by element i of each of count copies, for i < n. The copies are stride bytes
// apart.
func foldPTX(u access.Update) string {
	size, typ := u.Type.Size(), u.Type.String()
	op := u.Op + "." + typ
	if u.Op == "and" || u.Op == "or" || u.Op == "xor" {
		op = fmt.Sprintf("%s.b%d", u.Op, 8*size)
	}
	if u.Type == ptx.F32 || u.Type == ptx.F64 {
		op = u.Op + ".rn." + typ
	}
	return strings.NewReplacer("OP", op, "TYPE", typ, "SIZE", fmt.Sprint(size)).Replace(`.version 6.0
.target sm_50
.address_size 64

.visible .entry fold(.param .u64 dst, .param .u64 copies, .param .u32 n, .param .u32 count, .param .u32 stride)
{
	.reg .pred %p<3>;
	.reg .u32 %r<9>;
	.reg .u64 %rd<8>;
	.reg .TYPE %x<3>;
	ld.param.u64 %rd1, [dst];
	ld.param.u64 %rd2, [copies];
	ld.param.u32 %r1, [n];
	ld.param.u32 %r2, [count];
	ld.param.u32 %r8, [stride];
	cvt.u64.u32 %rd3, %r8;
	mov.u32 %r3, %ctaid.x;
	mov.u32 %r4, %ntid.x;
	mov.u32 %r5, %tid.x;
	mad.lo.u32 %r6, %r3, %r4, %r5;
	setp.ge.u32 %p1, %r6, %r1;
	@%p1 bra DONE;
	mul.wide.u32 %rd4, %r6, SIZE;
	add.u64 %rd5, %rd1, %rd4;
	add.u64 %rd6, %rd2, %rd4;
	ld.global.TYPE %x1, [%rd5];
	mov.u32 %r7, 0;
LOOP:
	ld.global.TYPE %x2, [%rd6];
	OP %x1, %x1, %x2;
	add.u64 %rd6, %rd6, %rd3;
	add.u32 %r7, %r7, 1;
	setp.lt.u32 %p2, %r7, %r2;
	@%p2 bra LOOP;
	st.global.TYPE [%rd5], %x1;
DONE:
	ret;
}
`)
}
