package optimizer

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/ir"
)

// forecast predicts replays of schedules on a device, as a graph or over streams, with the event core that the
// simulated device uses.
type forecast struct {
	profile *model.Profile
	costs   CostModel
	streams bool
}

// forecast returns the predictor that the options select for g.
func (o *Options) forecast(g *ir.Graph) (*forecast, error) {
	profile, costs, err := o.model(g)
	return &forecast{profile, costs, o.Streams}, err
}

// profile returns the device to predict for.
func (o *Options) profile() (*model.Profile, error) {
	switch {
	case o.Custom != nil:
		return o.Custom, nil
	case o.Profile == "" && o.Measured != nil:
		return o.Measured.Profile()
	case o.Profile == "":
		return profiles.All()[0], nil
	}
	return profiles.Lookup(o.Profile)
}

// checkProfile returns an error if the profile does not exist or has figures out of bounds.
func (o *Options) checkProfile() error {
	p, err := o.profile()
	if err == nil && o.Custom != nil {
		err = profiles.Check(p)
	}
	return err
}

// replay simulates one replay of s, from the host's call to the last end. It returns the last end and the end of
// each operation.
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

// period returns how often a replay ends if many are enqueued one after another: as often as the device or the host
// permits, whichever takes longer for a replay.
func (f *forecast) period(s *ir.Schedule) model.Time {
	instant := *f.profile
	instant.Host, instant.SubmitLatency = model.HostCosts{}, 0
	device := (&forecast{&instant, f.costs, f.streams}).makespan(s)
	gap := f.profile.GraphRootGap // from the end of a replay to the start of the next one
	if f.streams {
		gap = f.profile.StreamGap
	}
	return max(gap+device, f.calls(s))
}

// calls returns the host's time in all calls of a replay.
func (f *forecast) calls(s *ir.Schedule) model.Time {
	if f.streams {
		return f.streamCalls(s)
	}
	before, nodes, preds := aroundGraph(s)
	return model.Time(len(before))*f.profile.Host.Memcpy + launchTime(nodes, preds, f.profile) - f.profile.SubmitLatency
}

// horizon is the longest time that can be predicted, in picoseconds: half the range of the
// clock, so that no sum of two times overflows. It is 53 days.
const horizon = 1 << 62

// beyondHorizon is a time in nanoseconds that exceeds the horizon, also after rounding to float64 picoseconds.
const beyondHorizon = horizon/int64(model.Nanosecond) + 1024

// checkHorizon returns an error if the operations of a graph, with every block run on its own,
// would take longer than the horizon.
func checkHorizon(g *ir.Graph, p *model.Profile, costs CostModel) error {
	total := 0.0
	for i := range g.Ops {
		v := ir.OpID(i)
		if total += longest(costs.Demand(g, v), p); !(total <= horizon) {
			return fmt.Errorf("up to %v the operations add up to more than 53 days, the limit of predictions: correct the cost or the grid, or leave out the pass predict", v)
		}
	}
	return nil
}

// longest returns an upper bound of the time of a demand, in picoseconds: its blocks one after another, then its
// instructions on one multiprocessor, then its bytes at the slowest rate.
func longest(d model.Demand, p *model.Profile) float64 {
	cycles := d.Blocks*max(d.BlockCycles, d.SlowestCycles) + 32*d.Work.Total() // one lane of a warp per cycle
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
