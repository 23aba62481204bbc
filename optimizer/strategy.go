package optimizer

import "github.com/reprise-gpu/reprise/ir"

// assignment puts every operation on a lane.
type assignment struct {
	lane []ir.LaneID // by operation; not negative, otherwise of any number
	// order is the order of submission over all lanes, a topological one; nil
	// is program order. It settles the order within each lane too.
	order []ir.OpID
}

// strategy decides which operations share a lane. It sees the dependencies, not
// the waits: which of those remain follows from the lanes, for any strategy. One
// that needs to know a time asks the cost model and the profile of opts.
type strategy interface {
	assign(g *ir.Graph, opts *Options) (assignment, error)
}

// strategies are all there are, in the order in which a reader should meet them.
var strategies = []struct {
	name, doc string
	strategy  strategy
}{
	{"serial", "one lane in program order: no concurrency, no waits", serial{}},
	{"nimble", "all the concurrency there is, with the fewest waits that allow it (Nimble, NeurIPS 2020)", nimble{maxJoinBits, maxMergedChains}},
}

// DefaultStrategy is the strategy of a zero Options.
const DefaultStrategy = "nimble"

// Strategies lists what Options.Strategy can name.
func Strategies() []Description {
	list := make([]Description, len(strategies))
	for i, s := range strategies {
		list[i] = Description{s.name, s.doc}
	}
	return list
}

// strategyNamed finds a strategy; the empty name is the default.
func strategyNamed(name string) (string, strategy, error) {
	if name == "" {
		name = DefaultStrategy
	}
	for _, s := range strategies {
		if s.name == name {
			return name, s.strategy, nil
		}
	}
	return "", nil, unknown("strategy", name, Strategies())
}
