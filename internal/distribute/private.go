package distribute

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/ptx/access"
	"github.com/reprise-gpu/reprise/ir"
)

// Private is an argument of a launch for which each device has a copy of its own. Device d passes the address of byte
// d*Stride of buffer Copies, less Lo, the first byte of the argument's buffer that the launch updates.
type Private struct {
	Arg    int
	Copies ir.BufferID
	Stride int64
	Lo     int64
}

// privatiser gives launches with atomic updates a copy of the updated bytes on each device:
//
//	launch counts[x[i]] += 1     ==>     copies = 0
//	                                     launch copies[device][x[i]] += 1
//	                                     counts += copies[0] + copies[1] + …, on every device
//
// The copies are a buffer with a row for each device. The rows are filled with the identity of the operation, and a kernel
// folds them in the order of devices. Transfers follow from these accesses like all others. Sums of floating-point numbers
// are thereby regrouped, in the same way in each run.
type privatiser struct {
	*splitter
	old     *ir.Graph
	new     *ir.Graph
	at      []ir.OpID             // by operation of old: its id in new
	private map[ir.OpID][]Private // by operation of new
	rows    map[ir.BufferID]int64
	folds   map[ir.OpID]bool              // operations of new that fold copies
	modules map[access.Update]ir.ModuleID // kernels that fold
}

// privatise returns the graph with copies. The splitter then works on it.
func (s *splitter) privatise() {
	if len(s.layout.Devices) == 1 {
		return
	}
	p := &privatiser{splitter: s, old: s.g, private: map[ir.OpID][]Private{}, rows: map[ir.BufferID]int64{}, folds: map[ir.OpID]bool{}, modules: map[access.Update]ir.ModuleID{}}
	changes := make([][]updated, s.g.Len())
	any := false
	for v := range s.g.Ops {
		if op := &s.g.Ops[v]; op.Kind == ir.KindLaunch {
			changes[v] = s.updates(op)
			any = any || len(changes[v]) > 0
		}
	}
	if !any {
		return
	}
	p.rewrite(changes)
	s.g, s.private, s.rows, s.folds = p.new, p.private, p.rows, p.folds
	s.reach = newReacher(p.new)
}

// maxCopies is the largest number of bytes of the copies of a launch, on all devices together: each device reads all of them to
// fold them. A launch that updates more runs on one device.
const maxCopies = 64 << 20

// updated is an argument through which a launch only makes updates.
type updated struct {
	arg int
	access.Update
	bytes ir.Range
}

// updates returns the arguments that must be private so that a launch can be split. It returns none if the launch can be
// split without, or cannot be split at all.
func (s *splitter) updates(op *ir.Op) (list []updated) {
	x := s.reach.launch(op)
	axis, _ := s.axis(op.Launch.Grid)
	if x.reason != "" || axis < 0 || s.cut(x, axis, nil).How == Split {
		return nil
	}
	for _, row := range x.footprint.Effects.Params {
		arg := &op.Launch.Args[row.Param]
		if row.Update == nil || arg.Kind != ir.ArgBuffer || identity(*row.Update) == nil {
			continue
		}
		u := updated{arg: row.Param, Update: *row.Update, bytes: ir.Range{Buffer: arg.Buffer}}
		for _, a := range op.Uses {
			if a.Buffer == arg.Buffer {
				u.bytes = hull(u.bytes, a.Range)
			}
		}
		if !u.bytes.Empty() && s.sole(op, row.Param, arg.Buffer) {
			list = append(list, u)
		}
	}
	bytes := int64(0)
	for _, u := range list {
		bytes += u.bytes.Hi - u.bytes.Lo
	}
	if len(list) == 0 || bytes > maxCopies/int64(len(s.layout.Devices)) || s.cut(x, axis, privateArgs(list)).How != Split {
		return nil
	}
	return list
}

func hull(a, b ir.Range) ir.Range {
	if a.Empty() {
		return b
	}
	return ir.Range{Buffer: a.Buffer, Lo: min(a.Lo, b.Lo), Hi: max(a.Hi, b.Hi)}
}

// sole reports whether no other argument passes the buffer.
func (s *splitter) sole(op *ir.Op, arg int, b ir.BufferID) bool {
	for i, a := range op.Launch.Args {
		if i != arg && a.Kind == ir.ArgBuffer && a.Buffer == b {
			return false
		}
	}
	return true
}

// privateArgs returns privates without buffers, to examine whether a launch can be split.
func privateArgs(list []updated) (p []Private) {
	for _, u := range list {
		p = append(p, Private{Arg: u.arg, Copies: -1})
	}
	return p
}

// identity returns the word with which copies are filled, or nil if no fill makes the identity of the update.
func identity(u access.Update) *uint32 {
	word := func(x uint32) *uint32 { return &x }
	name := u.Type.String()
	switch {
	case u.Type.Size() < 4 || strings.Contains(name, "x2"):
		return nil
	case u.Op == "add" || u.Op == "or" || u.Op == "xor":
		return word(0)
	case u.Op == "and":
		return word(^uint32(0))
	case strings.HasPrefix(name, "u") && u.Op == "min":
		return word(^uint32(0))
	case strings.HasPrefix(name, "u") && u.Op == "max":
		return word(0)
	case name == "s32" && u.Op == "min":
		return word(1<<31 - 1)
	case name == "s32" && u.Op == "max":
		return word(1 << 31)
	}
	return nil
}

// rewrite builds the new graph.
func (p *privatiser) rewrite(changes [][]updated) {
	c := *p.old
	p.new = &c
	p.new.Phase = ir.Traced
	p.new.Modules, p.new.Buffers = slices.Clone(c.Modules), slices.Clone(c.Buffers)
	p.new.Ops, p.new.Origin = nil, nil
	p.at = make([]ir.OpID, len(p.old.Ops))
	for v := range p.old.Ops {
		op := p.old.Ops[v]
		op.After = slices.Clone(op.After)
		for i, u := range op.After {
			op.After[i] = p.at[u]
		}
		var list []Private
		for _, u := range changes[v] {
			list = append(list, p.fill(ir.OpID(v), u))
		}
		id := p.add(op, ir.OpID(v))
		p.at[v] = id
		if len(list) == 0 {
			continue
		}
		p.private[id] = list
		for i, u := range changes[v] {
			p.at[v] = p.fold(ir.OpID(v), u, list[i])
		}
	}
}

// add appends an operation that stands for one of the old graph.
func (p *privatiser) add(op ir.Op, of ir.OpID) ir.OpID {
	origin := of
	if p.old.Origin != nil {
		origin = p.old.Origin[of]
	}
	p.new.Ops, p.new.Origin = append(p.new.Ops, op), append(p.new.Origin, origin)
	return ir.OpID(len(p.new.Ops) - 1)
}

// fill adds the buffer of copies and the operation that fills it.
func (p *privatiser) fill(v ir.OpID, u updated) Private {
	stride := (u.bytes.Hi - u.bytes.Lo + rangeUnit - 1) / rangeUnit * rangeUnit
	b := &p.old.Buffers[u.bytes.Buffer]
	id := ir.BufferID(len(p.new.Buffers))
	size := stride * int64(len(p.layout.Devices))
	p.new.Buffers = append(p.new.Buffers, ir.Buffer{Name: fmt.Sprintf("%s.copies%d", b.Name, id), Elem: ir.U32, Len: size / 4})
	p.new.Made++
	p.rows[id] = stride
	p.add(ir.Op{
		Kind: ir.KindMemset, Cost: -1, Pos: p.old.Ops[v].Pos,
		Memset: &ir.Memset{Dst: ir.Range{Buffer: id, Hi: size}, Value: ir.Scalar{Type: ir.U32, Bits: uint64(*identity(u.Update))}},
	}, v)
	return Private{Arg: u.arg, Copies: id, Stride: stride, Lo: u.bytes.Lo}
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
			Module: p.module(u.Update), Entry: "fold",
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

// module returns the module with the kernel that folds copies by an update.
func (p *privatiser) module(u access.Update) ir.ModuleID {
	if id, is := p.modules[u]; is {
		return id
	}
	name := fmt.Sprintf("fold_%s_%v", u.Op, u.Type)
	for slices.ContainsFunc(p.new.Modules, func(m ir.Module) bool { return m.Name == name || m.File == name+".ptx" }) {
		name += "_"
	}
	id := ir.ModuleID(len(p.new.Modules))
	p.new.Modules = append(p.new.Modules, ir.Module{Name: name, File: name + ".ptx", Source: foldPTX(u)})
	p.new.Generated++
	p.modules[u] = id
	return id
}

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
