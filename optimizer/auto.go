package optimizer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/reprise-gpu/reprise/internal/ranking"
	"github.com/reprise-gpu/reprise/ir"
)

// auto plans with all candidate strategies that the size of the graph allows, and takes
// the plan with the shortest predicted replay. Ties go to the plan with the fewest lanes and
// waits, then to the one that was best before the later passes. serial is a candidate, so the
// choice is never predicted to be slower than a plan without concurrency. The schedule
// carries the name of the chosen strategy.
//
//	serial ─► syncs ─► ... ─► predict   32 us
//	nimble ─► syncs ─► ... ─► predict   18 us  ◄── taken
//	...
//
// The choice is only as good as the costs. Costs estimated from shapes do not count
// instructions and latencies. For IMG at 1024 they select two lanes as a graph and three over
// streams. On the simulated H200 these take longer than nimble's four, by 3 % and by 7 %.
type auto struct{}

// candidate is a strategy and the graphs it is tried on. Predictions take seconds for graphs
// of many thousands of operations, and lanes in excess of nimble's would be empty.
type candidate struct {
	strategy         string
	maxOps, minWidth int // tried for up to maxOps operations, if nimble has more than minWidth lanes
}

// candidates are the strategies that auto tries. It adds nimble and listsched on a computed
// number of lanes (see tryMore) and numbers of lanes around the best ones (see refine).
// nimble precedes the candidates with a minWidth, which depend on its result.
var candidates = []candidate{
	{"serial", noLimit, 0}, {"nimble", noLimit, 0}, {"listsched(8)", noLimit, 0},
	{"mincover", 100_000, 0}, {"grcuda", 100_000, 0}, {"levels", 100_000, 0},
	{"roundrobin(4)", 10_000, 0}, {"roundrobin(8)", 10_000, 0}, {"roundrobin(32)", 10_000, 16},
	{"levels(2)", 10_000, 0}, {"levels(3)", 10_000, 0}, {"levels(4)", 10_000, 0},
	{"grcuda(same-as-parent)", 10_000, 0},
	{"nimble(2)", 10_000, 2}, {"nimble(3)", 10_000, 3}, {"nimble(4)", 10_000, 4},
	{"nimble(8)", 10_000, 8}, {"nimble(16)", 10_000, 16}, {"nimble(32)", 10_000, 32}, {"nimble(64)", 10_000, 64},
	{"listsched(2)", 10_000, 0}, {"listsched(3)", 10_000, 0}, {"listsched(4)", 10_000, 0},
	{"listsched(16)", 10_000, 8}, {"listsched(32)", 10_000, 16}, {"listsched(64)", 10_000, 32},
	{"coloring", maxColored, 0}, {"coloring(rlf)", maxColored, 0},
}

// noLimit is a maxOps above the size of every graph.
const noLimit = 1<<31 - 1

func (auto) assign(g *ir.Graph, opts *Options) (assignment, error) {
	return search{autoSteps(g.Len()), maxLanes}.assign(g, opts)
}

// survey plans with all candidates and completes the most promising plans.
func survey(g *ir.Graph, opts *Options) (*choice, error) {
	if _, _, err := opts.model(g); err != nil {
		return nil, err
	}
	c := &choice{graph: g, opts: opts, bounded: map[string]bounded{}}
	for _, name := range candidates {
		if g.Len() > name.maxOps || name.minWidth > 0 && name.minWidth >= c.width {
			continue
		}
		if err := c.try(name.strategy); err != nil {
			return nil, err
		}
	}
	if err := c.tryMore(); err != nil {
		return nil, err
	}
	if err := c.tryEvery(); err != nil {
		return nil, err
	}
	if g.Len() <= maxRefined {
		for _, family := range []string{"nimble", "listsched", "levels", "roundrobin"} {
			if err := c.refine(family); err != nil {
				return nil, err
			}
		}
	}
	return c, c.complete()
}

// choice holds the plans of one graph that are compared.
type choice struct {
	graph   *ir.Graph
	opts    *Options
	width   int                // number of lanes of nimble; 0 before it was tried
	bounded map[string]bounded // by strategy: its best number of lanes
	tried   []trial
}

// trial is the assignment of one strategy and its prediction.
type trial struct {
	assignment
	took     int64 // predicted time of a replay, in ns
	lanes    int
	crossing int          // lanes plus waits
	complete bool         // all passes were applied, not only those that predict
	plan     *ir.Schedule // the result of all passes, for graphs small enough to be searched
}

func (t *trial) compare(u *trial) int {
	return cmp.Or(cmp.Compare(t.took, u.took), cmp.Compare(t.crossing, u.crossing))
}

// bounded is the best plan so far of a strategy with a number of lanes.
type bounded struct {
	lanes int   // the parameter of the strategy
	took  int64 // ns
	used  int   // number of lanes of the plan tried last
}

// try plans with a strategy, unless an earlier trial has the same lanes and order.
func (c *choice) try(name string) error {
	s, err := c.placed(name)
	if err != nil {
		return err
	}
	if name == "nimble" {
		c.width = s.Lanes
	}
	i := slices.IndexFunc(c.tried, func(t trial) bool { return slices.Equal(t.lane, s.Lane) && slices.Equal(t.order, s.Order) })
	if i < 0 {
		t := trial{assignment: assignment{lane: s.Lane, order: s.Order, by: name}}
		if err := c.foresee(&t, s, c.opts, c.graph.Len() > maxFolded); err != nil { // the passes do not search larger graphs
			return err
		}
		i = len(c.tried)
		c.tried = append(c.tried, t)
	}
	if family, lanes, ok := numbered(name); ok {
		b := c.bounded[family]
		if took := c.tried[i].took; b.lanes == 0 || took < b.took {
			b.lanes, b.took = lanes, took
		}
		b.used = s.Lanes
		c.bounded[family] = b
	}
	return nil
}

// foresee predicts the schedule of a trial, after all passes or with its waits alone.
func (c *choice) foresee(t *trial, s *ir.Schedule, opts *Options, all bool) error {
	for _, p := range afterAssign(opts) {
		if !all && p.name != "syncs" && p.name != "predict" {
			continue
		}
		if err := p.compute(s, opts); err != nil {
			return err
		}
	}
	t.took, t.lanes, t.crossing, t.complete = s.Predicted, s.Lanes, s.Lanes+s.Syncs(), all
	if all && stretch(c.graph.Len()) > 0 {
		t.plan = s
	}
	return nil
}

// maxChosen bounds the predictions made by searching passes for all plans together; maxTried is the bound for
// one plan. It suffices for every plan of some fifty operations, and for half a dozen plans of two hundred.
const maxChosen = 6 * maxTried

// complete applies all passes to the trials, in order of their predictions without. It stops when maxChosen is
// exceeded, but always completes serial.
func (c *choice) complete() error {
	slices.SortStableFunc(c.tried, func(t, u trial) int { return t.compare(&u) })
	opts := *c.opts
	opts.tried = new(int)
	for i := range c.tried {
		if t := &c.tried[i]; !t.complete && (*opts.tried <= maxChosen || t.by == "serial") {
			if err := c.foresee(t, c.begin(t), &opts, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// begin returns the schedule of a trial in its state after the pass assign.
func (c *choice) begin(t *trial) *ir.Schedule {
	s := &ir.Schedule{Graph: c.graph}
	place(s, t.by, t.assignment)
	return s
}

// best returns the best complete trial with at most the given number of lanes. serial always qualifies.
func (c *choice) best(lanes int) *trial {
	terms := ranking.Any()
	terms.Lanes = lanes
	i := ranking.Of(len(c.tried), func(i int) (ranking.Plan, bool) {
		t := &c.tried[i]
		return ranking.Plan{Replay: float64(t.took), Lanes: t.lanes, Ties: t.crossing}, t.complete
	}, terms)
	if i < 0 {
		return nil
	}
	return &c.tried[i]
}

// numbered splits the name of a strategy such as "nimble(4)" into its family and its number of lanes.
func numbered(strategy string) (family string, lanes int, ok bool) {
	family, parameter, err := splitName("strategy", strategy)
	if err != nil || parameter == nil {
		return "", 0, false
	}
	lanes, err = strconv.Atoi(*parameter)
	return family, lanes, err == nil
}

// tryMore tries the number of lanes that minimizes the lower bound (see bound.chained), unless nimble uses no
// more. The number is in the dozens for wide graphs of short operations.
func (c *choice) tryMore() error {
	b, err := newBound(c.graph, c.opts)
	if err != nil {
		return err
	}
	_, lanes := b.chained()
	if lanes >= min(c.width, maxLanes) {
		return nil
	}
	if err := c.tryOn("nimble", lanes); err != nil {
		return err
	}
	return c.tryOn("listsched", lanes)
}

// tryOn tries a strategy on a number of lanes.
func (c *choice) tryOn(family string, lanes int) error {
	return c.try(fmt.Sprintf("%s(%d)", family, lanes))
}

// maxEvery bounds the total work of tryEvery, in operations planned. Graphs of up to some 300 operations are
// planned on every number of lanes.
const maxEvery = 400_000

// tryEvery tries each strategy that takes a number of lanes with 1, 2, 3, ... until a larger number does not
// change the plan.
func (c *choice) tryEvery() error {
	most := min(c.graph.Len(), maxEvery/(4*max(1, c.graph.Len())))
	for _, family := range []string{"roundrobin", "levels", "nimble", "listsched"} {
		for k := 1; k <= most; k++ {
			if err := c.tryOn(family, k); err != nil {
				return err
			}
			if c.bounded[family].used < k { // more lanes would remain empty
				break
			}
		}
	}
	return nil
}

// maxRefined is the largest number of operations for which refine is worth its predictions.
const maxRefined = 2000

// refine tries numbers of lanes around the best one of a strategy, by bisection: first half as far as zero and
// twice as many, then at half the distance each time.
func (c *choice) refine(family string) error {
	for step := c.bounded[family].lanes; step > 0; step /= 2 {
		at := c.bounded[family].lanes
		for _, lanes := range []int{at - step, at + step} {
			if lanes < 1 || lanes > maxLanes {
				continue
			}
			if err := c.tryOn(family, lanes); err != nil {
				return err
			}
		}
	}
	return nil
}

// placed returns the schedule of a strategy after the pass assign.
func (c *choice) placed(name string) (*ir.Schedule, error) {
	_, chosen, err := strategyNamed(name)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	if bounded, ok := chosen.(boundedNimble); ok {
		chosen = wholePaths(bounded) // the other two plans of boundedNimble are trials of their own
	}
	a, err := chosen.assign(c.graph, c.opts)
	if err != nil {
		return nil, err
	}
	s := &ir.Schedule{Graph: c.graph}
	place(s, name, a)
	return s, nil
}

// afterAssign returns the passes between assign and the prediction.
func afterAssign(opts *Options) []pass {
	assigned := slices.IndexFunc(passes, func(p pass) bool { return p.name == "assign" })
	return slices.DeleteFunc(slices.Clone(passes[assigned+1:]), func(p pass) bool {
		switch {
		case p.name == "memplan": // memory takes no time
			return true
		case p.name == "syncs", p.name == "predict":
			return false
		}
		return !opts.runs(&p)
	})
}
