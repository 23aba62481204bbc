package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/verify"
)

// planFlags select plans, for commands that run nothing.
type planFlags struct {
	device string
	also   []string
}

func (f *planFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.device, "device", defaultDevice, "device to plan for; see reprise devices")
	c.Flags().StringSliceVar(&f.also, "also", nil, alsoHelp)
}

// options returns the options of plans for the device.
func (f *planFlags) options() (o optimizer.Options, err error) {
	o = optimizer.Options{Also: f.also}
	if o.Custom, err = lookupProfile(f.device); err != nil {
		return o, err
	}
	if err := o.Check(); err != nil {
		return o, usageError{err}
	}
	return o, nil
}

// pickBackends parses --backend.
func pickBackends(words []string) (all []graphexec.Backend, err error) {
	for _, word := range words {
		if word == "all" {
			return graphexec.Backends(), nil
		}
		one, err := lookup("back end", graphexec.Backends()...)(word)
		if err != nil {
			return nil, usageError{err}
		}
		all = append(all, one)
	}
	return all, nil
}

// checkFlags are the flags of check as given.
type checkFlags struct {
	plan       planFlags
	strategies []string
	backends   []string
	mutate     bool
	json       string
}

func newCheck() *cobra.Command {
	var f checkFlags
	c := &cobra.Command{
		Use:   "check " + programArg,
		Short: "Prove that plans order every pair of conflicting accesses",
		Long: `Check plans a program with each strategy and lowers the plans for each back end, as replays
do. Then it proves on the lowered program, the nodes and edges of graphs or the commands of
streams with their events, that every pair of accesses that conflict is ordered: within a
replay, from replay to replay, in the bodies of loops and branches, and between buffers that
share memory. It does not read the lanes and waits of the plan, and runs nothing on a device.
If a FILE.rir has a schedule, as reprise opt -o writes, it is checked as well.

If a pair is not ordered, check prints the two operations, the bytes, the lines of the program
and an execution in which the two overlap, and exits with status 1.

With --mutate, it also omits each wait in turn, in all replays, and prints whether a conflict
is then unordered. A wait that is not necessary is implied by the path that is printed, or it
is a delay: it orders operations that do not conflict, as strategies do for performance and
lanes do by their order.

  conflicts  pairs of operations that were compared; they imply all others
  steps      commands and nodes that the device receives for three replays
  waits      edges of graphs and waits for events among them

` + programHelp(),
		Example: `  reprise check img
  reprise check img.rir --strategy nimble --backend streams
  reprise check img --also memplan
  reprise check img --strategy nimble --mutate`,
		Args:              oneArg(programArg),
		ValidArgsFunction: completePrograms,
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	f.plan.add(c)
	c.Flags().StringSliceVar(&f.strategies, "strategy", []string{"all"}, strategyHelp)
	c.Flags().StringSliceVar(&f.backends, "backend", []string{"all"}, "back ends, or all: graph, streams")
	c.Flags().BoolVar(&f.mutate, "mutate", false, "also omit each wait in turn, and print which are necessary")
	c.Flags().StringVar(&f.json, "json", "", "also write the results to `FILE` as a JSON array (- for standard output, instead of the text)")
	return c
}

func (f *checkFlags) run(c *cobra.Command, name string) error {
	strategies, err := pickStrategies(f.strategies)
	if err != nil {
		return err
	}
	backends, err := pickBackends(f.backends)
	if err != nil {
		return err
	}
	opts, err := f.plan.options()
	if err != nil {
		return err
	}
	name, file, err := fileOf(c, name, f.plan.device)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(c.Context())
	defer stop()
	var all []checked
	if file.Schedule != nil {
		for _, backend := range backends {
			proof, err := f.prove(file.Schedule, "the file", backend)
			if err != nil {
				return fmt.Errorf("%s, the schedule of the file/%v: %w", name, backend, err)
			}
			all = append(all, *proof)
		}
	}
	for _, strategy := range strategies {
		for _, backend := range backends {
			if err := ctx.Err(); err != nil {
				return err
			}
			opts.Strategy = strategy
			proof, err := f.check(file.Graph, opts, backend)
			if err != nil {
				return fmt.Errorf("%s with %s/%v: %w", name, strategy, backend, err)
			}
			all = append(all, *proof)
		}
	}
	return f.report(c.OutOrStdout(), name, all)
}

// checked is a row of the table. Asked is the strategy of the command line, which may have chosen another one, or "the file".
type checked struct {
	Asked string `json:"asked"`
	*verify.Proof
	Omitted []verify.Wait `json:"omitted,omitempty"` // with --mutate: each wait, and what happens without it
}

// check plans a graph with a strategy and checks the plan.
func (f *checkFlags) check(g *ir.Graph, opts optimizer.Options, backend graphexec.Backend) (*checked, error) {
	opts.Streams = backend == graphexec.Streams
	plan, err := optimizer.Plan(g, opts)
	if err != nil {
		return nil, err
	}
	return f.prove(plan.Schedule, opts.Strategy, backend)
}

// prove checks a schedule. If it has no races, --mutate omits each wait.
func (f *checkFlags) prove(s *ir.Schedule, asked string, backend graphexec.Backend) (p *checked, err error) {
	p = &checked{Asked: asked}
	if p.Proof, err = verify.Check(s, backend); err != nil || !f.mutate || !p.OK() {
		return p, err
	}
	p.Omitted, err = verify.Necessary(s, backend)
	return p, err
}

// report prints the results. The error counts the plans with races.
func (f *checkFlags) report(out io.Writer, name string, all []checked) error {
	if err := writeResults(out, f.json, all, func(w io.Writer) error { return writeProofs(w, all) }); err != nil {
		return err
	}
	bad := 0
	for _, p := range all {
		if !p.OK() {
			bad++
		}
	}
	if bad > 0 {
		return fmt.Errorf("%s: %d of %d plans leave conflicting accesses unordered", name, bad, len(all))
	}
	return nil
}

func writeProofs(w io.Writer, all []checked) error {
	fmt.Fprintf(w, "%s: %d operations, %d conflicts\n", all[0].Program, all[0].Operations, all[0].Conflicts)
	fmt.Fprintf(w, "%18s  %8s  %8s  %s\n", "", "steps", "waits", "result")
	for _, p := range all {
		result := "ordered"
		if !p.OK() {
			result = fmt.Sprintf("%d races", len(p.Races))
		}
		fmt.Fprintf(w, "%18s  %8d  %8d  %s\n", p.Asked+"/"+p.Backend, p.Steps, p.Waits, result)
	}
	for i := range all {
		if all[i].Omitted != nil {
			writeWaits(w, &all[i])
		}
	}
	for _, p := range all {
		for _, race := range p.Races {
			fmt.Fprintf(w, "\n%s/%s: %s", p.Asked, p.Backend, race.String())
		}
	}
	return nil
}
