package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/opname"
	"github.com/reprise-gpu/reprise/internal/plansize"
	"github.com/reprise-gpu/reprise/internal/ptx"
	"github.com/reprise-gpu/reprise/internal/release"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// optFlags are the flags of opt as given.
type optFlags struct {
	strategy   string
	device     string
	backend    string
	cost       string
	passes     []string
	also       []string
	dump       []string
	json       bool
	dot        bool
	iterations int64
	out        string
}

func newOpt() *cobra.Command {
	var f optFlags
	c := &cobra.Command{
		Use:   "opt " + programArg,
		Short: "Plan a program and print the result",
		Long: `Opt reads a saved graph (- is standard input) or traces a workload, runs the optimizer, and
prints the graph with its remaining dependencies and the schedule. It runs nothing on a
device. The graph may lack PTX, as one of reprise import or one written by hand.

The predicted time of an operation without a declared cost depends on the bytes that it
moves, not on its instructions. Use it to compare schedules; reprise bench measures times.
With --cost FILE.json, opt plans by the measured demand of each kernel, as reprise explain
--cost writes it. The prediction is then close to the time of a replay. Plans are made for
replays as a graph; --backend streams plans for replays over streams. A loop is predicted
to run to its limit; --iterations assumes fewer iterations.

Passes:
` + describe(optimizer.Passes()) + `

Strategies:
` + describe(optimizer.Strategies()),
		Example: `  reprise opt img.rir --strategy nimble
  reprise opt img.rir --strategy nimble --dump hazards,reduce
  reprise opt img.rir --strategy 'levels(4)'
  reprise opt img.rir --backend streams
  reprise opt img.rir --also memplan
  reprise opt img.rir --also 'unroll(4),rename(2)' --json
  reprise opt img.rir --also 'segment(50us)'
  reprise opt dag.rir --json
  reprise opt img.rir --dot | dot -Tsvg -o img.svg
  reprise trace img -o img.rir && reprise explain img --cost img.json && reprise opt img.rir --cost img.json`,
		Args:              oneArg(programArg),
		ValidArgsFunction: completePrograms,
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	c.Flags().StringVar(&f.strategy, "strategy", optimizer.DefaultStrategy, "strategy that assigns operations to lanes")
	c.Flags().StringVar(&f.device, "device", defaultDevice, "device to predict the time for; see reprise devices")
	c.Flags().StringVar(&f.backend, "backend", graphexec.Graph.String(), "back end to plan for: graph or streams")
	c.Flags().StringVar(&f.cost, "cost", "declared", costHelp)
	c.Flags().Int64Var(&f.iterations, "iterations", 0, iterationsHelp)
	c.Flags().StringSliceVar(&f.passes, "passes", nil, "run only these passes; without syncs, only the graph is printed (default: all)")
	c.Flags().StringSliceVar(&f.also, "also", nil, alsoHelp)
	c.Flags().StringSliceVar(&f.dump, "dump", nil, "also print the text after these passes, to standard error")
	c.Flags().BoolVar(&f.json, "json", false, "print a summary as one line of JSON instead of the text")
	c.Flags().BoolVar(&f.dot, "dot", false, "print the graph with its remaining dependencies for Graphviz instead of the text")
	c.Flags().StringVarP(&f.out, "output", "o", "", "write the text to `FILE`, with the PTX, instead of printing it")
	return c
}

// manyOps is the number of operations from which opt shows its progress: planning then takes a second or more.
const manyOps = 100_000

func describe(list []optimizer.Description) string {
	var b strings.Builder
	width := 0
	for _, d := range list {
		width = max(width, len(d.Usage))
	}
	for _, d := range list {
		fmt.Fprintf(&b, "  %-*s %s\n", width, d.Usage, d.Doc)
	}
	return strings.TrimRight(b.String(), "\n")
}

func (f *optFlags) run(c *cobra.Command, path string) error {
	if f.json && f.dot {
		return usageError{errors.New("--json and --dot exclude each other: each selects the format of the output")}
	}
	profile, err := lookupProfile(f.device)
	if err != nil {
		return err
	}
	backend, err := lookup("back end", graphexec.Backends()...)(f.backend)
	if err != nil {
		return usageError{err}
	}
	opts := optimizer.Options{
		Strategy: f.strategy, Custom: profile, Also: f.also, Streams: backend == graphexec.Streams,
		Verify: true, Dump: map[string]io.Writer{}, Iterations: f.iterations,
	}
	if c.Flags().Changed("passes") {
		opts.Passes = f.passes
	}
	for _, pass := range f.dump {
		opts.Dump[pass] = c.ErrOrStderr()
	}
	if err := opts.Check(); err != nil {
		return usageError{err}
	}
	if err := checkCost(f.cost); err != nil {
		return err
	}
	path, file, err := fileOf(c, path, f.device)
	if err != nil {
		return err
	}
	g := file.Graph
	if opts.Costs, err = costModel(f.cost, g, profile); err != nil {
		return err
	}
	if g.Len() >= manyOps {
		bar := newProgress(c.ErrOrStderr(), "passes")
		defer bar.finish()
		opts.Progress = bar.update
	}
	result, err := optimizer.Plan(g, opts)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	reportEffects(c.ErrOrStderr(), path, result.Schedule, profile)
	if _, loops, some := strings.Cut(result.Costs, "; "); some && result.Schedule != nil {
		fmt.Fprintf(c.ErrOrStderr(), "%s: the predicted time assumes that %s (--iterations)\n", path, loops)
	}
	return f.print(c.OutOrStdout(), result, file.Contents, profile)
}

// reportEffects prints the effects of the optional passes: unrolling, segments and the memory plan.
func reportEffects(w io.Writer, path string, s *ir.Schedule, profile *model.Profile) {
	if s == nil {
		return
	}
	if u := plansize.UnrolledOf(s, profile); u.Copies > 1 {
		fmt.Fprintf(w, "%s: %d copies, %.3f us each; a graph of them takes %.0f us to instantiate, and the copies %d bytes of memory of their own\n",
			path, u.Copies, u.CopyUS, u.InstantiateUS, u.Bytes)
	}
	reportSegments(w, path, s)
	if s.Offset != nil {
		m := plansize.MemoryOf(s)
		fmt.Fprintf(w, "%s: %d bytes of device memory instead of %d; no plan for these lanes takes less than %d\n", path, m.After, m.Before, m.Bound)
	}
}

// reportSegments prints the number of pieces of the finest granularity, and what cutting costs.
func reportSegments(w io.Writer, path string, s *ir.Schedule) {
	if len(s.Segments) == 0 {
		return
	}
	fine, whole := s.Segments[0], s.Segments[len(s.Segments)-1]
	sum, oversize := int64(0), 0
	for _, p := range fine.Pieces {
		sum += p.Predicted
		if p.Oversize != "" {
			oversize++
		}
	}
	fmt.Fprintf(w, "%s: %d segments of at most %.3f us, %d oversize; together %.3f us on the device without launches", path, len(fine.Pieces), float64(fine.Limit)/1e3, oversize, float64(sum)/1e3)
	if len(whole.Pieces) == 1 && len(fine.Pieces) > 1 {
		fmt.Fprintf(w, " instead of %.3f us", float64(whole.Pieces[0].Predicted)/1e3)
	}
	fmt.Fprintln(w)
}

// print writes the text with the PTX to the file of -o. It prints the summary with --json, the DOT graph with --dot,
// and otherwise, without -o, the text without PTX.
func (f *optFlags) print(stdout io.Writer, r *optimizer.Result, contents []ir.Contents, profile *model.Profile) error {
	if f.out != "" {
		file := ir.File{Tool: release.Tool, Graph: r.Graph, Schedule: r.Schedule, Contents: contents}
		if err := writeFile(f.out, file.Text()); err != nil {
			return err
		}
	}
	if f.json {
		return json.NewEncoder(stdout).Encode(planned{r.Graph.Name, f.device, f.backend, summarize(r, profile)})
	}
	if f.dot {
		return writeDOT(stdout, r)
	}
	if f.out != "" {
		return nil
	}
	_, err := stdout.Write(ir.Format(withoutSources(r.Graph), r.Schedule))
	return err
}

// withoutSources returns a copy of g without the PTX, which is long and is not changed by planning.
func withoutSources(g *ir.Graph) *ir.Graph {
	bare := *g
	bare.Modules = slices.Clone(g.Modules)
	for i := range bare.Modules {
		bare.Modules[i].Source = ""
	}
	return &bare
}

// planned is what opt --json prints.
type planned struct {
	Program string `json:"program"`
	Device  string `json:"device"`
	Backend string `json:"backend"`
	summary
}

// summary is the plan of a program or of a body. Operations are numbered in program order from 0; an edge is [from, to].
type summary struct {
	Strategy     string       `json:"strategy"`
	Ops          int          `json:"ops"`
	Names        []string     `json:"names"` // by operation, as in package opname: the label, if it has one
	Edges        int          `json:"edges"`
	ReducedEdges int          `json:"reduced_edges"`
	Lanes        int          `json:"lanes"`
	Syncs        int          `json:"syncs"`
	LaneOf       []ir.LaneID  `json:"lane_of"`
	Waits        [][2]ir.OpID `json:"waits"`
	Reduced      [][2]ir.OpID `json:"reduced"`
	PredictedUS  float64      `json:"predicted_us"`
	Assumed      string       `json:"assumed,omitempty"` // of loops, for the prediction

	// Origin maps operations to their numbers in the input. It is set if operations were removed or copied.
	Origin []ir.OpID `json:"origin,omitempty"`
	// Memory is set if memory was planned.
	Memory *plansize.Memory `json:"memory,omitempty"`
	// Unrolled is set if the program was unrolled.
	Unrolled *plansize.Unrolled `json:"unrolled,omitempty"`
	// Bodies are those of loops and branches.
	Bodies []bodySummary `json:"bodies,omitempty"`
}

// bodySummary is the plan of a body.
type bodySummary struct {
	Op   ir.OpID `json:"op"`
	Body int     `json:"body"` // 1 for the second body of a branch
	summary
}

// summarizeBodies describes the bodies of a schedule.
func summarizeBodies(s *ir.Schedule, profile *model.Profile) (all []bodySummary) {
	for v := range s.Graph.Ops {
		for i, body := range s.Bodies[ir.OpID(v)] {
			r := &optimizer.Result{Analyzed: body.Graph, Reduced: body.Graph, Graph: body.Graph, Schedule: body}
			all = append(all, bodySummary{ir.OpID(v), i, summarize(r, profile)})
		}
	}
	return all
}

func summarize(r *optimizer.Result, profile *model.Profile) summary {
	sum := summary{
		Ops:    r.Graph.Len(),
		Names:  []string{},
		Origin: r.Graph.Origin,
		LaneOf: []ir.LaneID{}, Waits: [][2]ir.OpID{}, Reduced: [][2]ir.OpID{},
	}
	names := opname.Of(r.Graph)
	for v := range r.Graph.Ops {
		sum.Names = append(sum.Names, names.Of(ir.OpID(v)))
	}
	if r.Analyzed != nil {
		sum.Edges = len(r.Analyzed.Deps())
	}
	if r.Reduced != nil {
		for _, d := range r.Reduced.Deps() {
			sum.Reduced = append(sum.Reduced, [2]ir.OpID{d.From, d.To})
		}
		sum.ReducedEdges = len(sum.Reduced)
	}
	s := r.Schedule
	if s == nil {
		return sum
	}
	sum.Strategy, sum.Lanes, sum.Syncs = s.Strategy, s.Lanes, s.Syncs()
	sum.LaneOf = append(sum.LaneOf, s.Lane...)
	sum.PredictedUS = float64(s.Predicted) / 1000
	_, sum.Assumed, _ = strings.Cut(r.Costs, "; ")
	sum.Bodies = summarizeBodies(s, profile)
	if u := plansize.UnrolledOf(s, profile); u.Copies > 1 {
		sum.Unrolled = &u
	}
	if s.Offset != nil {
		m := plansize.MemoryOf(s)
		sum.Memory = &m
	}
	for to, waits := range s.Waits {
		for _, from := range waits {
			sum.Waits = append(sum.Waits, [2]ir.OpID{from, ir.OpID(to)})
		}
	}
	return sum
}

// checkModules parses the PTX of a graph and checks the graph's launches against the signatures of the kernels. It does
// not check launches of modules without PTX, as in graphs written by hand.
func checkModules(g *ir.Graph) error {
	kernels := make([]map[string]*ptx.Func, len(g.Modules))
	for i, m := range g.Modules {
		if m.Source == "" {
			continue
		}
		ast, err := ptx.Parse(m.File, m.Source)
		if err != nil {
			return err
		}
		kernels[i] = map[string]*ptx.Func{}
		for _, f := range ast.Funcs {
			if f.Entry {
				kernels[i][f.Name] = f
			}
		}
	}
	for i := range g.Ops {
		l := g.Ops[i].Launch
		if l == nil || kernels[l.Module] == nil {
			continue
		}
		f, ok := kernels[l.Module][l.Entry]
		switch file := g.Modules[l.Module].File; {
		case !ok:
			return fmt.Errorf("%v launches %s, which is not a kernel of %s", ir.OpID(i), l.Entry, file)
		case len(l.Args) != len(f.Params):
			return fmt.Errorf("%v passes %d arguments to %s, which takes %d", ir.OpID(i), len(l.Args), l.Entry, len(f.Params))
		}
	}
	return nil
}
