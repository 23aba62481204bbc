package optimizer

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/reprise-gpu/reprise/ir"
)

// auto plans with every strategy that can be afforded and takes the plan with the
// shortest predicted replay; of equal ones, the one with the fewest lanes and waits, then
// the one that began so. serial is among them, so that the choice is never slower than no concurrency
// at all: where overlap does not pay for its waits, there is none. The schedule has the
// name of the strategy that was chosen.
//
//	serial ─► syncs ─► ... ─► predict   32 us
//	nimble ─► syncs ─► ... ─► predict   21 us  ◄── taken
//	...
//
// The choice is as good as the costs. Those that are guessed from shapes count no
// instructions, which are what IMG at 1024 is bound by: there they choose two lanes, and
// the simulated device takes longer with them than with nimble's four, by 5 % as a graph and
// by 29 % over streams.
type auto struct{}

// candidate is a strategy for graphs of up to so many operations, and for which nimble finds
// more than so many lanes: beyond thousands of operations a prediction takes seconds, and
// lanes for which there is no work need no prediction.
type candidate struct {
	strategy    string
	most, wider int
}

// candidates are the strategies that auto tries, besides nimble and listsched on as many
// lanes as the launch is worth (see tryMore) and what is around the best (see refine).
// nimble comes before all that depend on it.
var candidates = []candidate{
	{"serial", maxOps, 0}, {"nimble", maxOps, 0}, {"listsched(8)", maxOps, 0},
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

const maxOps = 1<<31 - 1

func (auto) assign(g *ir.Graph, opts *Options) (assignment, error) {
	return search{autoSteps(g.Len()), maxLanes}.assign(g, opts)
}

// survey plans by the candidates.
func survey(g *ir.Graph, opts *Options) (*choice, error) {
	if _, _, err := opts.model(g); err != nil {
		return nil, err
	}
	c := &choice{graph: g, opts: opts, bounded: map[string]bounded{}}
	for _, name := range candidates {
		if g.Len() > name.most || name.wider > 0 && name.wider >= c.width {
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

// choice is what there is to choose from.
type choice struct {
	graph   *ir.Graph
	opts    *Options
	width   int                // lanes of nimble
	bounded map[string]bounded // by strategy: its best number of lanes
	tried   []trial
}

// trial is what a strategy made of the graph, and what is predicted of that.
type trial struct {
	assignment
	took     int64
	lanes    int
	crossing int          // lanes and waits
	complete bool         // all passes have been over it
	plan     *ir.Schedule // what they made of it, of graphs that are searched
}

func (t *trial) compare(u *trial) int {
	return cmp.Or(cmp.Compare(t.took, u.took), cmp.Compare(t.crossing, u.crossing))
}

// bounded is a plan on so many lanes at most.
type bounded struct {
	lanes int
	took  int64
	used  int // lanes that the plan tried last has
}

// try plans with a strategy, unless another has made the same of the graph.
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
		if err := c.foresee(&t, s, c.opts, c.graph.Len() > maxFolded); err != nil { // then no pass searches
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

// foresee predicts the schedule that a trial begins, with all passes or with its waits alone.
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

// maxChosen is how much the searches of all plans may try together, where maxTried is for
// those of one: some fifty operations are planned in every way, two hundred in half a dozen.
const maxChosen = 6 * maxTried

// complete has all passes over the trials, those first that take least without. Where searches get too
// dear the others are left, but for serial.
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

// begin is the schedule that the passes behind assign turn into that of a trial.
func (c *choice) begin(t *trial) *ir.Schedule {
	s := &ir.Schedule{Graph: c.graph}
	place(s, t.by, t.assignment)
	return s
}

// best is the best of the trials that are complete and have no more lanes; serial is among them.
func (c *choice) best(lanes int) *trial {
	var best *trial
	for i := range c.tried {
		if t := &c.tried[i]; t.complete && t.lanes <= lanes && (best == nil || t.compare(best) < 0) {
			best = t
		}
	}
	return best
}

// numbered takes a strategy on a number of lanes apart.
func numbered(strategy string) (family string, lanes int, ok bool) {
	family, parameter, err := splitName("strategy", strategy)
	if err != nil || parameter == nil {
		return "", 0, false
	}
	lanes, err = strconv.Atoi(*parameter)
	return family, lanes, err == nil
}

// tryMore tries as many lanes as would take least if only the launch had to be shared, unless
// nimble has no work for them: dozens, for a graph that is wide and of short operations.
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

func (c *choice) tryOn(family string, lanes int) error {
	return c.try(fmt.Sprintf("%s(%d)", family, lanes))
}

// maxEvery bounds the operations of the plans on every number of lanes: of graphs of up to some 300 operations these are all
// the plans there are.
const maxEvery = 400_000

// tryEvery tries every number of lanes from 1 on, of each strategy that takes one, until more make no other plan.
func (c *choice) tryEvery() error {
	most := min(c.graph.Len(), maxEvery/(4*max(1, c.graph.Len())))
	for _, family := range []string{"roundrobin", "levels", "nimble", "listsched"} {
		for k := 1; k <= most; k++ {
			if err := c.tryOn(family, k); err != nil {
				return err
			}
			if c.bounded[family].used < k { // fewer lanes than there are
				break
			}
		}
	}
	return nil
}

// maxRefined is the most operations of a graph for which numbers of lanes between those of
// the candidates are worth their predictions.
const maxRefined = 2000

// refine tries numbers of lanes around the best one of a strategy, at half the distance
// each time, from twice as many on.
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

// placed is the schedule that a strategy begins.
func (c *choice) placed(name string) (*ir.Schedule, error) {
	_, chosen, err := strategyNamed(name)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	if bounded, ok := chosen.(boundedNimble); ok {
		chosen = wholePaths(bounded) // the other plans that it compares are tried by their own names
	}
	a, err := chosen.assign(c.graph, c.opts)
	if err != nil {
		return nil, err
	}
	s := &ir.Schedule{Graph: c.graph}
	place(s, name, a)
	return s, nil
}

// afterAssign are the passes that a schedule goes through on the way to its prediction.
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
