package optimizer

import (
	"cmp"
	"slices"

	"github.com/reprise-gpu/reprise/ir"
)

// auto plans with every strategy that can be afforded and takes the plan with the
// shortest predicted replay; of equal ones, the one with the fewest lanes and waits, then
// the first. serial is among them, so that the choice is never slower than no concurrency
// at all: where overlap does not pay for its waits, there is none. The schedule has the
// name of the strategy that was chosen.
//
//	serial ─► syncs ─► ... ─► predict   32 us
//	nimble ─► syncs ─► ... ─► predict   21 us  ◄── taken
//	...
//
// The choice is as good as the costs. Those that are guessed from shapes count no
// instructions, which are what IMG at 1024 is bound by: there they choose two lanes, and
// the simulated device takes 5 % longer with them than with nimble's four.
type auto struct{}

// candidates are the strategies that auto tries, each on graphs of so many operations at
// most. Beyond thousands of operations a prediction takes seconds.
var candidates = []struct {
	strategy string
	most     int
}{
	{"serial", maxOps}, {"nimble", maxOps}, {"listsched(8)", maxOps},
	{"mincover", 100_000}, {"grcuda", 100_000}, {"levels", 100_000},
	{"roundrobin", 10_000}, {"levels(4)", 10_000}, {"grcuda(same-as-parent)", 10_000}, {"nimble(2)", 10_000}, {"nimble(3)", 10_000}, {"nimble(4)", 10_000},
	{"listsched(2)", 10_000}, {"listsched(3)", 10_000}, {"listsched(4)", 10_000}, {"listsched", 10_000},
	{"coloring", maxColored}, {"coloring(rlf)", maxColored},
}

const maxOps = 1<<31 - 1

func (auto) assign(g *ir.Graph, opts *Options) (best assignment, err error) {
	if _, _, err := opts.model(g); err != nil {
		return best, err
	}
	var shortest *ir.Schedule
	for _, c := range candidates {
		if g.Len() > c.most {
			continue
		}
		a, s, err := foreseen(g, opts, c.strategy)
		if err != nil {
			return best, err
		}
		if shortest == nil || better(s, shortest) {
			best, shortest = a, s
			best.by = c.strategy
		}
	}
	return best, nil
}

func better(a, b *ir.Schedule) bool {
	return cmp.Or(cmp.Compare(a.Predicted, b.Predicted), cmp.Compare(a.Lanes+a.Syncs(), b.Lanes+b.Syncs())) < 0
}

// foreseen is the assignment of a strategy and the schedule that it leads to, by the
// passes that the options ask for and a prediction.
func foreseen(g *ir.Graph, opts *Options, name string) (a assignment, s *ir.Schedule, err error) {
	_, chosen, err := strategyNamed(name)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	if a, err = chosen.assign(g, opts); err != nil {
		return a, nil, err
	}
	s = &ir.Schedule{Graph: g}
	place(s, name, a)
	for _, p := range afterAssign(opts) {
		if err := p.compute(s, opts); err != nil {
			return a, nil, err
		}
	}
	return a, s, nil
}

// afterAssign are the passes that a schedule goes through on the way to its prediction.
func afterAssign(opts *Options) []pass {
	return slices.DeleteFunc(slices.Clone(passes), func(p pass) bool {
		switch {
		case p.compute == nil, p.name == "assign":
			return true
		case p.name == "syncs", p.name == "predict":
			return false
		}
		return opts.Passes != nil && !slices.Contains(opts.Passes, p.name)
	})
}
