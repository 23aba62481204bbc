package optimizer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/effort"
	"github.com/reprise-gpu/reprise/ir"
)

// search is simulated annealing of the lanes, the order and the deliberate waits of all operations, starting
// from the plans of auto. auto itself is a search with autoSteps steps. Longer searches begin with the
// same steps, so that none is predicted to take longer.
type search struct{ steps, lanes int }

const (
	maxSteps    = 1 << 30
	maxSearched = 4096 // operations: the time of a step is proportional to their number, and memory to its square
)

// searched returns the search for a parameter, which is steps or steps:lanes.
func searched(parameter string) (strategy, error) {
	s := search{searching.Usual, maxLanes}
	if parameter == "" {
		return s, nil
	}
	steps, lanes, bounded := strings.Cut(parameter, ":")
	var err error
	if s.steps, err = number("steps", maxSteps, steps); err == nil && bounded {
		s.lanes, err = number("lanes", maxLanes, lanes)
	}
	if err != nil {
		return nil, fmt.Errorf("%w, or such a number, a colon and a number of lanes", err)
	}
	return s, nil
}

// name returns the name of the strategy with its parameters.
func (s search) name() string {
	if s.lanes < maxLanes {
		return fmt.Sprintf("search(%d:%d)", s.steps, s.lanes)
	}
	return fmt.Sprintf("search(%d)", s.steps)
}

// stretch returns the number of steps of one run of auto for a graph of n operations; 0 is no search.
func stretch(n int) int {
	if n < 3 || n > maxFolded {
		return 0
	}
	return searching.Run(n)
}

// searching is the effort of searches. Tests reduce it.
var searching = effort.Full()

// autoSteps returns the largest number of steps of auto for a graph of n operations; 0 is no search.
func autoSteps(n int) int { return effort.Runs * stretch(n) }

// probe returns the number of first steps of a run: if they find nothing, the run ends.
func probe(n int) int { return max(min(2000, 14*n*n), 80*n) }

func (s search) assign(g *ir.Graph, opts *Options) (assignment, error) {
	c, err := survey(g, opts)
	if err != nil {
		return assignment{}, err
	}
	best := c.best(s.lanes)
	if s.steps == 0 || g.Len() > maxSearched {
		return best.assignment, nil
	}
	better, err := s.from(c, best)
	if err != nil {
		return assignment{}, err
	}
	if better != nil && better.compare(best) < 0 {
		best = better
	}
	return best.assignment, nil
}

// isLeast reports whether a trial is within 0.1 % of a lower bound, so that a search cannot gain anything.
func (c *choice) isLeast(t *trial) bool {
	b, err := newBound(c.graph, c.opts)
	if err != nil {
		return false
	}
	least, _ := b.chained()
	if c.opts.Streams {
		least = b.called()
	}
	return float64(t.took) <= 1.001*float64(least/model.Nanosecond)
}

// called returns a lower bound of a replay over streams: all calls of the host followed by the shortest final
// operation, or the critical path behind the first call.
func (b *bound) called() model.Time {
	calls, first, last := model.Time(0), model.Time(-1), model.Time(-1)
	for i := range b.graph.Ops {
		v := ir.OpID(i)
		call := callOf(&b.graph.Ops[v], &b.profile.Host)
		calls += call
		if first < 0 || call < first {
			first = call
		}
		if len(b.graph.Succs(v)) == 0 && (last < 0 || b.took[v] < last) {
			last = b.took[v]
		}
	}
	return b.profile.SubmitLatency + max(calls+last, first+b.longest(func(ir.OpID) bool { return true }))
}

// from searches from the layout of a trial. It returns nil if a search is impossible or cannot gain anything.
func (s search) from(c *choice, start *trial) (*trial, error) {
	f, err := c.opts.forecast(c.graph)
	if err != nil {
		return nil, err
	}
	r := newRehearsal(c.graph, f)
	if r == nil {
		return nil, nil
	}
	if s.steps <= autoSteps(c.graph.Len()) && c.isLeast(start) {
		return nil, nil
	}
	starts, err := c.starts(start, s.lanes)
	if err != nil {
		return nil, err
	}
	a := newAnnealing(r, starts[0], s.lanes)
	a.search(starts, s.steps)
	found := &ir.Schedule{Graph: c.graph}
	r.schedule(&a.best, found)
	keepLeast(found)
	t := &trial{assignment: assignment{lane: found.Lane, order: found.Order, by: s.name(), waits: found.Waits, delays: found.Delays}}
	opts := *c.opts
	opts.settled = true
	return t, c.foresee(t, c.begin(t), &opts, true)
}

// maxStarts is the number of plans that auto searches from.
const maxStarts = 3

// starts returns the layouts of a trial and of the best plans of other families of strategies, which tend to
// differ from it.
func (c *choice) starts(best *trial, lanes int) ([]*layout, error) {
	if best.plan == nil { // auto does not search graphs of this size
		s := c.begin(best)
		err := c.foresee(&trial{}, s, c.opts, true)
		return []*layout{layoutOf(s)}, err
	}
	byTime := slices.Clone(c.tried)
	slices.SortStableFunc(byTime, func(t, u trial) int { return t.compare(&u) })
	family := func(t *trial) string {
		name, _, _ := strings.Cut(t.by, "(")
		return name
	}
	seen := map[string]bool{family(best): true}
	starts := []*layout{layoutOf(best.plan)}
	for i := range byTime {
		if t := &byTime[i]; t.plan != nil && t.lanes <= lanes && !seen[family(t)] && len(starts) < maxStarts {
			seen[family(t)] = true
			starts = append(starts, layoutOf(t.plan))
		}
	}
	return starts, nil
}
