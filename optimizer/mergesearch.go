package optimizer

import (
	"cmp"
	"slices"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/ir"
)

// maxMergeTried bounds the operations of all graphs that a search plans: a graph of 100 operations is planned 500
// times. At least the graph without merging and one with all candidates are planned.
const maxMergeTried = 50_000

// mergeSearch selects the sets to merge. It begins with all candidates that fit together, because merging all launches
// of a level often pays where merging two does not, leaves out one set at a time while the prediction gets no longer,
// and then adds sets, or halves of them, that make it shorter. A second search begins with no set.
//
//	all ─► drop sets ─► add sets ─┐
//	                              ├─► with all passes, the shorter; nothing if that is not shorter than the plan of a
//	none ──────────► add sets ────┘
//
// A plan is shorter if its replay is predicted to take less time. In addition, a sequence of replays must not take
// longer (see forecast.period): there the host's calls for a replay are hidden behind the device's work for the previous
// one.
//
// The search predicts plans without the passes that search themselves. Each plan takes the time of one
// analysis; their number is bounded by maxMergeTried.
type mergeSearch struct {
	a      *ir.Graph
	opts   *Options
	code   *mergedCode
	period model.Time // of replays if nothing is merged
	tried  int        // operations of all graphs planned
}

func newMergeSearch(a *ir.Graph, opts *Options, code *mergedCode) *mergeSearch {
	return &mergeSearch{a: a, opts: opts, code: code}
}

// mergeTrial is a selection of sets and its prediction.
type mergeTrial struct {
	sets   []mergeSet
	excess model.Time // by which the period is longer than if nothing is merged; at least 0
	took   int64      // ns
}

func (t mergeTrial) compare(u mergeTrial) int {
	return cmp.Or(cmp.Compare(t.excess, u.excess), cmp.Compare(t.took, u.took))
}

// run returns the graph with the selected sets merged, or nil if merging does not make the replay shorter.
func (s *mergeSearch) run(sets []mergeSet) *ir.Graph {
	none, ok := s.first()
	if !ok {
		return nil // the pass that fails reports the error
	}
	var kept []mergeTrial
	if all, ok := s.trial(s.compatible(sets)); ok {
		kept = append(kept, s.add(s.drop(all), sets))
	}
	kept = append(kept, s.add(none, sets))
	return s.best(kept)
}

// minGuessedGain is the share of a replay that merging must save if the times are estimates and no user has requested
// it. Times from shapes are often wrong by this much where launches differ.
const minGuessedGain = 0.2

// first predicts the plan without merging, and sets its period.
func (s *mergeSearch) first() (mergeTrial, bool) {
	took, period, err := s.predict(s.a, false)
	s.period = period
	return mergeTrial{took: took}, err == nil
}

// best returns the graph of the trial that is the shortest with all passes, or nil if none is shorter than without
// merging.
func (s *mergeSearch) best(kept []mergeTrial) (best *ir.Graph) {
	limit, period, err := s.predict(s.a, true)
	if err != nil {
		return nil
	}
	if !s.opts.names("merge") && s.opts.guessed() {
		limit -= int64(minGuessedGain * float64(limit))
	}
	for _, t := range kept {
		if len(t.sets) == 0 {
			continue
		}
		h := withMerged(s.a, s.code, t.sets)
		if took, each, err := s.predict(h, true); err == nil && took < limit && each <= period {
			limit, best = took, h
		}
	}
	return best
}

// compatible returns the sets that can be merged together, each before those later in the list. A set that
// cannot be rewritten as a whole is halved.
func (s *mergeSearch) compatible(sets []mergeSet) (chosen []mergeSet) {
	for _, set := range sets {
		for _, part := range s.fitting(set) {
			if part.disjoint(chosen) {
				chosen = append(chosen, part)
			}
		}
	}
	if contracted(s.a, chosen) != nil {
		return chosen
	}
	all := chosen
	chosen = nil
	for _, set := range all {
		if contracted(s.a, append(slices.Clip(chosen), set)) != nil {
			chosen = append(chosen, set)
		}
	}
	return chosen
}

// fitting returns a set in parts that can be rewritten.
func (s *mergeSearch) fitting(set mergeSet) []mergeSet {
	switch {
	case len(set) < 2:
		return nil
	case s.code.rewritten(set) != nil:
		return []mergeSet{set}
	}
	half := (len(set) + 1) / 2
	return append(s.fitting(set[:half]), s.fitting(set[half:])...)
}

// drop leaves out sets while the prediction does not get longer.
func (s *mergeSearch) drop(t mergeTrial) mergeTrial {
	for i := 0; i < len(t.sets); {
		less, ok := s.trial(slices.Delete(slices.Clone(t.sets), i, i+1))
		if ok && less.compare(t) <= 0 {
			t = less
		} else {
			i++
		}
	}
	return t
}

// add merges further sets, or halves of them, that make the prediction shorter.
func (s *mergeSearch) add(t mergeTrial, sets []mergeSet) mergeTrial {
	for _, set := range sets {
		for _, part := range s.fitting(set) {
			t = s.addPart(t, part)
		}
	}
	return t
}

func (s *mergeSearch) addPart(t mergeTrial, set mergeSet) mergeTrial {
	if len(set) < 2 || !set.disjoint(t.sets) {
		return t
	}
	if more, ok := s.trial(append(slices.Clip(t.sets), set)); ok && more.compare(t) < 0 {
		return more
	}
	half := len(set) / 2
	return s.addPart(s.addPart(t, set[:half]), set[half:])
}

// trial predicts the plan with sets merged. It returns false if they depend on each other, or if the bound of the
// search is exceeded.
func (s *mergeSearch) trial(sets []mergeSet) (mergeTrial, bool) {
	if s.tried > maxMergeTried {
		return mergeTrial{}, false
	}
	h := s.merged(sets)
	if h == nil {
		return mergeTrial{}, false
	}
	s.tried += h.Len()
	took, period, err := s.predict(h, false)
	return mergeTrial{slices.Clone(sets), max(0, period-s.period), took}, err == nil
}

// merged returns the graph with sets merged, and nil if that is impossible.
func (s *mergeSearch) merged(sets []mergeSet) *ir.Graph {
	if len(sets) == 0 {
		return s.a
	}
	return withMerged(s.a, s.code, sets)
}

// quickPasses lists the passes of predictions within a search, apart from those that search themselves.
var quickPasses = []string{"hazards", "reduce", "coarsen", "assign", "syncs", "order", "predict"}

// predict plans a graph with the passes that follow merge, or with quickPasses alone. It returns the predicted time of
// a replay, and the period of a sequence of replays. The registers of merged launches are unknown. Both times are the
// longer of two predictions, with the fewest and with the most resident blocks: where launches run side by side, either
// may take longer.
func (s *mergeSearch) predict(h *ir.Graph, all bool) (took int64, period model.Time, err error) {
	opts := *s.opts
	opts.Verify, opts.Dump, opts.Progress, opts.result, opts.grains = false, nil, nil, nil, nil
	if !all && !plansOnce(opts.Strategy) {
		opts.Strategy = "nimble"
	}
	plan := &ir.Schedule{Graph: h}
	for _, p := range afterMerge(&opts) {
		if !all && !slices.Contains(quickPasses, p.name) {
			continue
		}
		if err := p.apply(plan, &opts); err != nil {
			return 0, 0, err
		}
	}
	for _, opts.roomy = range []bool{false, true} {
		f, err := opts.forecast(h)
		if err != nil {
			return 0, 0, err
		}
		took, period = max(took, int64(f.makespan(plan)/model.Nanosecond)), max(period, f.period(plan))
		if h.Merged == nil {
			break
		}
	}
	return took, period, nil
}

// plansOnce reports whether a strategy computes one plan, in near linear time, instead of comparing several.
func plansOnce(strategy string) bool {
	name, parameter, _ := splitName("strategy", strategy)
	switch name {
	case "serial", "roundrobin", "levels", "grcuda", "mincover", "listsched":
		return true
	}
	return name == "nimble" && parameter == nil
}

// afterMerge returns the passes between merge and the prediction, and those that a prediction needs in any case.
func afterMerge(opts *Options) []pass {
	at := slices.IndexFunc(passes, func(p pass) bool { return p.name == "merge" })
	return slices.DeleteFunc(slices.Clone(passes[at+1:]), func(p pass) bool {
		switch p.name {
		case "memplan": // memory takes no time
			return true
		case "hazards", "assign", "syncs", "predict":
			return false
		}
		return !opts.runs(&p)
	})
}
