package irtest

import (
	"math/rand/v2"

	"github.com/reprise-gpu/reprise/internal/box"
	"github.com/reprise-gpu/reprise/ir"
)

// Strided returns a graph as Random does, in which about half of the accesses of launches have strides. The strides
// of a buffer are multiples of few numbers, as those of a matrix, or any numbers.
func Strided(r *rand.Rand, ops int) *ir.Graph {
	g := Random(r, ops)
	s := &strides{r: r, g: g}
	for range g.Buffers {
		row := 2 + r.Int64N(12)
		s.rows = append(s.rows, [2]int64{row, row * (2 + r.Int64N(4))})
	}
	for v := range g.Ops {
		for i := range g.Ops[v].Uses {
			if a := &g.Ops[v].Uses[i]; r.IntN(2) == 0 && g.Ops[v].Kind == ir.KindLaunch && !a.Empty() {
				s.stride(a)
			}
		}
	}
	g.Shapes = s.shapes.Shapes()
	return g
}

// strides gives accesses strides.
type strides struct {
	r      *rand.Rand
	g      *ir.Graph
	rows   [][2]int64 // by buffer: the strides of a matrix
	shapes box.Table
}

// stride replaces an access by one with strides inside its range, unless it must write all of a buffer or has no room.
func (s *strides) stride(a *ir.Access) {
	if role := s.g.Buffers[a.Buffer].Role; a.Mode == ir.Write && (role == ir.Temporary || role == ir.Output) {
		return
	}
	lo := a.Lo + s.r.Int64N(min(8, a.Hi-a.Lo))
	b := box.Box{Lo: lo, Shape: ir.Shape{Run: 1 + s.r.Int64N(4)}}
	for k := range 1 + s.r.IntN(2) {
		d := s.rows[a.Buffer][k]
		if s.r.IntN(4) == 0 {
			d = b.Extent() + 1 + s.r.Int64N(6)
		}
		b.Count[k], b.Stride[k] = 2+s.r.Int64N(3), d
	}
	if b.Valid() && b.Hi() <= a.Hi {
		a.Lo, a.Hi, a.Shape = b.Lo, b.Hi(), ir.ShapeID(s.shapes.ID(b.Shape))
	}
}
