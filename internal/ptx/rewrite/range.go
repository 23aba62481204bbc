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
	return regrid(m, kernel, dims, func(e *emitter, g *gridMath) {
		if g.reads("%ctaid", dims) {
			index := e.special("%ctaid.x")
			sum := e.reg("index", ptx.B32)
			e.emit("add.u32", sum, index, g.load(First, "first"))
			g.coordinates(sum, dims)
		}
	})
}

// regrid rewrites a kernel for a part of a grid of dims dimensions: locate sets the coordinates of a block in the whole grid.
func regrid(m *ptx.Module, kernel string, dims int, locate func(*emitter, *gridMath)) (*Result, error) {
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
	tag := freshTag(u)
	r := &Result{Kernel: kernel}
	r.arguments(u.kernel, -1)
	e := newEmitter(u.kernel, tag)
	g := &gridMath{emitter: e, used: specials(u.bodies()), vals: values{}}
	g.load = func(kind OriginKind, name string) ptx.Operand {
		return e.load(r.add(u.kernel, Origin{Kind: kind}, ptx.U32, tag+"_"+name), name)
	}
	locate(e, g)
	g.extents(dims)
	if err := u.substitute(g.vals, tag); err != nil {
		return nil, err
	}
	e.prepend()
	r.Variables = u.variables(0)
	return r.finish(u.module(), kernel)
}

// arguments adds the origins of the parameters of a kernel.
func (r *Result) arguments(f *ptx.Func, part int) {
	for i := range f.Params {
		r.Params = append(r.Params, Origin{Argument, part, i})
	}
}

// add adds a parameter to the kernel.
func (r *Result) add(f *ptx.Func, o Origin, typ ptx.Type, name string) *ptx.Var {
	v := &ptx.Var{Name: name, Space: ptx.ParamSpace, Type: typ, Align: typ.Size()}
	f.Params = append(f.Params, v)
	r.Params = append(r.Params, o)
	return v
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
