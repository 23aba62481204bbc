package rewrite

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// Part is a launch that Fuse joins with others.
type Part struct {
	Module      *ptx.Module
	Kernel      string
	Grid, Block [3]uint32
	Shared      uint32 // dynamic shared memory, bytes
}

// maxBlockThreads is the largest block of every GPU.
const maxBlockThreads = 1024

// Fuse joins launches of different kernels into one. Each block runs one part:
//
//	grids (4,2,1), (4,2,1)     launch (4,2,2)     equal grids with z = 1: part = %ctaid.z
//	grids (4,2,1), (9,1,1)     launch (17,1,1)    else by ranges: part 0 has blocks 0 to 7
//
// If the blocks of the parts differ, the launch has blocks of one dimension with the most
// threads of any part, and %tid and %ntid are computed; surplus threads of a part leave at once.
// Barriers without a count then wait for the threads that have not left, as PTX defines it for
// sm_70 and later; for earlier targets they get the part's count of threads. No block contains
// threads of two parts, so parts may use the same barriers.
//
// Shared memory of the parts is laid over one another, static before dynamic. Registers, labels
// and parameters of a part get names of their own. Functions and variables of one module that
// the rewrite leaves as they are appear once.
//
// Launch bounds become those that allow every part: .maxntid and .reqntid if each part has one,
// and .minnctapersm and .maxnreg if each part has it, the least and the largest number.
//
// The error is a *Refusal if a part cannot be rewritten.
func Fuse(parts []Part) (*Result, error) {
	f, err := newFusion(parts)
	if err != nil {
		return nil, err
	}
	if err := f.overlay(); err != nil {
		return nil, err
	}
	for _, p := range f.parts {
		if err := p.prepare(f); err != nil {
			return nil, err
		}
	}
	f.declare()
	f.dispatch()
	f.bounds()
	f.prepend()
	first := f.parts[0].from
	m := &ptx.Module{File: first.File, AddressSize: first.AddressSize, Vars: f.vars, Funcs: append(f.funcs, f.f)}
	m.Version, m.Target = f.newest()
	f.result.Kernel = f.f.Name
	return f.result.finish(m, f.f.Name)
}

// fusion is the state of Fuse. The emitter's function is the kernel of the result.
type fusion struct {
	*emitter
	parts  []*fusedPart
	planar bool   // part = %ctaid.z
	flat   bool   // blocks have one dimension
	block  uint32 // threads of a block of the launch
	vars   []*ptx.Var
	funcs  []*ptx.Func
	result *Result
}

// fusedPart is a part with the copy of its kernel.
type fusedPart struct {
	Part
	*unit
	prefix  string // of names in the kernel
	threads uint32 // of a block
	first   uint32 // index of its first block in the launch
	index   ptx.Operand
	touched map[*ptx.Func]bool // functions that differ from those of the module
	known   []Variable
}

// newFusion extracts the parts and chooses the extents of the launch.
func newFusion(parts []Part) (*fusion, error) {
	if len(parts) == 0 {
		return nil, fmt.Errorf("rewrite: nothing to fuse: at least one part is required")
	}
	f := &fusion{planar: len(parts) <= int(maxExtent[2]), result: &Result{}}
	units := make([]*unit, len(parts))
	total := uint64(0)
	for i, p := range parts {
		u, err := extract(p.Module, p.Kernel)
		if err != nil {
			return nil, err
		}
		units[i] = u
		if err := p.check(u, parts[0].Module); err != nil {
			return nil, err
		}
		f.planar = f.planar && p.Grid == parts[0].Grid && p.Grid[2] == 1
		f.flat = f.flat || p.Block != parts[0].Block
		part := &fusedPart{Part: p, unit: u, threads: p.Block[0] * p.Block[1] * p.Block[2], first: uint32(total), touched: map[*ptx.Func]bool{}}
		if total += blocks(p.Grid); total > maxRangeBlocks {
			return nil, refuse(p.Kernel, "the parts up to it have %d blocks, and a launch has %d at most", total, maxRangeBlocks)
		}
		f.block = max(f.block, part.threads)
		f.parts = append(f.parts, part)
	}
	if err := f.checkShared(); err != nil {
		return nil, err
	}
	f.extents(uint32(total))
	tag := freshTag(units...)
	f.emitter = newEmitter(&ptx.Func{Entry: true, Link: ptx.Visible, Labels: map[string]int{}}, tag)
	for i, p := range f.parts {
		p.prefix = fmt.Sprintf("%s_%d_", tag, i)
	}
	f.f.Name = f.name()
	return f, nil
}

// check refuses a part that cannot be fused.
func (p *Part) check(u *unit, first *ptx.Module) error {
	threads := uint64(p.Block[0]) * uint64(p.Block[1]) * uint64(p.Block[2])
	switch {
	case blocks(p.Grid) == 0 || blocks(p.Grid) > maxRangeBlocks:
		return fmt.Errorf("rewrite: fusion of %s: grid %v must have 1 to %d blocks", p.Kernel, p.Grid, maxRangeBlocks)
	case threads == 0 || threads > maxBlockThreads:
		return fmt.Errorf("rewrite: fusion of %s: block %v must have 1 to %d threads", p.Kernel, p.Block, maxBlockThreads)
	case p.Module.Target != first.Target && (specific(p.Module.Target) || specific(first.Target)):
		return refuse(p.Kernel, "it is for %s and other parts for %s, whose instructions other targets may lack", p.Module.Target, first.Target)
	case p.Module.AddressSize != first.AddressSize:
		return refuse(p.Kernel, "its addresses have %d bits, those of other parts %d", p.Module.AddressSize, first.AddressSize)
	}
	used := specials(u.bodies())
	for _, name := range []string{"%dynamic_smem_size", "%total_smem_size", "%aggr_smem_size"} {
		if used[name] {
			return refuse(p.Kernel, "it reads %s, which would be that of the launch", name)
		}
	}
	return u.check(true)
}

// specific reports whether a target has instructions that later ones may lack, as sm_90a.
func specific(target string) bool {
	return strings.HasSuffix(target, "a") || strings.HasSuffix(target, "f")
}

// checkShared refuses a module variable that one part writes and another uses.
func (f *fusion) checkShared() error {
	type key struct {
		m    *ptx.Module
		name string
	}
	users := map[key]int{}
	for i, p := range f.parts {
		p.known = p.variables(i)
		for _, v := range p.known {
			users[key{p.from, v.Original}]++
		}
	}
	for _, p := range f.parts {
		for _, v := range p.known {
			if v.Written && users[key{p.from, v.Original}] > 1 {
				return refuse(p.Kernel, "it writes module variable %s, which another part uses", v.Original)
			}
		}
	}
	return nil
}

// extents sets the grid and the block of the launch.
func (f *fusion) extents(total uint32) {
	f.result.Grid = [3]uint32{total, 1, 1}
	if f.planar {
		f.result.Grid = f.parts[0].Grid
		f.result.Grid[2] = uint32(len(f.parts))
	}
	f.result.Block = f.parts[0].Block
	if f.flat {
		f.result.Block = [3]uint32{f.block, 1, 1}
	}
}

// name returns the name of the fused kernel.
func (f *fusion) name() string {
	switch first := f.parts[0].Kernel; len(f.parts) {
	case 1:
		return f.tag + "_" + first
	case 2:
		return fmt.Sprintf("%s_%s_and_%s", f.tag, first, f.parts[1].Kernel)
	default:
		return fmt.Sprintf("%s_%s_and_%d_more", f.tag, first, len(f.parts)-1)
	}
}

// prepare computes the special registers of a part and replaces them.
func (p *fusedPart) prepare(f *fusion) error {
	used := specials(p.bodies())
	e := newEmitter(p.kernel, f.tag)
	vals := values{}
	// A register that dispatch replaces by the one it has compared.
	p.index = e.reg("block", ptx.B32)
	thread := ptx.Operand{}
	if p.threads < f.block || f.flat && p.Block[0] < p.threads && readsAny(used, "%tid", p.Block) {
		thread = e.special("%tid.x")
	}
	if p.threads < f.block {
		surplus := e.reg("surplus", ptx.Pred)
		e.emit("setp.ge.u32", surplus, thread, number(p.threads))
		e.guarded(when(surplus), "exit")
		p.countBarriers(f)
	}
	if f.planar {
		vals["%ctaid.z"], vals["%nctaid.z"] = number(0), number(1)
	} else {
		e.blockOf(p.index, p.first, p.Grid, used, vals)
	}
	if f.flat && p.Block[0] == p.threads {
		for i, axis := range axes {
			vals["%ntid"+axis] = number(p.Block[i])
		}
	} else if f.flat {
		e.split(thread, "%tid", "%ntid", p.Block, used, vals)
	}
	for _, g := range p.bodies() {
		for name := range specials([]*ptx.Func{g}) {
			if _, ok := vals[name]; ok {
				p.touched[g] = true
			}
		}
	}
	if err := p.substitute(vals, f.tag); err != nil {
		return err
	}
	e.prepend()
	p.touchCallers()
	return nil
}

// touchCallers marks the functions that refer to a touched one, transitively: they refer to it
// by another name.
func (p *fusedPart) touchCallers() {
	for changed := true; changed; {
		changed = false
		for _, g := range p.bodies() {
			if p.touched[g] {
				continue
			}
			eachName(g, func(name *string) {
				if to := p.fn(*name); to != nil && p.touched[to] {
					p.touched[g], changed = true, true
				}
			})
		}
	}
}

// dispatch emits the selection of the part, and the parts.
func (f *fusion) dispatch() {
	bounds := make([]uint32, len(f.parts))
	name := "%ctaid.x"
	for i, p := range f.parts {
		bounds[i] = p.first
		if f.planar {
			name, bounds[i] = "%ctaid.z", uint32(i)
		}
	}
	index := f.special(name)
	f.tree(index, bounds, 0, len(f.parts), func(i int) { f.graft(i, index) })
}

// graft appends the code of a part to the fused kernel, with its registers, variables,
// parameters and labels.
func (f *fusion) graft(i int, index ptx.Operand) {
	p := f.parts[i]
	base := ptx.RegID(len(f.f.Regs))
	rename := func(name string) string {
		if name[0] == '%' {
			return "%" + p.prefix + name[1:]
		}
		return p.prefix + name
	}
	register := func(id *ptx.RegID) {
		switch *id {
		case ptx.NoReg:
		case p.index.Reg:
			*id = index.Reg
		default:
			*id += base
		}
	}
	for _, r := range p.kernel.Regs {
		f.f.Regs = append(f.f.Regs, ptx.Reg{Name: rename(r.Name), Type: r.Type})
	}
	for j, v := range p.kernel.Params {
		v.Name = rename(v.Name)
		f.f.Params = append(f.f.Params, v)
		f.result.Params = append(f.result.Params, Origin{Argument, i, j})
	}
	for _, v := range p.kernel.Vars {
		original := v.Name
		v.Name = rename(v.Name)
		f.f.Vars = append(f.f.Vars, v)
		f.describe(i, original, v)
	}
	local := map[string]bool{}
	for _, proto := range p.kernel.Protos {
		local[proto.Name] = true
		proto.Name = rename(proto.Name)
		f.f.Protos = append(f.f.Protos, proto)
	}
	at := len(f.code)
	for name, to := range p.kernel.Labels {
		f.labels[rename(name)] = at + to
	}
	for _, in := range p.kernel.Body {
		register(&in.Guard.Reg)
		eachNested(in.Args, func(op *ptx.Operand) {
			register(&op.Reg)
			register(&op.Reg2)
			if op.Kind == ptx.OpLabel || op.Kind == ptx.OpFunc && local[op.Name] {
				op.Name = rename(op.Name)
			}
		})
		f.code = append(f.code, in)
	}
	if runsPastEnd(p.kernel) {
		f.emit("ret")
	}
}

// runsPastEnd reports whether a thread may reach the end of the body of f, which ends it.
func runsPastEnd(f *ptx.Func) bool {
	n := len(f.Body)
	for _, at := range f.Labels {
		if at == n {
			return true
		}
	}
	if n == 0 || f.Body[n-1].Guard.Reg != ptx.NoReg {
		return true
	}
	switch f.Body[n-1].Name {
	case "ret", "exit", "trap", "bra", "brx":
		return false
	}
	return true
}

// bounds combines the launch bounds of the parts.
func (f *fusion) bounds() {
	k := f.f
	required, limited := true, true
	k.MinBlocks = f.parts[0].kernel.MinBlocks
	for i, p := range f.parts {
		required = required && p.kernel.ReqThreads[0] > 0
		limited = limited && (p.kernel.ReqThreads[0] > 0 || p.kernel.MaxThreads[0] > 0)
		k.MinBlocks = min(k.MinBlocks, p.kernel.MinBlocks)
		if i == 0 || k.MaxRegs > 0 && p.kernel.MaxRegs > 0 {
			k.MaxRegs = max(k.MaxRegs, p.kernel.MaxRegs)
		} else {
			k.MaxRegs = 0
		}
	}
	switch {
	case required:
		k.ReqThreads = f.result.Block
	case limited:
		k.MaxThreads = [3]uint32{f.block, 1, 1}
	default:
		k.MinBlocks = 0 // has no meaning without a number of threads
	}
}

// newest returns the newest version and target of the parts.
func (f *fusion) newest() (version, target string) {
	for _, p := range f.parts {
		if version == "" || ptx.Newer(p.from.Version, version) {
			version = p.from.Version
		}
		if target == "" || ptx.Newer(p.from.Target, target) {
			target = p.from.Target
		}
	}
	return version, target
}

// countBarriers gives the barriers of a part that has fewer threads than the block a count, for
// targets on which a barrier without one is for all threads of the block. A part whose threads
// may leave before the first barrier relies on a barrier that does not wait for them, so it keeps
// its barriers.
func (p *fusedPart) countBarriers(f *fusion) {
	if _, target := f.newest(); (&ptx.Module{Target: target}).TargetNumber() >= 70 || p.leavesEarly() {
		return
	}
	count := number((p.threads + 31) / 32 * 32)
	for _, g := range p.bodies() {
		for i := range g.Body {
			if in := &g.Body[i]; uncounted(in) {
				at := 1
				if slices.Contains(in.Suffix, "red") {
					at = 2
				}
				in.Args = slices.Insert(slices.Clone(in.Args), at, count)
				p.touched[g] = true
			}
		}
	}
}

// uncounted reports whether an instruction is a barrier of all threads of the block.
func uncounted(in *ptx.Inst) bool {
	switch {
	case in.Name != "bar" && in.Name != "barrier" || slices.Contains(in.Suffix, "warp"):
		return false
	case slices.Contains(in.Suffix, "sync"):
		return len(in.Args) == 1
	case slices.Contains(in.Suffix, "red"):
		return len(in.Args) == 3
	}
	return false
}

// leavesEarly reports whether the kernel has a path to its end without a barrier.
func (p *fusedPart) leavesEarly() bool {
	k := p.kernel
	seen := make([]bool, len(k.Body)+1)
	for stack := []int{0}; len(stack) > 0; {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[i] {
			continue
		}
		seen[i] = true
		if i == len(k.Body) {
			return true
		}
		if !uncounted(&k.Body[i]) {
			stack = append(stack, successors(k, i)...)
		}
	}
	return false
}
