package rewrite

import (
	"fmt"
	"slices"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// Source is the place of the arguments that differ between the instances of a batch.
type Source uint8

// The sources.
const (
	// FromParameters declares the differing parameters once for each instance. The number of
	// instances and their grids are fixed; the arguments are not.
	FromParameters Source = iota
	// FromTable reads a row of a table in device memory for each instance. The address of the
	// table is the last parameter. The number of instances is that of the launch.
	FromTable
	// FromRows reads the address of a row for each instance from a list in device memory, so that rows stay where
	// they are while instances come and go. The address of the list and an offset, which is added to each address,
	// are the last parameters. Blocks of an instance whose address is 0 leave at once.
	FromRows
)

// BatchOptions describe the instances of a batch.
type BatchOptions struct {
	Source Source
	// Equal marks the parameters that have one value for all instances. They stay plain
	// parameters. A parameter beyond the end of the list differs.
	Equal []bool
	// Grid is the grid of every instance. It is ignored if Grids is set.
	Grid [3]uint32
	// Instances is the number of instances. With a table or a list of rows it is the number
	// that Result.Grid is for. The code does not depend on it, but a table of unequal grids
	// has room for no more rows than the next power of two.
	Instances int
	// Grids, with one element for each instance, are grids of unequal size. With FromTable
	// the rows hold the grids: these may be others, of as many dimensions, see Table.PutGrids.
	Grids [][3]uint32
	// Partial is for FromTable: the table begins with the number of rows in use. Blocks of
	// the other instances of the launch leave at once. Without it, all rows are in use.
	Partial bool
}

// Batch rewrites a kernel so that one launch runs several instances, each a launch of the
// original kernel with arguments of its own. All have the same block.
//
// Blocks of equal grids are numbered along an axis of the grid. An axis of extent 1 takes the
// instance as it is; other axes are divided:
//
//	grid (8, 4, 1), 3 instances      launch (8, 4, 3)     instance = %ctaid.z
//	grid (8, 4, 2), 3 instances      launch (8, 4, 6)     instance = %ctaid.z / 2
//
// Grids of unequal size follow each other along x, and each block compares its index with the
// prefix sums of the numbers of blocks.
//
// The error is a *Refusal if the kernel cannot be rewritten.
func Batch(m *ptx.Module, kernel string, o BatchOptions) (*Result, error) {
	u, err := extract(m, kernel)
	if err != nil {
		return nil, err
	}
	if err := o.check(u.kernel); err != nil {
		return nil, err
	}
	if err := u.check(true); err != nil {
		return nil, err
	}
	if err := u.checkVariables(); err != nil {
		return nil, err
	}
	b := &batch{unit: u, emitter: newEmitter(u.kernel, freshTag(u)), options: o, used: specials(u.bodies()), result: &Result{}}
	if err := b.run(); err != nil {
		return nil, err
	}
	b.result.Variables = u.variables(0)
	b.result.Kernel = kernel
	return b.result.finish(u.module(), kernel)
}

// check reports options that contradict each other.
func (o *BatchOptions) check(f *ptx.Func) error {
	switch {
	case o.Source > FromRows:
		return fmt.Errorf("rewrite: batch of %s: %d is not a source of arguments", f.Name, o.Source)
	case o.Instances < 1:
		return fmt.Errorf("rewrite: batch of %s has %d instances: it needs at least 1", f.Name, o.Instances)
	case o.Grids != nil && len(o.Grids) != o.Instances:
		return fmt.Errorf("rewrite: batch of %s has %d grids for %d instances", f.Name, len(o.Grids), o.Instances)
	case len(o.Equal) > len(f.Params):
		return fmt.Errorf("rewrite: batch of %s marks %d parameters of %d", f.Name, len(o.Equal), len(f.Params))
	case o.Partial && (o.Source != FromTable || o.Grids != nil):
		return fmt.Errorf("rewrite: batch of %s: Partial is for a table of instances with equal grids", f.Name)
	case o.Grids != nil && o.Source == FromRows:
		return fmt.Errorf("rewrite: batch of %s: instances in a list of rows have equal grids", f.Name)
	}
	grids := o.Grids
	if grids == nil {
		grids = [][3]uint32{o.Grid}
	}
	for _, g := range grids {
		if blocks(g) == 0 || blocks(g) > maxRangeBlocks {
			return fmt.Errorf("rewrite: batch of %s: grid %v must have 1 to %d blocks", f.Name, g, maxRangeBlocks)
		}
	}
	return nil
}

// blocks returns the number of blocks of a grid, or a number above maxRangeBlocks if it is above.
func blocks(grid [3]uint32) uint64 {
	n := uint64(grid[0]) * uint64(grid[1])
	if n > maxRangeBlocks && grid[2] > 0 {
		return n
	}
	return n * uint64(grid[2])
}

// differs reports whether parameter i differs between the instances.
func (o *BatchOptions) differs(i int) bool { return i >= len(o.Equal) || !o.Equal[i] }

// batch is the state of Batch.
type batch struct {
	*unit
	*emitter
	options BatchOptions
	used    map[string]bool
	result  *Result
	join    string // label of the kernel's code
	// addresses is set if the table has the parameters whose address is taken.
	addresses bool
}

// run rewrites the kernel.
func (b *batch) run() error {
	place, err := b.placement()
	if err != nil {
		return err
	}
	b.result.Grid = place.grid
	vals := values{}
	if b.options.Grids == nil {
		place.coordinates(b.emitter, vals, b.used)
	}
	read := b.fromTable
	if b.options.Source == FromParameters {
		read = b.fromParameters
	}
	if err := read(place, vals); err != nil {
		return err
	}
	if err := b.substitute(vals, b.tag); err != nil {
		return err
	}
	b.prepend()
	return nil
}

// maxParameters is the most bytes of parameters that a kernel has on any target.
const maxParameters = 32764

// Limits of the extents of a grid.
var maxExtent = [3]uint64{1<<31 - 1, 65535, 65535}

// placement is where the instances of a batch of equal grids are in the grid of the launch.
type placement struct {
	grid     [3]uint32 // of the launch
	original [3]uint32 // of an instance
	axis     int       // along which the instances follow each other
	extent   uint32    // of the original grid along the axis
	index    ptx.Operand
}

// placement chooses the axis: one of extent 1 if there is one, else the cheapest division.
func (b *batch) placement() (*placement, error) {
	if b.options.Grids != nil {
		total := uint64(0)
		for _, g := range b.options.Grids {
			total += blocks(g)
		}
		if total > maxRangeBlocks {
			return nil, refuse(b.kernel.Name, "the grids of the instances have %d blocks, and a launch has %d at most", total, maxRangeBlocks)
		}
		return &placement{grid: [3]uint32{uint32(total), 1, 1}}, nil
	}
	best := -1
	cost := func(axis int) int {
		switch n := b.options.Grid[axis]; {
		case n == 1:
			return 0
		case n&(n-1) == 0:
			return 1
		}
		return 2
	}
	for _, axis := range []int{2, 1, 0} {
		fits := uint64(b.options.Grid[axis])*uint64(b.options.Instances) <= maxExtent[axis]
		if fits && (best < 0 || cost(axis) < cost(best)) {
			best = axis
		}
	}
	if best < 0 {
		return nil, refuse(b.kernel.Name, "%d instances of grid %v exceed the extents of a grid", b.options.Instances, b.options.Grid)
	}
	p := &placement{original: b.options.Grid, axis: best, extent: b.options.Grid[best]}
	p.grid = p.gridFor(b.options.Instances)
	return p, nil
}

// gridFor returns the grid of the launch for a number of instances.
func (p *placement) gridFor(instances int) [3]uint32 {
	grid := p.original
	grid[p.axis] *= uint32(instances)
	return grid
}

// coordinates computes the instance, and the coordinate in its grid along the axis.
func (p *placement) coordinates(e *emitter, vals values, used map[string]bool) {
	at := e.special("%ctaid" + axes[p.axis])
	p.index = e.divide(at, p.extent)
	vals["%nctaid"+axes[p.axis]] = number(p.extent)
	vals["%ctaid"+axes[p.axis]] = number(0)
	if p.extent > 1 && used["%ctaid"+axes[p.axis]] {
		vals["%ctaid"+axes[p.axis]] = e.remainder(at, p.index, p.extent)
	}
}

// fromParameters declares the differing parameters for each instance, and loads those of the
// block's instance:
//
//	     brx.idx instance, {I0, I1, I2}         by comparisons for two instances, unequal grids, and in old PTX
//	I0:  ld.param.u64 %rd1, [p_0];
//	     bra.uni J;
//	I1:  ld.param.u64 %rd1, [p_1];
//	     bra.uni J;
//	I2:  ld.param.u64 %rd1, [p_2];
//	J:                                          the kernel, without its ld.param
func (b *batch) fromParameters(place *placement, vals values) error {
	if err := b.checkSize(); err != nil {
		return err
	}
	sites := b.sites()
	original := b.kernel.Params
	copies := b.declare()
	b.join = b.newLabel("start")
	bounds := make([]uint32, b.options.Instances+1)
	for i := range bounds {
		bounds[i] = uint32(i)
	}
	index := place.index
	grids := b.options.Grids
	if grids != nil {
		index = b.special("%ctaid.x")
		for i, g := range grids {
			bounds[i+1] = bounds[i] + uint32(blocks(g))
		}
		b.commonValues(vals)
	}
	leaf := func(i int) {
		if grids != nil {
			b.locate(index, bounds[i], grids[i], vals)
		}
		for _, s := range sites {
			b.leafLoad(s, original, copies[i])
		}
		if i+1 < b.options.Instances {
			b.emit("bra.uni", label(b.join))
		}
	}
	if grids == nil && b.options.Instances > 2 && b.hasTables() {
		b.branchTable(index, leaf)
	} else {
		b.tree(index, bounds, 0, b.options.Instances, leaf)
	}
	b.place(b.join)
	b.removeSites(sites)
	return nil
}

// checkSize refuses parameters that no target has room for, before they are declared. The parser
// applies the limit of the target.
func (b *batch) checkSize() error {
	bytes := 0
	for i, v := range b.kernel.Params {
		if b.options.differs(i) {
			bytes += b.options.Instances * int(v.Size())
		}
	}
	if bytes > maxParameters {
		return refuse(b.kernel.Name, "the differing parameters of %d instances take %d bytes: a kernel has at most %d", b.options.Instances, bytes, maxParameters)
	}
	return nil
}

// declare replaces the parameters of the kernel, and returns the parameters of each instance by
// the original index.
func (b *batch) declare() [][]*ptx.Var {
	original := b.kernel.Params
	b.kernel.Params = nil
	copies := make([][]*ptx.Var, b.options.Instances)
	for i := range copies {
		copies[i] = make([]*ptx.Var, len(original))
	}
	for j, v := range original {
		if !b.options.differs(j) {
			b.kernel.Params = append(b.kernel.Params, v)
			b.result.Params = append(b.result.Params, Origin{Argument, -1, j})
		}
	}
	for i := range copies {
		for j, v := range original {
			if b.options.differs(j) {
				w := *v
				w.Name = fmt.Sprintf("%s_%d_%s", b.tag, i, v.Name)
				copies[i][j] = &w
				b.kernel.Params = append(b.kernel.Params, &w)
				b.result.Params = append(b.result.Params, Origin{Argument, i, j})
			}
		}
	}
	return copies
}

// commonValues declares the registers that each instance of unequal grids sets. A value that is
// equal for all instances is a constant.
func (b *batch) commonValues(vals values) {
	for i, axis := range axes {
		n := b.options.Grids[0][i]
		equal := !slices.ContainsFunc(b.options.Grids, func(g [3]uint32) bool { return g[i] != n })
		if b.used["%nctaid"+axis] && !equal {
			vals["%nctaid"+axis] = b.reg("nctaid"+axis[1:], ptx.B32)
		} else {
			vals["%nctaid"+axis] = number(n)
		}
		if b.used["%ctaid"+axis] && !(equal && n == 1) {
			vals["%ctaid"+axis] = b.reg("ctaid"+axis[1:], ptx.B32)
		} else {
			vals["%ctaid"+axis] = number(0)
		}
	}
}

// locate computes the coordinates of a block of an instance from its index in the launch.
func (b *batch) locate(index ptx.Operand, first uint32, grid [3]uint32, vals values) {
	own := values{}
	b.blockOf(index, first, grid, b.used, own)
	for _, name := range []string{"%ctaid", "%nctaid"} {
		for _, axis := range axes {
			if to := vals[name+axis]; to.Kind == ptx.OpReg {
				b.emit("mov.b32", to, own[name+axis])
			}
		}
	}
}

// hasTables reports whether the module's version has branch tables.
func (u *unit) hasTables() bool {
	var major int
	if _, err := fmt.Sscanf(u.from.Version, "%d.", &major); err != nil {
		return false
	}
	return major >= 6
}

// branchTable emits the leaves behind one indexed branch.
func (b *batch) branchTable(index ptx.Operand, leaf func(int)) {
	list := ptx.Operand{Kind: ptx.OpList, Reg: ptx.NoReg, Reg2: ptx.NoReg}
	for range b.options.Instances {
		list.Elems = append(list.Elems, label(b.newLabel("instance")))
	}
	b.emit("brx.idx.uni", index, list)
	for i, l := range list.Elems {
		b.place(l.Name)
		leaf(i)
	}
}

// site is an instruction of the kernel that loads a differing parameter, or takes its address.
type site struct {
	at    int // index in the kernel's body
	inst  ptx.Inst
	moved bool           // the leaves define its results, and the instruction is removed
	temps []ptx.Operand  // else the leaves define these registers,
	dests []*ptx.Operand // which the instruction's results are copied from
}

// sites finds the instructions that refer to differing parameters. One that is the only
// definition of its results, and has no guard, moves to the leaves.
func (b *batch) sites() (list []*site) {
	defs := definitions(b.kernel)
	for i := range b.kernel.Body {
		in := &b.kernel.Body[i]
		if !b.refers(in) {
			continue
		}
		s := &site{at: i, inst: *in, moved: in.Guard.Reg == ptx.NoReg}
		s.inst.Args = slices.Clone(in.Args)
		s.inst.Guard = ptx.Guard{Reg: ptx.NoReg}
		s.inst.Args[0].Elems = slices.Clone(in.Args[0].Elems)
		for _, d := range results(&s.inst) {
			s.moved = s.moved && defs[d.Reg] == 1
		}
		if !s.moved {
			for _, d := range results(&s.inst) {
				s.dests = append(s.dests, d)
				s.temps = append(s.temps, b.reg("argument", b.kernel.Regs[d.Reg].Type))
			}
		}
		list = append(list, s)
	}
	return list
}

// refers reports whether an instruction has an operand in a differing parameter.
func (b *batch) refers(in *ptx.Inst) (found bool) {
	eachNested(in.Args, func(op *ptx.Operand) {
		if op.Var != nil {
			j := slices.Index(b.kernel.Params, op.Var)
			found = found || j >= 0 && b.options.differs(j)
		}
	})
	return found
}

// results returns the registers that a load or a mov defines.
func results(in *ptx.Inst) (list []*ptx.Operand) {
	if in.Args[0].Kind == ptx.OpMem {
		return nil
	}
	eachNested(in.Args[:1], func(op *ptx.Operand) {
		if op.Kind == ptx.OpReg && op.Reg != ptx.NoReg {
			list = append(list, op)
		}
	})
	return list
}

// leafLoad emits the instruction of a site for one instance.
func (b *batch) leafLoad(s *site, original, copies []*ptx.Var) {
	in := s.inst
	in.Args = slices.Clone(in.Args)
	for i := range in.Args {
		in.Args[i].Elems = slices.Clone(in.Args[i].Elems)
	}
	eachNested(in.Args, func(op *ptx.Operand) {
		if j := slices.Index(original, op.Var); op.Var != nil && j >= 0 && copies[j] != nil {
			op.Var = copies[j]
		}
	})
	if !s.moved {
		for i, d := range results(&in) {
			d.Reg = s.temps[i].Reg
		}
	}
	b.code = append(b.code, in)
}

// removeSites removes the instructions that moved to the leaves. The others become copies of
// the registers that the leaves define.
func (b *batch) removeSites(sites []*site) {
	at := map[int]*site{}
	for _, s := range sites {
		at[s.at] = s
	}
	rebuild(b.kernel, func(i int, in ptx.Inst) []ptx.Inst {
		s := at[i]
		if s == nil {
			return []ptx.Inst{in}
		}
		var copies []ptx.Inst
		for k, d := range s.dests {
			copies = append(copies, move(in.Guard, b.kernel.Regs[d.Reg].Type, *d, s.temps[k]))
		}
		return copies
	})
}
