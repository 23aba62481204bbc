package optimizer

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/ir"
)

// Unrolled is what unrolling gains and costs.
type Unrolled struct {
	Copies        int     `json:"copies"`
	CopyUS        float64 `json:"copy_us"`        // the predicted time of a replay, by copy
	InstantiateUS float64 `json:"instantiate_us"` // what the host takes once to make a graph of it
	Bytes         int64   `json:"bytes"`          // of memory that passes gave the copies
}

// UnrolledOf sums up the schedule of an unrolled program; its copies are 1 of any other.
func UnrolledOf(s *ir.Schedule, p *model.Profile) Unrolled {
	if s == nil || s.Graph == nil || p == nil {
		return Unrolled{}
	}
	k := max(1, s.Graph.Copies) // of which passes may have left out operations
	u := Unrolled{
		Copies:        k,
		CopyUS:        float64(s.Predicted) / 1000 / float64(k),
		InstantiateUS: float64(p.Host.Instantiate+model.Time(s.Graph.Len())*p.Host.InstantiateOne) / float64(model.Microsecond),
	}
	used, buffers := usedBuffers(s.Graph), s.Graph.Buffers // what passes left out used some
	for b := len(buffers) - s.Graph.Made; b < len(buffers); b++ {
		if used[b] {
			u.Bytes += aligned(buffers[b].Size())
		}
	}
	return u
}
