package optimizer

import "github.com/reprise-gpu/reprise/ir"

// assignment is the result of a strategy.
type assignment struct {
	lane []ir.LaneID // by operation: any number >= 0
	// order is the order of submission over all lanes, which must be topological; nil
	// is program order. It also determines the order within each lane.
	order []ir.OpID
	by    string // the strategy that was chosen, "" for the requested one
	// waits and delays are by operation, as in a schedule. If they are set, the assignment is the result of a
	// search, and later passes do not change its lanes, order and waits.
	waits, delays [][]ir.OpID
}

// strategy decides which operations share a lane. Its input are dependencies, not
// waits: the waits follow from the lanes by one algorithm for all strategies. A strategy
// that depends on times uses the cost model and the profile of opts.
type strategy interface {
	assign(g *ir.Graph, opts *Options) (assignment, error)
}

// strategies is the table of all strategies, in the order in which they are listed.
var strategies = []family{
	{"serial", "", "one lane in program order: no concurrency, no waits", only(serial{})},
	{"roundrobin", "k", "operations dealt out to k lanes in program order (default 4)", lanes(4, func(k int) strategy { return roundRobin{k} })},
	{"levels", "k", "operations of equal distance from the start on separate lanes, or on k lanes (Taskflow's capturer)", lanes(0, func(k int) strategy { return levels{k} })},
	{"grcuda", "policy", "disjoint: the lane of a parent without another child there, or a new lane; same-as-parent: that of the first parent (GrCUDA, IPDPS 2021)",
		words(word{"disjoint", grcuda{}}, word{"same-as-parent", grcuda{sameAsParent: true}})},
	{"nimble", "k", "full concurrency with the fewest waits (Nimble, NeurIPS 2020); with k, at most k lanes, predicted no slower than roundrobin(k)", lanes(0, nimbleOn)},
	{"mincover", "", "full concurrency on the fewest lanes (Dilworth 1950)", only(minCover{})},
	{"coloring", "method", "full concurrency, by colouring concurrent operations: dsatur, rlf or exact; for small graphs",
		words(word{"dsatur", colored{dsatur}}, word{"rlf", colored{largestFirst}}, word{"exact", colored{exactColoring}})},
	{"listsched", "k", "list scheduling: the ready operation with the longest path to the end goes to the next free lane, of at most k (default 8)",
		lanes(8, func(k int) strategy { return listSched{k} })},
	{"search", "steps:k", "the plan of auto, improved by simulated annealing of lanes, order and deliberate waits (default 6000 steps); with k, at most k lanes", searched},
	{"auto", "", "the quickest plan of the other strategies, as predicted; for small graphs, search continues from there", only(auto{})},
}

// DefaultStrategy is the strategy of a zero Options.
const DefaultStrategy = "nimble"

// Strategies lists the strategies that Options.Strategy can name. A name is valid without a parameter; Takes
// names the parameter.
func Strategies() []Description {
	list := make([]Description, len(strategies))
	for i, f := range strategies {
		list[i] = describe(f.name, f.takes, f.doc)
	}
	return list
}

// strategyNamed returns a strategy and its name; the empty text is the default.
func strategyNamed(text string) (string, strategy, error) {
	if text == "" {
		text = DefaultStrategy
	}
	name, arg, err := splitName("strategy", text)
	if err != nil {
		return "", nil, err
	}
	for i := range strategies {
		if f := &strategies[i]; f.name == name {
			s, err := f.with(arg)
			return text, s, err
		}
	}
	return "", nil, unknown("strategy", name, Strategies())
}
