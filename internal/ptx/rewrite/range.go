package rewrite

import (
	"fmt"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// maxRangeBlocks bounds the blocks of a grid that Range cuts, since a block has an index of 31
// bits.
const maxRangeBlocks = 1<<31 - 1

// Range rewrites a kernel so that a launch runs consecutive blocks of a larger grid, counted
// with x fastest. The launch has a grid of (count, 1, 1); in it, %ctaid and %nctaid are those of
// the whole grid. dims is the number of dimensions of the whole grid, from 1 to 3: further
// extents must be 1. The parameters that are added come last; RangeArguments returns their
// values.
//
//	index = first + %ctaid.x
//	x = index mod nx,   y = index / nx mod ny,   z = index / (nx*ny)
//
// The divisions are multiplications by reciprocals that are computed on the host. Slices of one
// launch must not overlap other launches in time that the original launch may not overlap.
//
// The error is a *Refusal if the kernel cannot be rewritten.
func Range(m *ptx.Module, kernel string, dims int) (*Result, error) {
	u, err := extract(m, kernel)
	if err != nil {
		return nil, err
	}
	if dims < 1 || dims > 3 {
		return nil, fmt.Errorf("rewrite: a grid has 1 to 3 dimensions, not %d", dims)
	}
	if err := u.check(false); err != nil {
		return nil, err
	}
	r := &rangeRewrite{unit: u, emitter: newEmitter(u.kernel, freshTag(u)), used: specials(u.bodies()), result: &Result{}}
	r.result.arguments(u.kernel, -1)
	vals := r.coordinates(dims)
	r.extents(vals, dims)
	if err := u.substitute(vals, r.tag); err != nil {
		return nil, err
	}
	r.prepend()
	r.result.Variables = u.variables(0)
	r.result.Kernel = kernel
	return r.result.finish(u.module(), kernel)
}

// rangeRewrite is the state of Range.
type rangeRewrite struct {
	*unit
	*emitter
	used   map[string]bool
	result *Result
}

// arguments adds the origins of the parameters of a kernel.
func (r *Result) arguments(f *ptx.Func, part int) {
	for i := range f.Params {
		r.Params = append(r.Params, Origin{Argument, part, i})
	}
}

// param adds a parameter and loads it.
func (r *rangeRewrite) param(kind OriginKind, name string) ptx.Operand {
	return r.load(r.result.add(r.kernel, Origin{Kind: kind}, ptx.U32, r.tag+"_"+name), name)
}

// add adds a parameter to the kernel.
func (r *Result) add(f *ptx.Func, o Origin, typ ptx.Type, name string) *ptx.Var {
	v := &ptx.Var{Name: name, Space: ptx.ParamSpace, Type: typ, Align: typ.Size()}
	f.Params = append(f.Params, v)
	r.Params = append(r.Params, o)
	return v
}

// coordinates computes the coordinates of the block that the kernel reads.
func (r *rangeRewrite) coordinates(dims int) values {
	vals := values{}
	last := 0 // number of the coordinates up to the last that is read
	for i := range dims {
		if r.used["%ctaid"+axes[i]] {
			last = i + 1
		}
	}
	if last == 0 {
		return vals
	}
	index := r.reg("index", ptx.B32)
	r.emit("add.u32", index, r.special("%ctaid.x"), r.param(First, "first"))
	grid := [...]struct {
		magic, shift, extent OriginKind
	}{{GridMagicX, GridShiftX, GridX}, {GridMagicY, GridShiftY, GridY}}
	for i := range last {
		if i == dims-1 {
			vals["%ctaid"+axes[i]] = index
			break
		}
		wide, quotient := r.reg("wide", ptx.B64), r.reg("quotient", ptx.B32)
		axis := axes[i][1:]
		r.emit("mul.wide.u32", wide, index, r.param(grid[i].magic, "magic_"+axis))
		r.emit("shr.u64", wide, wide, r.param(grid[i].shift, "shift_"+axis))
		r.emit("cvt.u32.u64", quotient, wide)
		if r.used["%ctaid"+axes[i]] {
			extent, at := r.extent(vals, i), r.reg("ctaid_"+axis, ptx.B32)
			r.emit("mul.lo.u32", at, quotient, extent)
			r.emit("sub.u32", at, index, at)
			vals["%ctaid"+axes[i]] = at
		}
		index = quotient
	}
	return vals
}

// extent returns the extent of the grid along an axis.
func (r *rangeRewrite) extent(vals values, axis int) ptx.Operand {
	name := "%nctaid" + axes[axis]
	if _, ok := vals[name]; !ok {
		vals[name] = r.param(GridX+OriginKind(axis), "n"+axes[axis][1:])
	}
	return vals[name]
}

// extents loads the extents of the grid that the kernel reads.
func (r *rangeRewrite) extents(vals values, dims int) {
	for i := range dims {
		if r.used["%nctaid"+axes[i]] {
			r.extent(vals, i)
		}
	}
}

// RangeArguments returns the values of the parameters that Range has added, in order, for the
// blocks from first on of a grid. An error is a grid that is empty or has 2^31 blocks or more.
func (r *Result) RangeArguments(grid [3]uint32, first uint32) ([]uint32, error) {
	total := uint64(1)
	for _, n := range grid {
		if total *= uint64(n); total == 0 || total > maxRangeBlocks {
			return nil, fmt.Errorf("rewrite: a range needs a grid of 1 to %d blocks, not %v", maxRangeBlocks, grid)
		}
	}
	var list []uint32
	for _, p := range r.Params {
		if p.Kind != Argument {
			list = append(list, p.Kind.value(grid, first))
		}
	}
	return list, nil
}

// value returns the value of a parameter of Range.
func (k OriginKind) value(grid [3]uint32, first uint32) uint32 {
	m, s := [2]uint32{}, [2]uint32{}
	for i := range m {
		m[i], s[i] = magic(grid[i])
		s[i] += 31
	}
	switch k {
	case First:
		return first
	case GridX, GridY, GridZ:
		return grid[k-GridX]
	case GridMagicX:
		return m[0]
	case GridShiftX:
		return s[0]
	case GridMagicY:
		return m[1]
	case GridShiftY:
		return s[1]
	}
	panic(fmt.Sprintf("BUG: parameter kind %d is not of a range", k))
}
