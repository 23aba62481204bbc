package optimizer

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/bufsize"
	"github.com/reprise-gpu/reprise/internal/observe"
	"github.com/reprise-gpu/reprise/ir"
)

// pass is one step of the pipeline. Either edit or compute is set. edit returns a new graph; compute
// fills in part of the schedule. A pass with a parameter has one of them set once the parameter is
// known.
type pass struct {
	name      string
	takes     string // name of the parameter, "" if there is none
	with      setter // of a pass with a parameter
	parameter string
	edit      func(*ir.Graph, *Options) (*ir.Graph, error)
	compute   func(*ir.Schedule, *Options) error
	needs     string // a pass whose result it requires
	asked     bool   // it runs only if Options.Also or Options.Passes names it
	adds      bool   // it may run several times, with different parameters
	freezes   bool   // its plans refuse changes; it also runs for strategy auto with Options.Frozen
	brings    string // another pass, which runs with the same parameter unless it is named too
	doc       string
}

// passes is the pipeline, in order.
var passes = []pass{
	{name: "unroll", takes: "k", with: times("copies", unroll), asked: true,
		doc: "make one program of k replays, in which a replay may begin before the previous one ends"},
	{name: "rotate", takes: "a:b", with: several("buffers", rotate), needs: "unroll", asked: true, adds: true,
		doc: "exchange buffers from copy to copy: ping-pong, or a rotation of more than two"},
	{name: "rename", takes: "m", with: times("memories", rename), needs: "unroll", asked: true,
		doc: "give buffers that every copy fills m memories in turn: double buffering"},
	{name: "copyelim", edit: plain(copyelim), asked: true,
		doc: "remove copies of bytes that are already in place"},
	{name: "dce", edit: plain(dce), asked: true,
		doc: "remove operations whose results are never read"},
	{name: "merge", asked: true, freezes: true, // init sets its edit
		doc: "make one launch of independent launches, where the prediction is quicker"},
	{name: "slice", takes: "q", with: limited(func(p *pass, q model.Time) { p.edit = slice(q) }), asked: true,
		doc: "cut launches that take longer than q into launches of ranges of their blocks"},
	{name: "hazards", edit: plain(hazards),
		doc: "make every conflict between accesses a dependency"},
	{name: "reduce", edit: reduceNoted, needs: "hazards",
		doc: "drop dependencies that others imply"},
	{name: "coarsen", compute: coarsen, needs: "hazards", asked: true,
		doc: "plan each chain of launches as one operation: planning is faster, and a replay may be slightly slower"},
	{name: "assign", compute: assign, needs: "hazards",
		doc: "put every operation on a lane, by strategy"},
	{name: "syncs", compute: syncs, needs: "assign",
		doc: "find the fewest waits between lanes that imply every dependency"},
	{name: "fold", compute: fold, needs: "syncs",
		doc: "remove lanes and waits, those of copies first, where the predicted replay is no longer without them"},
	{name: "prefetch", compute: prefetch, needs: "syncs", asked: true,
		doc: "move copies forward in their lane, where the prediction is quicker"},
	{name: "order", compute: order, needs: "syncs",
		doc: "enqueue the longest path first, for replays over streams"},
	{name: "splice", compute: splice, needs: "syncs",
		doc: "continue a lane with an operation that waits for it, where the prediction over streams is quicker"},
	{name: "group", compute: group, needs: "syncs", asked: true,
		doc: "launch consecutive operations of a lane as one small graph, where the prediction over streams is no slower"},
	{name: "priorities", compute: priorities, needs: "syncs", asked: true,
		doc: "give launches on the longest path multiprocessors first, where the prediction is quicker"},
	{name: "memplan", compute: memplan, needs: "syncs", asked: true,
		doc: "put temporaries that are never alive at once into the same memory"},
	{name: "segment", takes: "q", with: limited(func(p *pass, q model.Time) { p.compute = cutIntoPieces(q) }), needs: "syncs", brings: "slice", asked: true,
		doc: "cut the schedule into pieces that take q or less, each replayed on its own, where that costs least; runs slice(q) too"},
	{name: "predict", compute: predict, needs: "syncs",
		doc: "estimate the time of one replay on the device profile"},
}

// plain wraps an edit that does not depend on options.
func plain(edit func(*ir.Graph) (*ir.Graph, error)) func(*ir.Graph, *Options) (*ir.Graph, error) {
	return func(g *ir.Graph, _ *Options) (*ir.Graph, error) { return edit(g) }
}

// constraints lists the required order of passes and its reasons. They are checked when the
// program starts.
var constraints = []struct{ before, after, reason string }{
	{"unroll", "rotate", "the copies have to be there"},
	{"rotate", "rename", "which buffers a copy fills depends on their places"},
	{"rename", "copyelim", "a copy that is left out of some replays leaves what it wrote for the next"},
	{"copyelim", "dce", "what fed only a copy that goes is dead"},
	{"dce", "merge", "a merged launch lives as long as its last part"},
	{"merge", "hazards", "dependencies are between launches, merged or not"},
	{"merge", "slice", "a merged launch may take longer than its parts"},
	{"slice", "hazards", "slices of a launch depend on each other"},
	{"priorities", "segment", "pieces are of the schedule that is replayed"},
	{"memplan", "segment", "pieces do not change what memplan relies on, the order within lanes"},
	{"dce", "hazards", "operations are left out before anything is said about their order"},
	{"hazards", "reduce", "only known dependencies can imply one another"},
	{"hazards", "assign", "lanes are chosen by what may run at the same time"},
	{"reduce", "assign", "strategies look at fewer edges, and nimble's proof is about reduced graphs"},
	{"reduce", "coarsen", "where dependencies that others imply are gone, more are chains"},
	{"coarsen", "assign", "it says what is placed"},
	{"assign", "syncs", "which waits remain depends on what lane order implies"},
	{"syncs", "fold", "what a lane costs is its waits"},
	{"fold", "prefetch", "fold moves copies from lane to lane, this along theirs"},
	{"prefetch", "order", "that keeps the order within each lane"},
	{"prefetch", "memplan", "who may have whose memory depends on the order within each lane"},
	{"fold", "order", "the longest path is another when lanes have changed"},
	{"order", "splice", "what an operation waits for longest depends on when that is enqueued"},
	{"splice", "priorities", "what may be put off follows from the lanes, the waits and when the host enqueues"},
	{"splice", "memplan", "who may have whose memory depends on all lanes and waits"},
	{"splice", "group", "lanes have to be what they will be"},
	{"prefetch", "group", "and so has the order within them"},
	{"group", "priorities", "what may be put off follows from when it is launched"},
	{"fold", "predict", "what is predicted is what runs"},
	{"order", "predict", "so is when it is enqueued"},
	{"splice", "predict", "and on which lanes"},
	{"priorities", "predict", "and who gets multiprocessors first"},
	{"segment", "predict", "and in the order of the pieces"},
	{"syncs", "predict", "the time of a schedule includes its waits"},
}

func init() {
	checkPipeline(passes)
	// merge predicts plans with the passes behind it, so that the table would refer to itself.
	passes[slices.IndexFunc(passes, func(p pass) bool { return p.name == "merge" })].edit = merge
}

// checkPipeline panics unless the order satisfies all constraints.
func checkPipeline(order []pass) {
	at := func(name string) int {
		i := slices.IndexFunc(order, func(p pass) bool { return p.name == name })
		if i < 0 {
			panic(fmt.Sprintf("BUG: a constraint names the pass %q, which does not exist", name))
		}
		return i
	}
	for _, c := range constraints {
		if at(c.before) >= at(c.after) {
			panic(fmt.Sprintf("BUG: pass %s must come before %s: %s", c.before, c.after, c.reason))
		}
	}
}

// Passes lists the passes that Options.Passes can name, in the order in which they run.
func Passes() []Description {
	list := make([]Description, len(passes))
	for i, p := range passes {
		list[i] = describe(p.name, p.takes, p.doc)
		if p.asked {
			list[i].Doc += " (optional)"
		}
	}
	return list
}

// Options select how to plan. The zero value plans with every pass that runs by default and the default
// strategy, for the default device.
type Options struct {
	Strategy string   // one of Strategies; "" is DefaultStrategy
	Passes   []string // the passes to run, in any order; nil means all that run by default
	Also     []string // additional passes
	Verify   bool     // check the graph or the schedule after every pass

	// Progress, if set, is called before each pass with its name, the number of passes done and their total.
	Progress func(pass string, done, total int)

	// Dump maps names of passes to writers; the program is printed after those passes.
	Dump map[string]io.Writer

	Streams bool           // plan for a replay over streams instead of as a graph
	Profile string         // id of the device profile to predict for; "" is the default profile
	Custom  *model.Profile // a profile to use instead of Profile, within the bounds of docs/PROFILE.md; see model.ErrProfile

	// Costs returns the costs of operations. If it is nil, launches cost what Measured counted. Without Measured, an
	// operation with a declared cost takes that time. Other costs are estimated from shapes: a copy or a kernel moves the
	// bytes of its accesses at the speed of the profile's memory or host link, and a kernel occupies as much of the
	// device as its grid can. Instructions are not counted, so a kernel bound by arithmetic is predicted too fast. For a
	// slice (see ir.Graph.Sliced), it returns the demand of the whole launch.
	Costs CostModel

	// Iterations is how many iterations of a loop without a declared cost predictions assume, up to the next
	// check; 0 or more than the limit of a loop means its limit.
	Iterations int64

	// Frozen states that the replays will not be changed by Enable and Grid. Strategy auto may then merge launches of
	// programs of up to 2000 operations, as the pass merge does. With times that are estimated from bytes and shapes it
	// does so only if a replay is predicted to take at least a fifth less time. Parameters, Rebind and Swap work as
	// without it.
	Frozen bool

	// Bound requests Result.Bound. It takes O(operations + dependencies).
	Bound bool

	// Measured is the result of Measure for the program. The plan is for its device unless Profile or Custom
	// names another.
	Measured *Measurement

	grains  *grains   // result of coarsen; nil for none
	settled bool      // a search has already decided what syncs, fold, order and splice would decide
	bodies  bodies    // plans of the bodies of loops and branches; nil if the graph has none
	times   bodyTimes // bounds of the bodies, for a bound without plans
	inBody  bool      // the graph is a body
	roomy   bool      // merged launches have the most resident blocks that are possible, see measuredCosts
	tried   *int      // counts operations of all schedules tried by searches; nil if not counted
	result  *Result   // of the plan, for notes of passes; nil outside Plan

	oversize map[ir.OpID]string // result of slice: why a launch that takes longer than the limit was not cut
}

// Result is a plan and the graphs it went through.
type Result struct {
	Analyzed *ir.Graph    // after hazards, with all dependencies except those it omitted as implied; for a graph given as reduced, Reduced
	Reduced  *ir.Graph    // after reduce, without implied dependencies; nil if reduce did not run
	Graph    *ir.Graph    // after the last pass
	Schedule *ir.Schedule // of Graph; nil if syncs did not run, since it would lack waits
	Costs    string       // source of the times: "given", "measured on DEVICE" or "estimated from bytes and shapes", the reason, and the iterations assumed of loops

	// UndecidedDeps is the number of dependencies that reduce kept because deciding whether others imply them would
	// exceed its bound of work. UndecidedWaits is the same number for the edges of syncs. Both are 0 except
	// for graphs of tens of thousands of operations with long edges. If they are 0, the reduced graph is the
	// transitive reduction, and every wait is needed.
	UndecidedDeps, UndecidedWaits int

	// Bound is a time, in nanoseconds, that no schedule of Graph is predicted to undercut as a graph: the launch of all
	// operations, plus the longest of the critical path, the work of the busiest engine, and the sum of all times
	// divided by the number of chains. It is 0 without Options.Bound.
	Bound int64
}

// Plan runs the pipeline on g, which it does not change, after the pipeline for the bodies of its loops and
// branches. A pass that the phase of g shows to be done is skipped.
//
// A program with too many dependencies is refused with a *DependencyError.
//
// Times of kernels are estimated from their shapes unless opts has costs. PlanOn measures them on a device.
//
// The graph must satisfy ir.Verify. With Options.Verify, Plan returns an error if it does not. Otherwise only missing
// operands and buffers are errors.
func Plan(g *ir.Graph, opts Options) (res *Result, err error) {
	if g == nil {
		return nil, absent.Nil("the graph")
	}
	start := time.Now()
	observe.Labelled(observe.Plan, g.Name, func() { res, err = runPasses(g, opts) })
	if err == nil {
		logPlan(res, &opts, time.Since(start))
	}
	return res, err
}

// logPlan writes a record of a plan.
func logPlan(res *Result, opts *Options, took time.Duration) {
	observe.Log("planned", func() []slog.Attr {
		attributes := []slog.Attr{slog.String("program", res.Graph.Name), slog.Int("operations", res.Graph.Len()), slog.Duration("took", took), slog.String("costs", res.Costs)}
		if s := res.Schedule; s != nil {
			attributes = append(attributes, slog.String("strategy", s.Strategy), slog.Bool("streams", opts.Streams), slog.Int("lanes", s.Lanes), slog.Int("waits", s.Syncs()),
				slog.Duration("predicted", time.Duration(s.Predicted)))
		}
		return attributes
	})
}

// runPasses plans g.
func runPasses(g *ir.Graph, opts Options) (*Result, error) {
	given := opts
	selected, err := selectPasses(&opts)
	if err != nil {
		return nil, err
	}
	if opts.Verify {
		if err := ir.Verify(g); err != nil {
			return nil, err
		}
	} else if g.Trace == 0 { // the tracer verifies what it records
		if err := checkOperands(g); err != nil {
			return nil, err
		}
	}
	if g, opts.bodies, err = planBodies(g, selected, &opts); err != nil {
		return nil, err
	}
	s := &ir.Schedule{Graph: g}
	res := &Result{Costs: opts.costs() + opts.assumed(g)}
	opts.result = res
	for i, p := range selected {
		if opts.Progress != nil {
			opts.Progress(p.name, i, len(selected))
		}
		observe.Region("reprise: pass "+p.name, func() { err = p.run(s, &opts) })
		if err != nil {
			return nil, err
		}
		switch s.Graph.Phase {
		case ir.Analyzed:
			res.Analyzed = s.Graph
		case ir.Reduced:
			res.Reduced = s.Graph
		}
	}
	if res.Analyzed == nil {
		res.Analyzed = res.Reduced
	}
	res.Graph = s.Graph
	if contains(selected, "syncs") {
		res.Schedule = s
	}
	if opts.Bound {
		if res.Bound, err = lowerBound(res.Graph, given); err != nil {
			return nil, err
		}
	}
	return res, nil
}

// selectPasses checks every name in opts and returns the passes to run, in order.
func selectPasses(opts *Options) ([]pass, error) {
	if _, _, err := strategyNamed(opts.Strategy); err != nil {
		return nil, err
	}
	if err := opts.checkProfile(); err != nil {
		return nil, err
	}
	if opts.Iterations < 0 {
		return nil, fmt.Errorf("%d iterations of loops are assumed: use 1 or more, or 0 for the limit of each loop", opts.Iterations)
	}
	asked, err := passesNamed(slices.Concat(opts.Passes, opts.Also))
	if err != nil {
		return nil, err
	}
	var selected []pass
	for _, p := range passes {
		run := slices.DeleteFunc(slices.Clone(asked), func(a pass) bool { return a.name != p.name })
		if len(run) == 0 && opts.runs(&p) {
			run = []pass{p}
		}
		if len(run) > 0 && p.needs != "" && !contains(selected, p.needs) {
			return nil, fmt.Errorf("the pass %q needs %q, which is left out; name it too", p.name, p.needs)
		}
		selected = append(selected, run...)
	}
	// Sorted, so that the error does not depend on the order of the map.
	dumped := slices.Sorted(maps.Keys(opts.Dump))
	for _, name := range dumped {
		if !contains(passes, name) {
			return nil, unknown("pass", name, Passes())
		}
		if !contains(selected, name) {
			return nil, fmt.Errorf("there is nothing to print after the pass %q, which is left out; name it among the passes", name)
		}
	}
	return selected, nil
}

// passesNamed returns the passes for a list of texts. A pass without a parameter may be repeated. A pass with a
// parameter may not, except rotations of disjoint buffers.
func passesNamed(texts []string) (list []pass, err error) {
	for _, text := range texts {
		p, err := passNamed(text)
		if err != nil {
			return nil, err
		}
		if p.takes == "" && contains(list, p.name) {
			continue
		}
		for i := range list {
			if err := list[i].clash(&p); err != nil {
				return nil, err
			}
		}
		list = append(list, p)
	}
	for _, p := range list {
		if p.brings == "" || contains(list, p.brings) {
			continue
		}
		other, err := passNamed(fmt.Sprintf("%s(%s)", p.brings, p.parameter))
		if err != nil {
			return nil, err
		}
		list = append(list, other)
	}
	return list, nil
}

// clash returns an error if p and q may not both be named.
func (p *pass) clash(q *pass) error {
	if p.name != q.name {
		return nil
	}
	if !p.adds {
		return fmt.Errorf("the pass %s is named twice, as %s(%s) and %s(%s): name it once", p.name, p.name, p.parameter, q.name, q.parameter)
	}
	words := strings.Split(p.parameter, ":")
	for _, w := range strings.Split(q.parameter, ":") {
		if slices.Contains(words, w) {
			return fmt.Errorf("%s(%s) and %s(%s) both move %s: have each buffer in one", p.name, p.parameter, q.name, q.parameter, w)
		}
	}
	return nil
}

// runs reports whether the options select p.
func (o *Options) runs(p *pass) bool {
	switch {
	case o.names(p.name):
		return true
	case p.freezes && o.Frozen && o.Passes == nil:
		strategy, _, _ := splitName("strategy", o.Strategy)
		return strategy == "auto"
	}
	return o.Passes == nil && !p.asked
}

// names reports whether the options request a pass by name.
func (o *Options) names(pass string) bool {
	return slices.Contains(o.Also, pass) || slices.Contains(o.Passes, pass)
}

// contains reports whether a pass with this name is in the list.
func contains(list []pass, name string) bool {
	return slices.ContainsFunc(list, func(p pass) bool { return p.name == name })
}

// run applies p to the schedule under construction, and checks and prints the
// result if the options require it.
func (p *pass) run(s *ir.Schedule, opts *Options) error {
	if err := p.apply(s, opts); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	if err := checkSizes(s.Graph); err != nil { // passes may add buffers
		return fmt.Errorf("%s: %w", p.name, err)
	}
	if opts.Verify {
		if err := p.verify(s); err != nil {
			panic(fmt.Sprintf("BUG: after pass %s: %v", p.name, err))
		}
	}
	w, ok := opts.Dump[p.name]
	if !ok {
		return nil
	}
	if err := p.dump(w, s); err != nil {
		return fmt.Errorf("print after pass %s: %w", p.name, err)
	}
	return nil
}

func (p *pass) apply(s *ir.Schedule, opts *Options) (err error) {
	if p.compute != nil {
		err = p.compute(s, opts)
		if opts.bodies != nil {
			s.Bodies = opts.bodies.schedules(s.Graph)
		}
		return err
	}
	s.Graph, err = p.edit(s.Graph, opts)
	return err
}

// verify checks the result of p: a graph, or a schedule once it has waits.
func (p *pass) verify(s *ir.Schedule) error {
	if p.edit != nil {
		return ir.Verify(s.Graph)
	}
	if s.Waits == nil {
		return nil
	}
	return ir.VerifySchedule(s)
}

// dump prints the graph, followed by the schedule once there are lanes.
func (p *pass) dump(w io.Writer, s *ir.Schedule) error {
	text := ir.Print(s.Graph)
	if p.compute != nil {
		known := *s
		if known.Waits == nil {
			known.Waits = make([][]ir.OpID, s.Graph.Len())
		}
		text += "\n" + ir.PrintSchedule(&known)
	}
	_, err := io.WriteString(w, text)
	return err
}

// checkSizes returns which buffer of g is too large, alone or together with those before it.
func checkSizes(g *ir.Graph) error {
	var total bufsize.Total
	for i := range g.Buffers {
		b := &g.Buffers[i]
		if err := total.Add(b.Name, b.Elem, b.Len); err != nil {
			return err
		}
	}
	return nil
}
