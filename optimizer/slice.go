package optimizer

import (
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/ptx/rewrite"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/internal/unit"
	"github.com/reprise-gpu/reprise/ir"
)

// slice cuts launches that are predicted to take longer than a limit into launches of consecutive blocks, one after
// another:
//
//	launch, 528 blocks   ==>   blocks 0 to 263 ─► blocks 264 to 527
//
// A slice has as many blocks as the limit allows, and a multiple of the number that fills the device where one such
// multiple fits, so that no slice but the last ends with a wave that is not full. The blocks are divided evenly among as
// few slices as possible. The kernels are rewritten in PTX (rewrite.Range).
//
// Copies and fills are cut into ranges of their bytes. What cannot be cut remains, and Options.oversize has the reason.
// Operations in the bodies of loops and branches are not cut.
func slice(limit model.Time) func(*ir.Graph, *Options) (*ir.Graph, error) {
	return func(g *ir.Graph, opts *Options) (*ir.Graph, error) {
		p, costs, err := opts.model(g)
		if err != nil {
			return nil, err
		}
		s := slicing{sources: newSources(g), limit: limit, profile: p, costs: costs, kernels: map[sliceKey]sliceKernel{}}
		return s.run(opts), nil
	}
}

// slicing cuts the launches of one graph.
type slicing struct {
	sources
	limit   model.Time
	profile *model.Profile
	costs   CostModel
	kernels map[sliceKey]sliceKernel
}

// sliceKey identifies a rewritten kernel: the code depends on the number of dimensions of the grid.
type sliceKey struct {
	module ir.ModuleID
	entry  string
	dims   int
}

// sliceKernel is a rewritten kernel, or the reason why there is none.
type sliceKernel struct {
	*rewrittenKernel
	reason string
}

// run returns the graph with slices. Operations of the trace that are not cut stay as they are.
func (s *slicing) run(opts *Options) *ir.Graph {
	took := alone(s.g, s.profile, s.costs)
	count := make([]uint32, s.g.Len()) // by operation: blocks of a slice, for copies and fills slices; 0 for one that is not cut
	why, cut := map[ir.OpID]string{}, false
	for v := range s.g.Ops {
		id := ir.OpID(v)
		if took[v] <= s.limit {
			continue
		}
		var err error
		if count[v], err = s.blocks(id); err != nil {
			why[id] = err.Error()
		}
		cut = cut || count[v] > 0
	}
	opts.oversize = why
	if !cut {
		return s.g
	}
	h, at := s.cut(count)
	opts.oversize = map[ir.OpID]string{}
	for v, reason := range why {
		opts.oversize[at[v]] = reason
	}
	return h
}

// maxSlices is the largest number of slices of a launch.
const maxSlices = 1 << 10

// blocks returns how many blocks of a launch one slice has, for a copy or a fill the number of slices. The error is the
// reason why it is not cut.
func (s *slicing) blocks(v ir.OpID) (uint32, error) {
	op := &s.g.Ops[v]
	switch {
	case op.Kind == ir.KindCopy || op.Kind == ir.KindMemset:
		return s.ranges(v)
	case op.Kind != ir.KindLaunch:
		return 0, fmt.Errorf("%s cannot be cut", withArticle(op.Kind))
	}
	l := op.Launch
	of := l.Grid.Count()
	if of == 1 {
		return 0, errors.New("the grid has one block")
	}
	if reason := s.kernel(l).reason; reason != "" {
		return 0, errors.New(reason)
	}
	n := s.fitting(v, uint32(of))
	if n == 0 {
		return 0, fmt.Errorf("a single block takes %.3f us", float64(s.time(v, 1))/float64(model.Microsecond))
	}
	if slices := (uint32(of) + n - 1) / n; slices > maxSlices {
		return 0, fmt.Errorf("it would take %d slices, more than %d", slices, maxSlices)
	}
	return n, nil
}

// ranges returns the least number of slices of a copy or a fill that take no longer than the limit.
func (s *slicing) ranges(v ir.OpID) (uint32, error) {
	whole := s.costs.Demand(s.g, v)
	long := func(slices int) bool {
		d := whole
		d.Bytes, d.Duration = d.Bytes/float64(slices), d.Duration/model.Time(slices)
		return took(s.profile, d) > s.limit
	}
	n := 2
	for n <= maxSlices && long(n) {
		n++
	}
	if n > maxSlices || written(&s.g.Ops[v]).Hi-written(&s.g.Ops[v]).Lo < int64(n)*rangeUnit {
		return 0, fmt.Errorf("%s of less takes longer, too", withArticle(s.g.Ops[v].Kind))
	}
	return uint32(n), nil
}

// rangeUnit is what the length of a slice of a copy or a fill is a multiple of, in bytes.
const rangeUnit = 256

// written returns the destination of a copy or a fill.
func written(op *ir.Op) ir.Range {
	if op.Kind == ir.KindCopy {
		return op.Copy.Dst
	}
	return op.Memset.Dst
}

// withArticle returns the name of a kind of operation in a sentence.
func withArticle(k ir.Kind) string {
	if k == ir.KindEmpty {
		return "an empty operation"
	}
	return fmt.Sprintf("a %v", k)
}

// time returns the predicted time of n blocks of a launch, alone on the device.
func (s *slicing) time(v ir.OpID, n uint32) model.Time {
	l := s.g.Ops[v].Launch
	return took(s.profile, sliceDemand(s.costs.Demand(s.g, v), l, n, uint32(l.Grid.Count())))
}

// fitting returns the number of blocks of a slice, 0 if one block takes longer than the limit.
func (s *slicing) fitting(v ir.OpID, of uint32) uint32 {
	fits := func(n uint32) bool { return s.time(v, n) <= s.limit }
	if !fits(1) {
		return 0
	}
	unit := s.wave(v)
	if unit >= of || !fits(unit) {
		unit = 1
	}
	// Search returns the smallest number of units that is too long. One unit fits.
	most := uint32(1 + sort.Search(int((of-1)/unit), func(i int) bool { return !fits(min(of, unit*uint32(i+2))) }))
	units := (of + unit - 1) / unit
	parts := (units + most - 1) / most
	return (units + parts - 1) / parts * unit
}

// wave returns the number of blocks of a launch that the device runs at once.
func (s *slicing) wave(v ir.OpID) uint32 {
	d := s.costs.Demand(s.g, v)
	perSM := d.PerSM
	if d.Kind != model.Kernel { // the cost is declared
		l := s.g.Ops[v].Launch
		blocks, _ := s.profile.Limits.Occupancy(int(l.Block.Count()), 0, int(l.Shared))
		perSM = float64(blocks)
	}
	return uint32(max(1, float64(s.profile.SMs)*perSM))
}

// kernel returns the rewritten kernel of a launch.
func (s *slicing) kernel(l *ir.Launch) sliceKernel {
	key := sliceKey{l.Module, l.Entry, dimensions(l.Grid)}
	k, ok := s.kernels[key]
	if !ok {
		k = s.rewritten(l, key.dims)
		s.kernels[key] = k
	}
	return k
}

func (s *slicing) rewritten(l *ir.Launch, dims int) sliceKernel {
	if !s.fit(l) {
		return sliceKernel{reason: "the PTX of the kernel is not known"}
	}
	r, err := rewrite.Range(s.module(l.Module), l.Entry, dims)
	refusal := (*rewrite.Refusal)(nil)
	switch {
	case errors.As(err, &refusal):
		return sliceKernel{reason: refusal.Reason}
	case err != nil:
		return sliceKernel{reason: err.Error()}
	case r.Changing() != nil:
		return sliceKernel{reason: fmt.Sprintf("the kernel uses the variable %s of its module, which kernels write", r.Changing().Original)}
	}
	return sliceKernel{rewrittenKernel: &rewrittenKernel{r, s.g.Modules[l.Module].Name + "_range"}}
}

// dimensions returns the number of dimensions of a grid.
func dimensions(grid ir.Dim3) int {
	switch {
	case grid.Z > 1:
		return 3
	case grid.Y > 1:
		return 2
	}
	return 1
}

// cut returns the graph in which launches with a number of blocks in count are cut, and by operation the id of its last
// slice.
func (s *slicing) cut(count []uint32) (h *ir.Graph, at []ir.OpID) {
	c := *s.g
	h = &c
	h.Modules, h.Ops, h.Origin, h.Recorded = slices.Clone(s.g.Modules), nil, nil, recorded(s.g)
	h.Merged, h.Sliced = nil, map[ir.OpID]struct{ First, Blocks, Of uint32 }{}
	names := newModuleNames(h)
	at = make([]ir.OpID, s.g.Len())
	first := make([]ir.OpID, s.g.Len())
	for v := range s.g.Ops {
		op := s.g.Ops[v]
		op.After = slices.Clone(op.After)
		for i, u := range op.After {
			op.After[i] = at[u]
		}
		first[v] = ir.OpID(len(h.Ops))
		list := []ir.Op{op}
		switch {
		case count[v] == 0:
		case op.Kind == ir.KindLaunch:
			list = s.slices(h, op, count[v], names)
		default:
			list = bytesOf(h, op, count[v])
		}
		for _, op := range list {
			id := ir.OpID(len(h.Ops))
			if parts := s.g.Merged[ir.OpID(v)]; parts != nil {
				if h.Merged == nil {
					h.Merged = map[ir.OpID][]mergedPart{}
				}
				h.Merged[id] = parts
			}
			h.Ops, h.Origin = append(h.Ops, op), append(h.Origin, traced.Origin(s.g, ir.OpID(v)))
		}
		at[v] = ir.OpID(len(h.Ops) - 1)
	}
	if s.g.Phase >= ir.Analyzed {
		h = s.ordered(h, first, at)
	}
	shareModules(h)
	return h, at
}

// ordered returns h with the dependencies of the graph, from the last slice of an operation to the first of another, and
// those from slice to slice.
func (s *slicing) ordered(h *ir.Graph, first, last []ir.OpID) *ir.Graph {
	var deps []ir.Dep
	var causes []ir.Range
	for v := range s.g.Ops {
		for _, d := range s.g.DepsInto(ir.OpID(v)) {
			moved := ir.Dep{From: last[d.From], To: first[v], Hazard: d.Hazard}
			if cause := s.g.Cause(d); d.Cause != 0 {
				causes = append(causes, cause)
				moved.Cause = int32(len(causes))
			}
			deps = append(deps, moved)
		}
		for id := first[v] + 1; id <= last[v]; id++ {
			deps = append(deps, ir.Dep{From: id - 1, To: id, Hazard: ir.Ordered})
		}
	}
	h, err := h.WithDeps(s.g.Phase, deps, causes)
	if err != nil {
		panic("BUG: slices are not in the order of dependencies: " + err.Error())
	}
	return h
}

// bytesOf returns the slices of a copy or a fill, which are added to the end of h. Each is ordered after the one before.
func bytesOf(h *ir.Graph, op ir.Op, count uint32) (list []ir.Op) {
	all := written(&op)
	step := (all.Hi - all.Lo + int64(count) - 1) / int64(count)
	step = (step + rangeUnit - 1) / rangeUnit * rangeUnit
	count = uint32((all.Hi - all.Lo + step - 1) / step)
	for i := range count {
		lo := int64(i) * step
		n, id := min(step, all.Hi-all.Lo-lo), ir.OpID(len(h.Ops)+len(list))
		within := func(r ir.Range) ir.Range {
			return ir.Range{Buffer: r.Buffer, Lo: r.Lo + lo, Hi: r.Lo + lo + n}
		}
		part := op
		if op.Kind == ir.KindCopy {
			part.Copy = &ir.Copy{Dst: within(op.Copy.Dst), Src: within(op.Copy.Src)}
		} else {
			part.Memset = &ir.Memset{Dst: within(op.Memset.Dst), Value: op.Memset.Value}
		}
		if op.Cost >= 0 {
			part.Cost = (op.Cost + int64(count) - 1) / int64(count)
		}
		if i > 0 {
			part.After = []ir.OpID{id - 1}
		}
		h.Sliced[id] = struct{ First, Blocks, Of uint32 }{i, 1, count}
		list = append(list, part)
	}
	return list
}

// slices returns the slices of a launch, which are added to the end of h. Each is ordered after the one before.
func (s *slicing) slices(h *ir.Graph, op ir.Op, count uint32, names *moduleNames) (list []ir.Op) {
	whole := op.Launch
	k, of := s.kernel(whole), uint32(whole.Grid.Count())
	module := names.module(k.rewrittenKernel)
	for first := uint32(0); first < of; first += count {
		n, id := min(count, of-first), ir.OpID(len(h.Ops)+len(list))
		l := *whole
		l.Module, l.Entry, l.Grid = module, k.Kernel, ir.Dim3{X: n, Y: 1, Z: 1}
		l.Args, l.Maps = k.arguments(whole, first), nil // maps count the blocks of the whole launch
		part := op
		part.Launch = &l
		if op.Cost >= 0 {
			part.Cost = (op.Cost*int64(n) + int64(of) - 1) / int64(of)
		}
		if op.Label == "" {
			part.Label = fmt.Sprintf("%s, blocks %d to %d of %d", whole.Entry, first, first+n-1, of)
		}
		if first > 0 {
			part.After = []ir.OpID{id - 1}
		}
		h.Sliced[id] = struct{ First, Blocks, Of uint32 }{first, n, of}
		list = append(list, part)
	}
	return list
}

// arguments returns the arguments of a slice that begins with block first of a launch: those of the launch, and the
// values of the parameters that the rewrite has added.
func (k *rewrittenKernel) arguments(whole *ir.Launch, first uint32) []ir.Arg {
	values, err := k.RangeArguments(extents(whole.Grid), first)
	if err != nil {
		panic("BUG: a launch was cut whose grid is too large: " + err.Error())
	}
	args := slices.Clone(whole.Args)
	for _, v := range values {
		args = append(args, ir.Arg{Kind: ir.ArgScalar, Scalar: ir.Scalar{Type: ir.U32, Bits: uint64(v)}})
	}
	return args
}

// Figures of a slice: what a block takes to compute its index from that in the launch, in cycles and in warp instructions.
const (
	sliceCycles       = 40
	sliceInstructions = 10
)

// sliceCosts is a cost model for a graph with slices, over one that returns demands of whole launches.
type sliceCosts struct{ CostModel }

func (c sliceCosts) Demand(g *ir.Graph, v ir.OpID) model.Demand {
	d := c.CostModel.Demand(g, v)
	s, ok := g.Sliced[v]
	op := &g.Ops[v]
	if !ok || op.Launch == nil || d.Kind == model.Fixed && op.Cost >= 0 { // the bytes of a copy and a declared cost are those of the slice
		return d
	}
	return sliceDemand(d, op.Launch, s.Blocks, s.Of)
}

// sliceDemand returns the demand of a number of blocks of a launch, from that of the whole launch. Instructions and
// bytes are divided evenly.
func sliceDemand(d model.Demand, l *ir.Launch, blocks, of uint32) model.Demand {
	part := func(amount float64) float64 { return amount * float64(blocks) / float64(of) } // exact for blocks
	if d.Kind != model.Kernel {
		d.Duration = model.Time(part(float64(d.Duration)))
		return d
	}
	for _, amount := range []*float64{&d.Blocks, &d.Bytes, &d.L2Bytes, &d.LinkIn, &d.LinkOut, &d.Faulted, &d.Bulk, &d.Updates} {
		*amount = part(*amount)
	}
	for u := range d.Work {
		d.Work[u] = part(d.Work[u])
	}
	warps := d.Blocks * float64((l.Block.Count()+31)/32)
	d.Work[unit.Integer] += sliceInstructions * warps
	d.BlockCycles += sliceCycles
	if d.SlowestCycles > 0 {
		d.SlowestCycles += sliceCycles
	}
	return d
}

// wholeGrid returns the number of blocks of a launch, for a slice that of the whole launch.
func wholeGrid(g *ir.Graph, v ir.OpID) float64 {
	if s, ok := g.Sliced[v]; ok {
		return float64(s.Of)
	}
	return float64(g.Ops[v].Launch.Grid.Count())
}
