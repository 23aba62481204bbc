package distribute

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/internal/box"
	"github.com/reprise-gpu/reprise/internal/opname"
	"github.com/reprise-gpu/reprise/ir"
)

// splitter decides where operations run.
type splitter struct {
	g       *ir.Graph
	layout  *Layout
	reach   *reacher
	weights []float64 // by device: the sum of the weights of the devices before it; one more entry for the total
	private map[ir.OpID][]Private
	rows    map[ir.BufferID]int64 // of buffers of private copies: bytes of a row, of which each device has one
	folds   map[ir.OpID]bool      // launches that fold private copies: they run on every device
	fills   map[ir.OpID]bool      // launches that fill private copies: each device fills its own
	tiles   bool                  // launches are cut along two axes where that works
	shapes  box.Table             // of accesses
	placer  placer
}

func newSplitter(g *ir.Graph, l *Layout, tiles bool) *splitter {
	s := &splitter{g: g, layout: l, weights: make([]float64, len(l.Devices)+1), tiles: tiles}
	s.reach = newReacher(g, &s.shapes)
	s.placer = placer{map[ir.BufferID]int32{}, make([]float64, len(l.Devices))}
	for d, dev := range l.Devices {
		s.weights[d+1] = s.weights[d] + dev.Weight
	}
	return s
}

// decide returns the decision for each operation of the graph.
func (s *splitter) decide() ([]Decision, error) {
	list := make([]Decision, s.g.Len())
	for v := range s.g.Ops {
		var err error
		if list[v], err = s.operation(ir.OpID(v), &s.g.Ops[v]); err != nil {
			return nil, err
		}
		s.placer.note(&s.g.Ops[v], &list[v], func(dev int32) float64 { return s.layout.Devices[dev].Weight })
	}
	return list, nil
}

// operation decides for one operation.
func (s *splitter) operation(v ir.OpID, op *ir.Op) (Decision, error) {
	if len(op.After) > 0 && len(s.layout.Devices) > 1 {
		return Decision{}, refuse(s.g, v, "it is declared to run after %s, and devices keep the order of accesses only: leave the declaration out, or let both access a buffer", opname.Of(s.g).Of(op.After[0]))
	}
	switch op.Kind {
	case ir.KindEmpty:
		return Decision{How: Split, Why: "it runs nothing"}, nil
	case ir.KindLaunch:
		return s.launch(v, op)
	case ir.KindCopy, ir.KindMemset:
		if err := s.onDevices(v, op); err != nil {
			return Decision{}, err
		}
		return s.bytes(op), nil
	}
	return Decision{}, refuse(s.g, v, "a %v cannot be distributed: trace a step without it, and run the steps with Plan.Run or Plan.RunUntil", op.Kind)
}

// refuse returns the error for an operation that cannot be distributed.
func refuse(g *ir.Graph, v ir.OpID, format string, args ...any) error {
	op := &g.Ops[v]
	at := ""
	if op.Pos != nil {
		at = " (" + op.Pos.String() + ")"
	}
	return fmt.Errorf("distribute: operation %s of %s%s: %s", opname.Of(g).Of(v), g.Name, at, fmt.Sprintf(format, args...))
}

// onDevices returns an error if an operation accesses memory that is not on a device.
func (s *splitter) onDevices(v ir.OpID, op *ir.Op) error {
	var scratch [2]ir.Access
	for _, a := range op.Accesses(&scratch) {
		switch b := &s.g.Buffers[a.Buffer]; b.Place.Kind {
		case ir.OnDevice:
		case ir.Managed:
			return refuse(s.g, v, "buffer %s is in managed memory, which has one address for the host and one device: allocate it with Alloc", b.Name)
		default:
			return refuse(s.g, v, "buffer %s is in memory of the host: write device buffers before the run and read them after it instead of copying in each step", b.Name)
		}
	}
	return nil
}

// launch decides for a launch. The first axis from z down whose blocks are more than one is cut, unless two chunks would
// write the same bytes. With tiles, two axes are tried before.
func (s *splitter) launch(v ir.OpID, op *ir.Op) (Decision, error) {
	if err := s.onDevices(v, op); err != nil {
		return Decision{}, err
	}
	x := s.reach.launch(op)
	if x.reason == "" {
		axis, why := s.axis(op.Launch.Grid)
		if axis < 0 {
			x.reason = why
		} else if s.folds[v] {
			x.reason = "it folds copies"
			return s.everywhere(op, x.reason), nil
		} else if s.fills[v] {
			return s.cutBy(x, axis, nil, s.equally), nil
		} else if d, ok := s.tiled(x, axis, s.private[v]); ok {
			return d, nil
		} else if d := s.cut(x, axis, s.private[v]); d.How == Split {
			return d, nil
		} else {
			x.reason = d.Why
		}
	}
	return s.together(v, op, x.reason)
}

// maxBlocks is the largest number of blocks of a grid that is cut.
const maxBlocks = 1<<31 - 1

// axis returns the outermost axis with more than one block, and -1 with the reason if there is none.
func (s *splitter) axis(grid ir.Dim3) (int, string) {
	if len(s.layout.Devices) == 1 {
		return -1, "there is one device"
	}
	if n := int64(grid.Count()); n > maxBlocks {
		return -1, fmt.Sprintf("the grid has %d blocks", n)
	}
	for axis, n := range [3]uint32{grid.Z, grid.Y, grid.X} {
		if n > 1 {
			return 2 - axis, ""
		}
	}
	return -1, "the grid has one block"
}

// cut cuts a launch along an axis into a chunk for each device. The decision is not Split if two chunks write the same
// bytes; Why then names them.
func (s *splitter) cut(x *launch, axis int, private []Private) Decision {
	return s.cutBy(x, axis, private, s.share)
}

// cutBy cuts a launch as cut does. share returns the part of the axis that a device runs.
func (s *splitter) cutBy(x *launch, axis int, private []Private, share func(n int64, dev int) (lo, hi int64)) Decision {
	grid := x.whole.Grid
	inner := int64(1) // blocks of a layer
	for a := range axis {
		inner *= int64(grid[a])
	}
	d := Decision{How: Split, Axis: axis, Private: private}
	x.private = private
	for dev := range s.layout.Devices {
		lo, hi := share(int64(grid[axis]), dev)
		if lo == hi {
			continue
		}
		c := Chunk{Device: int32(dev), First: lo * inner, Count: (hi - lo) * inner}
		c.Accesses = x.accesses(layers(grid, axis, lo, hi), int32(dev))
		d.Chunks = append(d.Chunks, c)
	}
	return s.checked(x, d, string("xyz"[axis]))
}

// checked returns the decision to split a launch along some axes, or why it is not split.
func (s *splitter) checked(x *launch, d Decision, along string) Decision {
	if why := s.conflict(d.Chunks); why != "" {
		return Decision{How: Whole, Why: why}
	}
	d.Why = fmt.Sprintf("its chunks along %s write different bytes", along)
	if len(d.Private) > 0 {
		d.Why += ", but for updates of copies"
	}
	if names := x.declaredNames(); names != "" {
		d.Why += ", with the accesses to " + names + " declared"
	}
	return d
}

// layers returns the blocks whose index on an axis is in [lo, hi).
func layers(grid [3]uint32, axis int, lo, hi int64) Tile {
	t := Tile{Count: grid}
	t.First[axis], t.Count[axis] = uint32(lo), uint32(hi-lo)
	return t
}

// share returns the part [lo, hi) of n that a device runs: in proportion to its weight, rounded to whole numbers.
func (s *splitter) share(n int64, dev int) (lo, hi int64) {
	total := s.weights[len(s.weights)-1]
	at := func(w float64) int64 { return int64(float64(n)*(w/total) + 0.5) }
	return at(s.weights[dev]), at(s.weights[dev+1])
}

// equally returns the part [lo, hi) of n that a device runs if all run the same.
func (s *splitter) equally(n int64, dev int) (lo, hi int64) {
	each := n / int64(len(s.layout.Devices))
	return int64(dev) * each, int64(dev+1) * each
}

// conflict returns which bytes two chunks write, or "" if there are none.
func (s *splitter) conflict(chunks []Chunk) string {
	type write struct {
		ir.Access
		chunk int
	}
	var list, open []write
	for i := range chunks {
		for _, a := range chunks[i].Accesses {
			if a.Mode.Writes() {
				list = append(list, write{a, i})
			}
		}
	}
	slices.SortFunc(list, func(a, b write) int {
		return cmp.Or(cmp.Compare(a.Buffer, b.Buffer), cmp.Compare(a.Lo, b.Lo), cmp.Compare(a.Hi, b.Hi))
	})
	for _, w := range list { // open has those so far that may overlap with w
		open = slices.DeleteFunc(open, func(o write) bool { return o.Buffer != w.Buffer || o.Hi <= w.Lo })
		for _, o := range open {
			if w.chunk != o.chunk && w.Overlaps(o.Range) && s.box(w.Access).Overlaps(s.box(o.Access)) {
				return fmt.Sprintf("two chunks may write @%s[%d:%d]", s.g.Buffers[w.Buffer].Name, w.Lo, min(w.Hi, o.Hi))
			}
		}
		open = append(open, w)
	}
	return ""
}

// box returns the bytes of an access.
func (s *splitter) box(a ir.Access) box.Box {
	if a.Shape == 0 {
		return box.Of(a.Lo, a.Hi)
	}
	return box.Box{Lo: a.Lo, Shape: s.shapes.Shapes()[a.Shape-1]}
}

// replicated is the largest number of bytes that a launch that is not cut may access and still run on every device.
const replicated = 1 << 20

// together decides for a launch that is not cut. One that accesses few bytes runs on every device, because its results then
// need no transfer. A launch with atomic operations does not: their order, and thereby their results, may differ between
// devices.
func (s *splitter) together(v ir.OpID, op *ir.Op, reason string) (Decision, error) {
	if b := s.differs(op); b >= 0 {
		remedy := "pass it as a buffer"
		if s.reach.opaque(op.Launch) {
			remedy = "pass all buffers that the kernel accesses as arguments, and compute their addresses from these"
		}
		return Decision{}, refuse(s.g, v, "%s, and a copy of %s on each device would differ: %s", reason, s.g.Buffers[b].Name, remedy)
	}
	bytes := int64(0)
	uses := passed(op)
	for _, a := range uses {
		bytes += a.Hi - a.Lo
	}
	count := int64(op.Launch.Grid.Count())
	if bytes > replicated || s.reach.kernel(op.Launch).atomic || len(s.layout.Devices) == 1 {
		return Decision{How: Whole, Why: reason, Chunks: []Chunk{{Device: s.placer.device(uses), Count: count, Accesses: uses}}}, nil
	}
	return s.everywhere(op, fmt.Sprintf("%s, and it accesses only %d bytes", reason, bytes)), nil
}

// differs returns a buffer that is no argument of a launch and that it writes, so that a copy on each device would differ, -1 for
// none. Variables of modules do not differ on a machine of one device.
func (s *splitter) differs(op *ir.Op) ir.BufferID {
	list := hidden(op)
	if len(list) == 0 || len(s.layout.Devices) == 1 && !s.reach.opaque(op.Launch) {
		return -1
	}
	return list[0]
}

// Variable returns the name of a variable of a module that the program writes, "" for none. Its memory is that of the module.
func (p *Plan) Variable() string {
	for v := range p.Graph.Ops {
		if op := &p.Graph.Ops[v]; op.Kind == ir.KindLaunch {
			for _, b := range hidden(op) {
				return p.Graph.Buffers[b].Name
			}
		}
	}
	return ""
}

// everywhere runs a launch on every device.
func (s *splitter) everywhere(op *ir.Op, why string) Decision {
	d := Decision{How: Replicated, Why: why}
	for dev := range s.layout.Devices {
		d.Chunks = append(d.Chunks, Chunk{Device: int32(dev), Count: int64(op.Launch.Grid.Count()), Accesses: passed(op)})
	}
	return d
}

// passed returns the accesses of a launch to buffers that are arguments. The others are variables of modules.
func passed(op *ir.Op) (list []ir.Access) {
	for _, u := range op.Uses {
		if isArgument(op.Launch, u.Buffer) {
			list = append(list, ir.Access{Range: u.Range, Mode: u.Mode})
		}
	}
	return normal(list)
}

// hidden returns the buffers that a launch writes and that are no arguments: variables of modules, or all buffers if the accesses
// of the kernel are not known.
func hidden(op *ir.Op) (list []ir.BufferID) {
	for _, u := range op.Uses {
		if u.Mode.Writes() && !isArgument(op.Launch, u.Buffer) {
			list = append(list, u.Buffer)
		}
	}
	return list
}

func isArgument(l *ir.Launch, b ir.BufferID) bool {
	return slices.ContainsFunc(l.Args, func(a ir.Arg) bool { return a.Kind == ir.ArgBuffer && a.Buffer == b })
}

// rangeUnit is the unit in which copies and fills are cut, in bytes.
const rangeUnit = 256

// bytes cuts a copy or a fill into ranges of its destination.
func (s *splitter) bytes(op *ir.Op) Decision {
	dst := destination(op)
	n := dst.Hi - dst.Lo
	d := Decision{How: Split, Why: "its bytes are independent"}
	row := s.rows[dst.Buffer]
	for dev := range s.layout.Devices {
		lo, hi := s.share((n+rangeUnit-1)/rangeUnit, dev)
		c := Chunk{Device: int32(dev), First: lo * rangeUnit, Count: min(hi*rangeUnit, n) - lo*rangeUnit}
		if row > 0 {
			c.First, c.Count = int64(dev)*row, row
		}
		if c.Count <= 0 {
			continue
		}
		part := ir.Range{Buffer: dst.Buffer, Lo: dst.Lo + c.First, Hi: dst.Lo + c.First + c.Count}
		c.Accesses = []ir.Access{{Range: part, Mode: ir.Write}}
		if op.Kind == ir.KindCopy {
			src := op.Copy.Src
			part = ir.Range{Buffer: src.Buffer, Lo: src.Lo + c.First, Hi: src.Lo + c.First + c.Count}
			c.Accesses = append(c.Accesses, ir.Access{Range: part, Mode: ir.Read})
		}
		d.Chunks = append(d.Chunks, c)
	}
	return d
}

// destination returns the range that a copy or a fill writes.
func destination(op *ir.Op) ir.Range {
	if op.Kind == ir.KindCopy {
		return op.Copy.Dst
	}
	return op.Memset.Dst
}
