package rewrite

import "github.com/reprise-gpu/reprise/internal/ptx"

// Tile rewrites a kernel so that a launch runs a box of the blocks of a larger grid. The launch has the grid of the box; in
// it, %ctaid and %nctaid are those of the whole grid. The parameters that are added come last; TileArguments returns their
// values. Boxes of one launch must not overlap other launches in time that the original launch may not overlap.
//
//	x = first x + %ctaid.x,   y = first y + %ctaid.y,   z = first z + %ctaid.z
//
// The error is a *Refusal if the kernel cannot be rewritten, as for Range.
func Tile(m *ptx.Module, kernel string) (*Result, error) {
	return regrid(m, kernel, len(axes), func(e *emitter, g *gridMath) {
		for i, axis := range axes {
			if name := "%ctaid" + axis; g.used[name] {
				at := e.special(name)
				sum := e.reg("ctaid_"+axis[1:], ptx.B32)
				e.emit("add.u32", sum, at, g.load(FirstX+OriginKind(i), "first_"+axis[1:]))
				g.vals[name] = sum
			}
		}
	})
}

// TileArguments returns the values of the parameters that Tile has added, in order, for the box of blocks of a grid that begins
// at first.
func (r *Result) TileArguments(grid, first [3]uint32) (list []uint32) {
	for _, p := range r.Params {
		switch {
		case p.Kind >= FirstX && p.Kind <= FirstZ:
			list = append(list, first[p.Kind-FirstX])
		case p.Kind != Argument:
			list = append(list, p.Kind.value(grid, 0))
		}
	}
	return list
}
