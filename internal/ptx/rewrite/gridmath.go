package rewrite

import (
	"fmt"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// gridMath computes the coordinates of a block in a grid whose extents are known at run time.
// load emits the load of a figure of the grid, which the host has computed. A division by an
// extent is a multiplication by its reciprocal, see magic.
type gridMath struct {
	*emitter
	used map[string]bool // special registers that the kernel reads
	vals values          // results
	load func(kind OriginKind, name string) ptx.Operand
}

// reads reports whether the kernel reads a special register along one of the first dims axes.
func (g *gridMath) reads(name string, dims int) bool {
	return readsAny(g.used, name, [3]uint32{2, uint32(dims), uint32(dims / 3 * 3)})
}

// coordinates sets the values of %ctaid from the index of a block. Divisions that only unused
// coordinates need are left out.
func (g *gridMath) coordinates(index ptx.Operand, dims int) {
	last := 0
	for i := range dims {
		if g.used["%ctaid"+axes[i]] {
			last = i
		}
	}
	for i := 0; i <= last; i++ {
		name := "%ctaid" + axes[i]
		if i == dims-1 {
			g.vals[name] = index
			return
		}
		axis := axes[i][1:]
		wide, quotient := g.reg("wide", ptx.B64), g.reg("quotient", ptx.B32)
		g.emit("mul.wide.u32", wide, index, g.load(GridMagicX+OriginKind(i), "magic_"+axis))
		g.emit("shr.u64", wide, wide, g.load(GridShiftX+OriginKind(i), "shift_"+axis))
		g.emit("cvt.u32.u64", quotient, wide)
		if g.used[name] {
			at := g.reg("ctaid_"+axis, ptx.B32)
			g.emit("mad.lo.u32", at, quotient, g.load(GridMinusX+OriginKind(i), "minus_n"+axis), index)
			g.vals[name] = at
		}
		index = quotient
	}
}

// extents sets the values of %nctaid.
func (g *gridMath) extents(dims int) {
	for i := range dims {
		if name := "%nctaid" + axes[i]; g.used[name] {
			g.vals[name] = g.load(GridX+OriginKind(i), "n"+axes[i][1:])
		}
	}
}

// value returns a figure of a grid, or first.
func (k OriginKind) value(grid [3]uint32, first uint32) uint32 {
	switch {
	case k == First:
		return first
	case k >= GridX && k <= GridZ:
		return grid[k-GridX]
	case k >= GridMinusX && k <= GridMinusY:
		return -grid[k-GridMinusX]
	case k >= GridMagicX && k <= GridMagicY:
		m, _ := magic(grid[k-GridMagicX])
		return m
	case k >= GridShiftX && k <= GridShiftY:
		_, s := magic(grid[k-GridShiftX])
		return 31 + s
	}
	panic(fmt.Sprintf("BUG: parameter kind %d is not a figure of a grid", k))
}
