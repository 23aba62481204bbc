package verify

import (
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
)

// instrument returns a schedule that copies results, each directly behind its operation, to buffers of their own, and the
// names of these buffers. What waits for the operation waits for its copies, so that the order of the operations is the same:
//
//	lane 0   %0 ──► %2            %0 ─► copies ──► %2 ─► copies
//	           ╲                               ╲
//	lane 1      ► %1                            ► %1 ─► copies
func instrument(s *ir.Schedule, results []result, op func(*result) ir.OpID) (*ir.Schedule, []string) {
	g := s.Graph
	c := copies{first: make([]ir.OpID, g.Len()), last: make([]ir.OpID, g.Len()), behind: make([][]int, g.Len())}
	h := *g
	h.Buffers = slices.Clone(g.Buffers)
	var names []string
	taken := map[string]bool{}
	for i := range g.Buffers {
		taken[g.Buffers[i].Name] = true
	}
	for i := range results {
		c.behind[op(&results[i])] = append(c.behind[op(&results[i])], i)
		size := results[i].Hi - results[i].Lo
		names = append(names, unused(taken, i))
		h.Buffers = append(h.Buffers, ir.Buffer{Name: names[i], Elem: ir.U8, Len: size, Place: ir.Place{Kind: ir.OnDevice}, Role: ir.Output})
	}
	h.Made += len(results)
	c.number()
	c.operations(g, &h, results)
	with := c.schedule(s, &h)
	with.Offset = slices.Clone(s.Offset)
	for range results {
		if s.Offset != nil {
			with.Offset = append(with.Offset, -1)
		}
	}
	return with, names
}

// unused returns a name that is not taken.
func unused(taken map[string]bool, i int) string {
	name := fmt.Sprintf("result%d", i)
	for taken[name] {
		name += "_"
	}
	return name
}

// copies has the numbers of operations in a program with copies.
type copies struct {
	first, last []ir.OpID // by operation: its number, and that of its last copy
	behind      [][]int   // by operation: the results that are copied behind it
	n           int       // number of operations
}

func (c *copies) number() {
	for v := range c.first {
		c.first[v] = ir.OpID(c.n)
		c.n += 1 + len(c.behind[v])
		c.last[v] = ir.OpID(c.n - 1)
	}
}

// operations sets the operations and the dependencies of h, the program g with copies.
func (c *copies) operations(g, h *ir.Graph, results []result) {
	h.Ops, h.Origin, h.Merged, h.Sliced = nil, nil, nil, nil
	var deps []ir.Dep
	for v := range g.Ops {
		o := g.Ops[v]
		o.After = nil
		for _, u := range g.Ops[v].After {
			o.After = append(o.After, c.last[u])
		}
		h.Ops, h.Origin = append(h.Ops, o), append(h.Origin, traced.Origin(g, ir.OpID(v)))
		for _, i := range c.behind[v] {
			r := &results[i]
			to := ir.Range{Buffer: ir.BufferID(len(g.Buffers) + i), Hi: r.Hi - r.Lo}
			deps = append(deps, ir.Dep{From: ir.OpID(len(h.Ops) - 1), To: ir.OpID(len(h.Ops)), Hazard: ir.Ordered})
			h.Ops = append(h.Ops, ir.Op{Kind: ir.KindCopy, Copy: &ir.Copy{Src: r.Range, Dst: to}, Cost: -1, Pos: o.Pos, After: []ir.OpID{ir.OpID(len(h.Ops) - 1)}})
			h.Origin = append(h.Origin, traced.Origin(g, ir.OpID(v)))
		}
	}
	for v, m := range g.Merged {
		if h.Merged == nil {
			h.Merged = map[ir.OpID][]struct {
				Op       ir.OpID
				Launch   *ir.Launch
				Barriers int
			}{}
		}
		h.Merged[c.first[v]] = m
	}
	for v, part := range g.Sliced {
		if h.Sliced == nil {
			h.Sliced = map[ir.OpID]struct{ First, Blocks, Of uint32 }{}
		}
		h.Sliced[c.first[v]] = part
	}
	for _, d := range g.Deps() {
		deps = append(deps, ir.Dep{From: c.last[d.From], To: c.first[d.To], Hazard: ir.Ordered})
	}
	if g.Phase == ir.Traced {
		deps = nil
	}
	with, err := h.WithDeps(g.Phase, deps, nil)
	if err != nil {
		panic("BUG: a program with copies is not valid: " + err.Error())
	}
	*h = *with
}

// schedule returns the schedule of h. Groups of operations that are launched together are launched one by one.
func (c *copies) schedule(s *ir.Schedule, h *ir.Graph) *ir.Schedule {
	with := &ir.Schedule{
		Graph: h, Strategy: s.Strategy, Lanes: s.Lanes,
		Lane: make([]ir.LaneID, c.n), Waits: make([][]ir.OpID, c.n),
	}
	if s.Delays != nil {
		with.Delays = make([][]ir.OpID, c.n)
	}
	if s.Priority != nil {
		with.Priority = make([]int32, c.n)
	}
	for _, v := range s.Order {
		first := c.first[v]
		for id := first; id <= c.last[v]; id++ {
			with.Order, with.Lane[id] = append(with.Order, id), s.Lane[v]
		}
		with.Waits[first] = c.ends(s.Waits[v])
		if s.Delays != nil {
			with.Delays[first] = c.ends(s.Delays[v])
		}
		if s.Priority != nil {
			with.Priority[first] = s.Priority[v]
		}
	}
	for v, bodies := range s.Bodies {
		if with.Bodies == nil {
			with.Bodies = map[ir.OpID][]*ir.Schedule{}
		}
		control := *h.Ops[c.first[v]].Control
		control.Bodies = nil
		for _, body := range bodies {
			inner := share(h, body)
			control.Bodies = append(control.Bodies, inner.Graph)
			with.Bodies[c.first[v]] = append(with.Bodies[c.first[v]], inner)
		}
		h.Ops[c.first[v]].Control = &control
	}
	return with
}

// ends returns the last copies of operations.
func (c *copies) ends(ops []ir.OpID) (ends []ir.OpID) {
	for _, u := range ops {
		ends = append(ends, c.last[u])
	}
	return ends
}

// share returns a copy of the schedule of a body, with the buffers of the program around it.
func share(h *ir.Graph, s *ir.Schedule) *ir.Schedule {
	body, inner := *s.Graph, *s
	body.Buffers, body.Made = h.Buffers, h.Made
	body.Ops = slices.Clone(body.Ops)
	inner.Graph, inner.Bodies = &body, nil
	for v, bodies := range s.Bodies {
		if inner.Bodies == nil {
			inner.Bodies = map[ir.OpID][]*ir.Schedule{}
		}
		control := *body.Ops[v].Control
		control.Bodies = nil
		for _, one := range bodies {
			shared := share(h, one)
			control.Bodies = append(control.Bodies, shared.Graph)
			inner.Bodies[v] = append(inner.Bodies[v], shared)
		}
		body.Ops[v].Control = &control
	}
	return &inner
}

// name returns the name of an operation of a trace, as the device's messages have it.
func name(g *ir.Graph, v ir.OpID) string {
	op := &g.Ops[v]
	name := op.Label
	if op.Kind == ir.KindLaunch {
		name = op.Launch.Entry
	}
	if name == "" {
		name = op.Kind.String()
	}
	if op.Pos == nil {
		return fmt.Sprintf("%v %s", v, name)
	}
	return fmt.Sprintf("%v %s at %v", v, name, op.Pos)
}
