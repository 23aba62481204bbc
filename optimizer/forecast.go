package optimizer

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/ir"
)

// forecast predicts replays of schedules on a device: in the form in which they will be
// replayed, by the event core that the simulated device uses.
type forecast struct {
	profile *model.Profile
	costs   CostModel
	streams bool
}

// forecast is what the options predict replays of g with.
func (o *Options) forecast(g *ir.Graph) (*forecast, error) {
	profile, costs, err := o.model(g)
	return &forecast{profile, costs, o.Streams}, err
}

// profile is the device to predict for.
func (o *Options) profile() (*model.Profile, error) {
	switch {
	case o.Custom != nil:
		return o.Custom, nil
	case o.Profile == "" && o.Measured != nil:
		return o.Measured.device()
	case o.Profile == "":
		return model.Profiles()[0], nil
	}
	return model.Lookup(o.Profile)
}

// ErrProfile is in the chain of errors about figures of Options.Custom that are out of their bounds.
var ErrProfile = model.ErrProfile

// checkProfile reports a profile that does not exist, or whose figures no file could hold.
func (o *Options) checkProfile() error {
	p, err := o.profile()
	if err == nil && o.Custom != nil {
		err = p.Check()
	}
	return err
}

// replay simulates one replay of s, from the host's call to the last end, and tells when
// each operation ends.
func (f *forecast) replay(s *ir.Schedule) (last model.Time, ends []model.Time) {
	if f.streams {
		return f.onStreams(s)
	}
	return f.asGraph(s)
}

func (f *forecast) makespan(s *ir.Schedule) model.Time {
	last, _ := f.replay(s)
	return last
}

// farthest is how far ahead a prediction looks, in picoseconds: half of what the
// clock holds, so that no sum of its times overflows. It is 53 days.
const farthest = 1 << 62

// unforeseeable is longer than that, in nanoseconds, and as a float of picoseconds too.
const unforeseeable = farthest/int64(model.Nanosecond) + 1024

// foreseeable refuses a graph whose operations, with every block one by one,
// would take longer than that.
func foreseeable(g *ir.Graph, p *model.Profile, costs CostModel) error {
	total := 0.0
	for i := range g.Ops {
		v := ir.OpID(i)
		if total += longest(costs.Demand(g, v), p); !(total <= farthest) {
			return fmt.Errorf("with %v the operations add up to more than 53 days, which is as far as a prediction goes: leave the pass predict out, or mend the cost or the grid", v)
		}
	}
	return nil
}

// longest bounds the time of a demand from above: its blocks one after another,
// then its instructions on one multiprocessor, then its bytes.
func longest(d model.Demand, p *model.Profile) float64 {
	cycles := d.Blocks*max(d.BlockCycles, d.SlowestCycles) + 32*d.Work.Total() // a lane a cycle
	slowest := min(p.LinkGBps, p.MemoryGBps)
	for _, rate := range []float64{p.SMGBps, p.L2GBps, p.DuplexGBps, p.FaultGBps, p.MemoryGBps * p.MemoryShare} {
		if rate > 0 { // 0 is no limit
			slowest = min(slowest, rate)
		}
	}
	bytes := d.Bytes + d.L2Bytes + d.LinkIn + d.LinkOut + d.Faulted + d.Bulk
	seconds := (cycles+32*d.Updates)/(float64(p.ClockMHz)*1e6) + bytes/(slowest*1e9)
	return float64(d.Duration) + seconds*float64(model.Second)
}
