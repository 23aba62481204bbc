package distribute

import (
	"slices"
	"strings"

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
//	launch counts[x[i]] += 1     ==>     copies = 0 (-0.0 for floating-point numbers)
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
	folds   map[ir.OpID]bool       // operations of new that fold copies
	fills   map[ir.OpID]bool       // launches of new that fill copies
	modules map[string]ir.ModuleID // of kernels that fill and fold, by name
}

// privatise returns the graph with copies. The splitter then works on it.
func (s *splitter) privatise() {
	if len(s.layout.Devices) == 1 {
		return
	}
	p := &privatiser{splitter: s, old: s.g, private: map[ir.OpID][]Private{}, rows: map[ir.BufferID]int64{}, folds: map[ir.OpID]bool{}, fills: map[ir.OpID]bool{}, modules: map[string]ir.ModuleID{}}
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
	s.g, s.private, s.rows, s.folds, s.fills = p.new, p.private, p.rows, p.folds, p.fills
	s.reach = newReacher(p.new, &s.shapes)
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
		if row.Update == nil || arg.Kind != ir.ArgBuffer {
			continue
		}
		if _, ok := identity(*row.Update); !ok {
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

// identity returns the bits of the element that does not change others by an update, with which copies are filled. ok is false
// if updates of this kind are not made in copies.
func identity(u access.Update) (bits uint64, ok bool) {
	name := u.Type.String()
	size := 8 * u.Type.Size()
	ones := ^uint64(0) >> (64 - max(size, 1))
	switch {
	case size < 32 || strings.Contains(name, "x2"):
		return 0, false
	case strings.HasPrefix(name, "f") && u.Op == "add":
		return 1 << (size - 1), true // -0.0: +0.0 would change -0.0
	case u.Op == "add" || u.Op == "or" || u.Op == "xor":
		return 0, true
	case u.Op == "and":
		return ones, true
	case strings.HasPrefix(name, "u") && u.Op == "min":
		return ones, true
	case strings.HasPrefix(name, "u") && u.Op == "max":
		return 0, true
	case name == "s32" && u.Op == "min":
		return ones >> 1, true
	case name == "s32" && u.Op == "max":
		return 1 << 31, true
	}
	return 0, false
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
