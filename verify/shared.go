package verify

import (
	"cmp"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/ir"
)

// shared adds the conflicts between buffers that share memory, by their addresses. The reference is not program order,
// in which their uses may alternate, but the submission order of the lowered program: if all conflicts are ordered, every
// execution has the same result as that one. See overwritten for what that result
// must be.
func (l *loweredProgram) shared(address []device.Ptr) {
	g := l.schedule.Graph
	aliased := overlapping(g, address)
	if aliased == nil {
		return
	}
	where := func(a ir.Access) ir.Access {
		if !aliased[a.Buffer] {
			return ir.Access{Range: ir.Range{Buffer: -1}}
		}
		base := int64(address[a.Buffer])
		a.Range = ir.Range{Lo: base + a.Lo, Hi: base + a.Hi}
		return a
	}
	l.addAll(conflictsOf(g, l.submitted(g), where), g.Len(), 0, true)
	if reader, by, found := l.overwritten(aliased, address); found {
		read := g.Buffers[by.buffer].Name
		l.overlaid = append(l.overlaid, Race{
			First: l.ops[by.op].Name, Second: l.ops[reader].Name, Hazard: overwritten, Buffer: read,
			Lo: by.lo - int64(address[by.buffer]), Hi: by.hi - int64(address[by.buffer]),
		})
	}
}

// submitted returns the operations of the outermost graph in submission order.
func (l *loweredProgram) submitted(g *ir.Graph) []ir.OpID {
	first := make([]int32, g.Len())
	all := make([]ir.OpID, g.Len())
	for v := range all {
		all[v] = ir.OpID(v)
		if at := l.ops[v].At; len(at) > 0 {
			first[v] = l.spans(at[0])[0].First
		}
	}
	slices.SortStableFunc(all, func(u, v ir.OpID) int { return cmp.Compare(first[u], first[v]) })
	return all
}

// overlapping reports, by buffer, whether it shares bytes with another one. It is nil if none does.
func overlapping(g *ir.Graph, address []device.Ptr) []bool {
	var order []ir.BufferID
	for b := range g.Buffers {
		if address[b] != 0 && g.Buffers[b].Size() > 0 {
			order = append(order, ir.BufferID(b))
		}
	}
	slices.SortFunc(order, func(a, b ir.BufferID) int { return cmp.Compare(address[a], address[b]) })
	var aliased []bool
	last := ir.BufferID(-1) // of those before, the one that ends last
	end := func(b ir.BufferID) device.Ptr { return address[b] + device.Ptr(g.Buffers[b].Size()) }
	for _, b := range order {
		if last >= 0 && address[b] < end(last) {
			if aliased == nil {
				aliased = make([]bool, len(g.Buffers))
			}
			aliased[last], aliased[b] = true, true
		}
		if last < 0 || end(b) > end(last) {
			last = b
		}
	}
	return aliased
}
