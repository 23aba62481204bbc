package optimizer

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/ir"
)

// Unrolled holds the gain and the cost of unrolling.
type Unrolled struct {
	Copies        int     `json:"copies"`
	CopyUS        float64 `json:"copy_us"`        // predicted time of a replay per copy, in us
	InstantiateUS float64 `json:"instantiate_us"` // time of the host to instantiate the graph once, in us
	Bytes         int64   `json:"bytes"`          // additional memory for copies
}

// UnrolledOf returns these figures for a schedule. Copies is 1 if the program is not unrolled.
func UnrolledOf(s *ir.Schedule, p *model.Profile) Unrolled {
	if s == nil || s.Graph == nil || p == nil {
		return Unrolled{}
	}
	k := max(1, s.Graph.Copies) // not counted from the operations, some of which passes may have removed
	u := Unrolled{
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
