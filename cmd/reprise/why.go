package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/opname"
	"github.com/reprise-gpu/reprise/internal/why"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// whyFlags are the flags of why as given.
type whyFlags struct {
	device   string
	strategy string
	backend  string
	cost     string
	op       string
	edge     []string
	lane     int
	json     string
}

func newWhy() *cobra.Command {
	var f whyFlags
	c := &cobra.Command{
		Use:   "why " + programArg,
		Short: "Explain an operation, a dependency or a lane of a plan",
		Long: `Why plans a program and explains one part of the plan:

  --op L      what operation L waits for and why, what waits for it, its lane, and its
              predicted time alone on the device with what limits it
  --edge A,B  the bytes on which A and B conflict, how the plan keeps their order, which
              other dependencies imply it, and the predicted time of a plan without it
  --lane N    the operations of a lane in order, with their waits
  no flag     what the strategy decided: lanes, waits, predicted time

Operations are named by their labels, by their kernels with a number, as in square#1, or by
their numbers, as in %3. Those of a loop have its name before them: solve/square#1. All
times are predicted: nothing runs.

` + programHelp(),
		Example: `  reprise why img --op combine#1
  reprise why img --edge sobel#1,combine#2 --strategy mincover
  reprise why mine.rir --lane 2 --backend streams
  reprise why mine.rir --strategy auto`,
		Args:              oneArg(programArg),
		ValidArgsFunction: completePrograms,
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	c.Flags().StringVar(&f.device, "device", defaultDevice, "device to plan for; see reprise devices")
	c.Flags().StringVar(&f.strategy, "strategy", optimizer.DefaultStrategy, "strategy of the plan; see reprise opt")
	c.Flags().StringVar(&f.backend, "backend", graphexec.Graph.String(), "back end: graph or streams")
	c.Flags().StringVar(&f.cost, "cost", "declared", costHelp)
	c.Flags().StringVar(&f.op, "op", "", "explain this `OPERATION`")
	c.Flags().StringSliceVar(&f.edge, "edge", nil, "explain the order of these two operations, `A,B`")
	c.Flags().IntVar(&f.lane, "lane", 0, "explain lane `N`")
	jsonFlag(c, &f.json, "the explanation")
	for _, name := range []string{"op", "edge"} {
		_ = c.RegisterFlagCompletionFunc(name, f.completeOperations) // an error means that there is no such flag
	}
	return c
}

// completeOperations completes names of operations of the program, if the command line has it already.
func (f *whyFlags) completeOperations(c *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 || args[0] == "-" {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	_, file, err := fileOf(c, args[0], f.device)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, at := range opname.All(file.Graph) {
		names = append(names, at.Name)
	}
	return completed(names, begun), cobra.ShellCompDirectiveNoFileComp
}

// answer is what why prints. One of the last four is set.
type answer struct {
	Program   string         `json:"program"`
	Device    string         `json:"device"`
	Asked     string         `json:"asked"`    // the strategy of the command line
	Strategy  string         `json:"strategy"` // the one that it chose
	Rule      string         `json:"rule"`     // what that does
	Backend   string         `json:"backend"`
	Lanes     int            `json:"lanes"`
	Waits     int            `json:"waits"`
	Predicted float64        `json:"predicted_us"`
	Operation *why.Operation `json:"operation,omitempty"`
	Edge      *why.Edge      `json:"edge,omitempty"`
	Lane      *why.Lane      `json:"lane,omitempty"`
	Decided   *why.Strategy  `json:"decided,omitempty"`
}

func (f *whyFlags) run(c *cobra.Command, arg string) error {
	if err := f.checkPart(c); err != nil {
		return err
	}
	backend, err := lookup("back end", graphexec.Backends()...)(f.backend)
	if err != nil {
		return usageError{err}
	}
	opts := optimizer.Options{Strategy: f.strategy, Streams: backend == graphexec.Streams}
	if opts.Custom, err = lookupProfile(f.device); err != nil {
		return err
	}
	if err := opts.Check(); err != nil {
		return usageError{err}
	}
	if err := checkCost(f.cost); err != nil {
		return err
	}
	name, file, err := fileOf(c, arg, f.device)
	if err != nil {
		return err
	}
	if opts.Costs, err = costModel(f.cost, file.Graph, opts.Custom); err != nil {
		return err
	}
	if err := f.known(file.Graph); err != nil {
		return usageError{err}
	}
	p, err := why.New(file.Graph, opts)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	s := p.Schedule()
	a := &answer{
		Program: file.Graph.Name, Device: opts.Custom.ID, Asked: f.strategy, Strategy: s.Strategy, Rule: p.Rule(), Backend: backend.String(),
		Lanes: s.Lanes, Waits: s.Syncs(), Predicted: float64(s.Predicted) / 1e3,
	}
	if err := f.explain(c, p, a); err != nil {
		return err
	}
	return writeResults(c.OutOrStdout(), f.json, a, a.write)
}

// checkPart checks the flags that select a part of the plan.
func (f *whyFlags) checkPart(c *cobra.Command) error {
	var given []string
	for _, name := range []string{"op", "edge", "lane"} {
		if c.Flags().Changed(name) {
			given = append(given, "--"+name)
		}
	}
	switch {
	case len(given) > 1:
		return usagef("%s exclude each other: select one part of the plan", strings.Join(given, " and "))
	case c.Flags().Changed("edge") && len(f.edge) != 2:
		return usagef("--edge takes two operations, as in --edge square#1,reduce or, by their numbers, %%3,%%5, and %d are given", len(f.edge))
	}
	return nil
}

// known returns an error unless the program has the operations of the flags, before it is planned.
func (f *whyFlags) known(g *ir.Graph) error {
	asked := f.edge
	if f.op != "" {
		asked = []string{f.op}
	}
	for _, text := range asked {
		if _, err := opname.Find(g, text); err != nil {
			return err
		}
	}
	return nil
}

// explain adds the explanation that the flags select.
func (f *whyFlags) explain(c *cobra.Command, p *why.Plan, a *answer) (err error) {
	switch {
	case c.Flags().Changed("op"):
		a.Operation, err = p.Operation(f.op)
	case c.Flags().Changed("edge"):
		a.Edge, err = p.Edge(f.edge[0], f.edge[1])
	case c.Flags().Changed("lane"):
		a.Lane, err = p.Lane(f.lane)
	default:
		a.Decided, err = p.Strategy()
		return err
	}
	if err != nil {
		return usageError{err}
	}
	return nil
}
