package optimizer

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/ir"
)

// predict sets the makespan of one replay, in nanoseconds: it simulates the schedule on an idle device, as a graph
// or over streams, with the demands of the cost model.
func predict(s *ir.Schedule, opts *Options) error {
	f, err := opts.forecast(s.Graph)
	if err != nil {
		return err
	}
	s.Profile = f.profile.ID
	s.Predicted = int64(f.makespan(s) / model.Nanosecond)
	return nil
}
