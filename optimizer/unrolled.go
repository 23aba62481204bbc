package optimizer

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/plansize"
	"github.com/reprise-gpu/reprise/ir"
)

// unrolledOf is plansize.UnrolledOf.
func unrolledOf(s *ir.Schedule, p *model.Profile) plansize.Unrolled {
	if s == nil || s.Graph == nil || p == nil {
		return plansize.Unrolled{}
	}
	k := max(1, s.Graph.Copies) // not counted from the operations, some of which passes may have removed
	u := plansize.Unrolled{
		Copies:        k,
		CopyUS:        float64(s.Predicted) / 1000 / float64(k),
		InstantiateUS: float64(p.Host.Instantiate+model.Time(s.Graph.Len())*p.Host.InstantiateOne) / float64(model.Microsecond),
	}
	used, buffers := usedBuffers(s.Graph), s.Graph.Buffers // passes may have removed the users of a buffer
	for b := len(buffers) - s.Graph.Made; b < len(buffers); b++ {
		if used[b] {
			u.Bytes += aligned(buffers[b].Size())
		}
	}
	return u
}
