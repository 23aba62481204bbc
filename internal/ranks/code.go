package ranks

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/blockmap"
	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/internal/lower"
	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/ptx/rewrite"
	"github.com/reprise-gpu/reprise/ir"
)

// code is the kernels of a plan: those of the graph, and those rewritten to run a range of blocks. The devices share the
// texts; each loads the modules that it runs.
type code struct {
	g       *ir.Graph
	parsed  map[ir.ModuleID]*ptx.Module
	ranges  map[rangeKey]*rewrite.Result
	loaded  []map[string]device.Module // by device of the rank: by name of a module or a rewritten kernel
	devices []device.Device
}

// rangeKey identifies a rewritten kernel: with dims 0 for tiles, else for ranges of a grid with this number of dimensions.
type rangeKey struct {
	module ir.ModuleID
	entry  string
	dims   int
}

func newCode(g *ir.Graph, devices []device.Device) *code {
	c := &code{g, map[ir.ModuleID]*ptx.Module{}, map[rangeKey]*rewrite.Result{}, nil, devices}
	for range devices {
		c.loaded = append(c.loaded, map[string]device.Module{})
	}
	return c
}

// work returns the work of a chunk of an operation on a device of the rank.
func (c *code) work(dev int, v ir.OpID, d *distribute.Decision, chunk *distribute.Chunk, m *allocations) (device.Work, error) {
	op := &c.g.Ops[v]
	switch op.Kind {
	case ir.KindLaunch:
		return c.launch(dev, v, op, d, chunk, m)
	case ir.KindCopy, ir.KindMemset:
		return lower.Work(cutOp(op, chunk), &lower.Settings{Label: label(c.g, v)}, m), nil
	}
	return device.Nothing{}, nil
}

// cutOp returns the copy or the fill of the bytes of a chunk.
func cutOp(op *ir.Op, chunk *distribute.Chunk) *ir.Op {
	cut := func(r ir.Range) ir.Range {
		return ir.Range{Buffer: r.Buffer, Lo: r.Lo + chunk.First, Hi: r.Lo + chunk.First + chunk.Count}
	}
	one := *op
	if op.Kind == ir.KindCopy {
		one.Copy = &ir.Copy{Dst: cut(op.Copy.Dst), Src: cut(op.Copy.Src)}
		return &one
	}
	one.Memset = &ir.Memset{Dst: cut(op.Memset.Dst), Value: op.Memset.Value}
	return &one
}

// label names an operation in errors and traces: its label or kernel, and its line.
func label(g *ir.Graph, v ir.OpID) string {
	op := &g.Ops[v]
	name := op.Label
	if name == "" && op.Kind == ir.KindLaunch {
		name = op.Launch.Entry
	}
	if op.Pos != nil {
		name += " (" + op.Pos.String() + ")"
	}
	return fmt.Sprintf("%v %s", v, name)
}

// launch returns the launch of a chunk: that of the graph if the chunk is all of it, else a range or a tile of its blocks.
func (c *code) launch(dev int, v ir.OpID, op *ir.Op, d *distribute.Decision, chunk *distribute.Chunk, m *allocations) (device.Work, error) {
	l := op.Launch
	s := lower.Settings{Label: label(c.g, v)}
	var err error
	if d.How != distribute.Split || chunk.Count == int64(l.Grid.Count()) && len(d.Private) == 0 {
		if s.Function, err = c.function(dev, c.g.Modules[l.Module].Name, c.g.Modules[l.Module].Source, l.Entry); err != nil {
			return nil, err
		}
		return lower.Launch(l, &s, m), nil
	}
	one := *l
	one.Maps = nil // they count the blocks of the whole grid
	extra, err := c.part(dev, &one, &s, chunk)
	if err != nil {
		return nil, err
	}
	one.Args = append([]ir.Arg{}, l.Args...)
	for _, p := range d.Private {
		a := &one.Args[p.Arg]
		a.Buffer, a.Offset = p.Copies, a.Offset+int64(chunk.Device)*p.Stride-p.Lo
	}
	for _, x := range extra {
		one.Args = append(one.Args, ir.Arg{Kind: ir.ArgScalar, Scalar: ir.Scalar{Type: ir.U32, Bits: uint64(x)}})
	}
	w := lower.Launch(&one, &s, m)
	if len(l.Maps) > 0 && len(d.Private) == 0 {
		first, blocks := position(l.Grid, chunk)
		w.Declared = m.held(l, lower.Declared(l, m, first, blocks))
	}
	return w, nil
}

// position returns the number of blocks in front of a chunk, and that of a layer of the chunk. Layers are along the
// outermost axis, and their numbers those in the whole grid.
func position(grid ir.Dim3, chunk *distribute.Chunk) (first, blocks int64) {
	axis, _, blocks := blockmap.Outermost(grid)
	t := chunk.Tile
	if t == nil {
		return chunk.First, blocks
	}
	blocks = 1
	for a := range axis {
		blocks *= int64(t.Count[a])
	}
	return int64(t.First[axis]) * blocks, blocks
}

// part sets the kernel and the grid of a launch of some of its blocks, and returns the further arguments.
func (c *code) part(dev int, l *ir.Launch, s *lower.Settings, chunk *distribute.Chunk) (extra []uint32, err error) {
	grid, key := [3]uint32{l.Grid.X, l.Grid.Y, l.Grid.Z}, rangeKey{l.Module, l.Entry, dims(l.Grid)}
	if chunk.Tile != nil {
		key.dims = 0
	}
	r, err := c.rewritten(key)
	if err != nil {
		return nil, err
	}
	if t := chunk.Tile; t != nil {
		l.Grid, extra = ir.Dim3{X: t.Count[0], Y: t.Count[1], Z: t.Count[2]}, r.TileArguments(grid, t.First)
	} else if extra, err = r.RangeArguments(grid, uint32(chunk.First)); err != nil {
		return nil, err
	} else {
		l.Grid = ir.Dim3{X: uint32(chunk.Count), Y: 1, Z: 1}
	}
	name := fmt.Sprintf("%s_range_%s%d", c.g.Modules[l.Module].Name, l.Entry, key.dims)
	s.Function, err = c.function(dev, name, r.Text, r.Kernel)
	return extra, err
}

// dims returns the number of dimensions of a grid.
func dims(grid ir.Dim3) int {
	switch {
	case grid.Z > 1:
		return 3
	case grid.Y > 1:
		return 2
	}
	return 1
}

// rewritten returns a kernel that runs some blocks of a grid.
func (c *code) rewritten(key rangeKey) (*rewrite.Result, error) {
	if r := c.ranges[key]; r != nil {
		return r, nil
	}
	m := c.parsed[key.module]
	if m == nil {
		var err error
		if m, err = ptx.ParseShared(c.g.Modules[key.module].File, c.g.Modules[key.module].Source); err != nil {
			return nil, err
		}
		c.parsed[key.module] = m
	}
	rewriter := func() (*rewrite.Result, error) { return rewrite.Range(m, key.entry, key.dims) }
	if key.dims == 0 {
		rewriter = func() (*rewrite.Result, error) { return rewrite.Tile(m, key.entry) }
	}
	r, err := rewriter()
	if err == nil {
		c.ranges[key] = r
	}
	return r, err
}

// function returns a kernel of a module on a device. It loads the module at first use.
func (c *code) function(dev int, name, source, entry string) (device.Function, error) {
	m, is := c.loaded[dev][name]
	if !is {
		var err error
		if m, err = c.devices[dev].LoadModule(name, source); err != nil {
			return 0, err
		}
		c.loaded[dev][name] = m
	}
	return c.devices[dev].Function(m, entry)
}

// unload unloads all modules.
func (c *code) unload() (err error) {
	for dev, modules := range c.loaded {
		for _, m := range modules {
			if e := c.devices[dev].UnloadModule(m); err == nil {
				err = e
			}
		}
		clear(modules)
	}
	return err
}
