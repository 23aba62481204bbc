//go:build cuda && cgo

package main

import (
	"fmt"
	"io"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/profiles"
)

// row holds the costs of one schedule with one back end.
type row struct {
	shape      string
	ops, lanes int
	form       graphexec.Backend
	byHand     cost
	one, many  cost // Replay, and ReplayN of a batch
}

// Goals, for programs of at least goalOps launches.
const (
	goalOps   = 100
	goalRatio = 1.05
)

// driver returns the least time that the driver calls of a replay take with the driver of an H200, in ns, by the
// device's profile. docs/DEVICES.md names its sources.
func (r *row) driver() float64 {
	p, err := profiles.Lookup("h200")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	ns := func(t model.Time) float64 { return float64(t) / float64(model.Nanosecond) }
	if r.form == graphexec.Graph {
		return ns(p.Host.GraphLaunch) + float64(r.ops)*ns(p.Host.GraphNode)
	}
	return float64(r.ops)*ns(p.Host.Launch) + (r.byHand.calls-float64(r.ops))*ns(p.Host.EventWait)
}

// ratios returns the costs of Replay (one) and ReplayN (many) relative to C++, on the null driver. driven is the ratio
// of Replay if the driver's own time is added on both sides.
func (r *row) ratios() (one, many, driven float64) {
	return r.one.ns / r.byHand.ns, r.many.ns / r.byHand.ns, (r.one.ns + r.driver()) / (r.byHand.ns + r.driver())
}

// missed lists the goals that r does not meet. The goal for Replay holds with the driver's time added on both sides:
// its one crossing takes as long as ninety calls of the null driver. The goal for ReplayN holds without.
func (r *row) missed() (list []string) {
	miss := func(format string, args ...any) {
		list = append(list, fmt.Sprintf("%s of %d launches, %v: ", r.shape, r.ops, r.form)+fmt.Sprintf(format, args...))
	}
	for _, c := range []struct {
		call string
		cost
	}{{"Replay", r.one}, {"ReplayN", r.many}} {
		if c.allocs >= 0.01 {
			miss("%s allocates %.2f times", c.call, c.allocs)
		}
		if c.crossings != 1 {
			miss("%s crosses into C %.2f times", c.call, c.crossings)
		}
	}
	_, many, driven := r.ratios()
	if r.ops >= goalOps && driven > goalRatio {
		miss("Replay costs %.3f of C++ with a driver's cost, more than %.2f", driven, goalRatio)
	}
	if r.ops >= goalOps && many > goalRatio {
		miss("ReplayN costs %.3f of C++, more than %.2f", many, goalRatio)
	}
	return list
}

const header = "shape\tops\tlanes\tback end\tcalls\tC++ ns\tReplay ns\tratio\twith a driver\tReplayN ns\tratio\tallocs\tcrossings\t"

func (r *row) print(w io.Writer) {
	one, many, driven := r.ratios()
	fmt.Fprintf(w, "%s\t%d\t%d\t%v\t%.0f\t%.1f\t%.1f\t%.3f\t%.3f\t%.1f\t%.3f\t%.2f\t%.2f\t\n", r.shape, r.ops, r.lanes, r.form,
		r.byHand.calls, r.byHand.ns, r.one.ns, one, driven, r.many.ns, many, r.one.allocs, r.one.crossings)
}

// perCall estimates the cost of a launch and of an event in ns, by hand [0] and by Replay [1]. The launch's is that of
// a chain of a thousand launches. The event's follows from the difference to the program of as many launches with the
// most driver calls. ok is false if the rows do not include both.
func perCall(rows []row) (launch, event [2]float64, ok bool) {
	var chain, busiest *row
	for i := range rows {
		r := &rows[i]
		if r.form != graphexec.Streams || r.ops != 1000 {
			continue
		}
		if r.shape == "chain" {
			chain = r
		}
		if busiest == nil || r.byHand.calls > busiest.byHand.calls {
			busiest = r
		}
	}
	if chain == nil || busiest == chain {
		return launch, event, false
	}
	for i, of := range []func(*row) float64{func(r *row) float64 { return r.byHand.ns }, func(r *row) float64 { return r.one.ns }} {
		launch[i] = of(chain) / float64(chain.ops)
		event[i] = (of(busiest) - of(chain)) / (busiest.byHand.calls - chain.byHand.calls)
	}
	return launch, event, true
}
