package validation

import (
	"errors"
	"fmt"

	"github.com/reprise-gpu/reprise/internal/sim"
)

// errNoProfiler is the error of a mode that needs the duration that a profiler reports.
var errNoProfiler = errors.New("only a simulated device reports the duration of a kernel")

// span returns the duration of a kernel in us as a profiler reports it: from its earliest possible start to its end.
func (c *contract) span(cold bool) (float64, error) {
	if err := c.warm(1, false); err != nil {
		return 0, err
	}
	if cold {
		if err := c.flush(); err != nil {
			return 0, err
		}
	}
	w, err := c.observe()
	return float64(w.Took) / 1e6, err
}

// observe runs one launch and returns its entry of the time line.
func (c *contract) observe() (sim.Work, error) {
	dev, ok := c.dev.(*sim.Device)
	if !ok {
		return sim.Work{}, errNoProfiler
	}
	dev.StartTimeline()
	if err := c.warm(1, false); err != nil {
		return sim.Work{}, err
	}
	_, _, work := dev.Timeline()
	for _, w := range work {
		if w.Launched != nil {
			return w, nil
		}
	}
	return sim.Work{}, fmt.Errorf("BUG: the time line has no launch")
}
