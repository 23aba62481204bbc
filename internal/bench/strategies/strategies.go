// Package strategies compares the plans of the optimizer's strategies for one graph: their lanes, waits and records,
// the predicted time of a replay, its ratio to the lower bound, and the planning time. Nothing runs on a device.
package strategies

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/reprise-gpu/reprise/internal/plansize"
	"github.com/reprise-gpu/reprise/internal/schedules"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// Comparison holds the results of all strategies for one graph.
type Comparison struct {
	Graph        string  `json:"graph"`
	Device       string  `json:"device"`
	Ops          int     `json:"ops"`
	Edges        int     `json:"edges"`
	ReducedEdges int     `json:"reduced_edges"`
	BoundUS      float64 `json:"bound_us"`
	Assumed      string  `json:"assumed,omitempty"` // of loops, for predictions and the bound
	Rows         []Row   `json:"rows"`
}

// Row is the result of one strategy. If the strategy refuses the graph, only Error is set.
type Row struct {
	Strategy    string  `json:"strategy"`
	Error       string  `json:"error,omitempty"`
	Lanes       int     `json:"lanes"`
	Waits       int     `json:"waits"`
	Records     int     `json:"records"`
	PredictedUS float64 `json:"predicted_us"`
	OverBound   float64 `json:"over_bound"`
	PlanningMS  float64 `json:"planning_ms"` // host time of planning

	// Memory is the size of the buffers with a memory plan. Making that plan is not part of PlanningMS.
	Memory plansize.Memory `json:"memory"`
}

// Compare plans g with each strategy, for the device, the costs and the passes of opts. It returns an error if the
// graph cannot be planned at all, or ctx is done.
func Compare(ctx context.Context, g *ir.Graph, opts optimizer.Options, names []string) (*Comparison, error) {
	opts.Strategy, opts.Verify, opts.Bound = "serial", true, true
	common, err := optimizer.Plan(g, opts)
	if err != nil {
		return nil, err
	}
	opts.Bound = false
	c := &Comparison{
		Graph: g.Name, Device: opts.Custom.ID, Ops: common.Analyzed.Len(), BoundUS: float64(common.Bound) / 1000,
		Edges: len(common.Analyzed.Deps()), ReducedEdges: len(common.Reduced.Deps()),
	}
	_, c.Assumed, _ = strings.Cut(common.Costs, "; ")
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		opts.Strategy = name
		c.Rows = append(c.Rows, c.row(g, opts))
	}
	return c, nil
}

// row plans with one strategy. Checking the plan and predicting its time are not measured, because a program that
// replays needs neither.
func (c *Comparison) row(g *ir.Graph, opts optimizer.Options) Row {
	r := Row{Strategy: opts.Strategy}
	took, err := planning(g, opts)
	if err != nil {
		return Row{Strategy: opts.Strategy, Error: err.Error()}
	}
	r.PlanningMS = float64(took) / float64(time.Millisecond)
	opts.Also = append(slices.Clip(opts.Also), "memplan")
	plan, err := optimizer.Plan(g, opts)
	if err != nil {
		return Row{Strategy: opts.Strategy, Error: err.Error()}
	}
	s := plan.Schedule
	r.Lanes, r.Waits = s.Lanes, s.Syncs()
	for _, recorded := range schedules.Records(s) {
		if recorded {
			r.Records++
		}
	}
	r.PredictedUS = float64(s.Predicted) / 1000
	if c.BoundUS > 0 {
		r.OverBound = r.PredictedUS / c.BoundUS
	}
	r.Memory = plansize.MemoryOf(s)
	return r
}

// planning returns the time to make a plan: the minimum of a few runs, or a single run if it takes long.
func planning(g *ir.Graph, opts optimizer.Options) (least time.Duration, err error) {
	opts.Verify = false
	opts.Passes = []string{"hazards", "reduce", "assign", "syncs", "fold"}
	opts.Also = slices.DeleteFunc(slices.Clone(opts.Also), func(pass string) bool { return pass == "memplan" })
	const plans, long = 5, 100 * time.Millisecond
	least = math.MaxInt64
	for i := 0; i < plans && (i == 0 || least < long); i++ {
		start := time.Now()
		if _, err := optimizer.Plan(g, opts); err != nil {
			return 0, err
		}
		least = min(least, time.Since(start))
	}
	return least, nil
}

// Fastest returns the least predicted time of all rows, in us, or 0 without rows.
func (c *Comparison) Fastest() float64 {
	fastest := math.Inf(1)
	for _, r := range c.Rows {
		if r.Error == "" {
			fastest = min(fastest, r.PredictedUS)
		}
	}
	if math.IsInf(fastest, 1) {
		return 0
	}
	return fastest
}

// Standing summarises a strategy over several graphs.
type Standing struct {
	Strategy  string  `json:"strategy"`
	Graphs    int     `json:"graphs"`     // number of graphs that it accepts
	Fastest   int     `json:"fastest"`    // number of these on which no other strategy is faster
	OverBound float64 `json:"over_bound"` // geometric mean over graphs with a bound
}

// Standings summarises comparisons by strategy, in order of appearance.
func Standings(all []*Comparison) (list []Standing) {
	logs, bounded := map[string]float64{}, map[string]int{}
	for _, c := range all {
		for _, r := range c.Rows {
			i := slices.IndexFunc(list, func(s Standing) bool { return s.Strategy == r.Strategy })
			if i < 0 {
				i = len(list)
				list = append(list, Standing{Strategy: r.Strategy})
			}
			if r.Error != "" {
				continue
			}
			list[i].Graphs++
			if r.OverBound > 0 {
				logs[r.Strategy] += math.Log(r.OverBound)
				bounded[r.Strategy]++
			}
			if r.PredictedUS == c.Fastest() {
				list[i].Fastest++
			}
		}
	}
	for i := range list {
		if s := &list[i]; bounded[s.Strategy] > 0 {
			s.OverBound = math.Exp(logs[s.Strategy] / float64(bounded[s.Strategy]))
		}
	}
	return list
}
