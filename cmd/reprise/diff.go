package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/internal/programdiff"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// errDifferent is the result of diff for programs that differ: exit status 1.
var errDifferent = errors.New("the programs differ")

// diffFlags are the flags of diff as given.
type diffFlags struct {
	plan     planFlags
	strategy string
	json     string
}

func newDiff() *cobra.Command {
	var f diffFlags
	c := &cobra.Command{
		Use:   "diff FILE.rir FILE.rir",
		Short: "Compare two programs for review: operations, buffers, dependencies and predicted time",
		Long: `Diff matches the operations of two programs by their labels, or by their kernels in program
order, and their parameters and buffers by name. It prints which were removed, added and
changed, which dependencies changed between operations of both, and the predicted time of a
replay of each. Schedules are compared if both files have one, as reprise opt prints it. Source
lines and names of programs are not compared. Each program is a FILE.rir or a workload; a workload states no contents, so
they are compared between files only. The exit status is 0 if the programs are equal and 1 if
they differ.`,
		Example: `  reprise diff before.rir after.rir
  reprise diff before.rir after.rir --json -`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 2 {
				return usagef("%s takes two programs, and %d are given (see %[1]s --help)", c.CommandPath(), len(args))
			}
			return nil
		},
		ValidArgsFunction: completePrograms,
		RunE: func(c *cobra.Command, args []string) error {
			different, err := f.run(c, args[0], args[1])
			switch {
			case err != nil:
				return usageError{err}
			case different:
				return errDifferent
			}
			return nil
		},
	}
	f.plan.add(c)
	c.Flags().StringVar(&f.strategy, "strategy", optimizer.DefaultStrategy, "strategy of the predicted times")
	c.Flags().StringVar(&f.json, "json", "", "also write the result to `FILE` as JSON (- for standard output, instead of the text)")
	return c
}

// programsDiffer is what diff writes as JSON.
type programsDiffer struct {
	Programs [2]string `json:"programs"` // as given: before and after
	Strategy string    `json:"strategy"` // of the predicted times
	Device   string    `json:"device"`
	*programdiff.Difference
	Before float64 `json:"predicted_before_us"`
	After  float64 `json:"predicted_after_us"`
}

func (f *diffFlags) run(c *cobra.Command, before, after string) (different bool, err error) {
	opts, err := f.plan.options()
	if err != nil {
		return false, err
	}
	opts.Strategy = f.strategy
	result := programsDiffer{Programs: [2]string{before, after}, Strategy: f.strategy, Device: f.plan.device}
	a, us, err := f.load(c, before, opts)
	if err != nil {
		return false, err
	}
	result.Before = us
	b, us, err := f.load(c, after, opts)
	if err != nil {
		return false, err
	}
	if !isFile(before) || !isFile(after) {
		a.Contents, b.Contents = nil, nil
	}
	result.After, result.Difference = us, programdiff.Of(a, b)
	return !result.Equal(), writeResults(c.OutOrStdout(), f.json, result, result.write)
}

// load returns a program with its analyzed graph, and its predicted time in microseconds.
func (f *diffFlags) load(c *cobra.Command, arg string, opts optimizer.Options) (*ir.File, float64, error) {
	name, file, err := fileOf(c, arg, f.plan.device)
	if err != nil {
		return nil, 0, err
	}
	plan, err := optimizer.Plan(file.Graph, opts)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", name, err)
	}
	return &ir.File{Graph: plan.Analyzed, Schedule: file.Schedule, Contents: file.Contents}, float64(plan.Schedule.Predicted) / 1e3, nil
}

func (d *programsDiffer) write(w io.Writer) error {
	fmt.Fprintf(w, "%s -> %s\n", d.Programs[0], d.Programs[1])
	for _, list := range []struct {
		sign string
		of   []string
	}{{"-", d.Removed}, {"+", d.Added}} {
		for _, op := range list.of {
			fmt.Fprintf(w, "%s %s\n", list.sign, op)
		}
	}
	for _, change := range d.Changed {
		fmt.Fprintf(w, "~ %s\n", change.Before)
		if change.After != change.Before {
			fmt.Fprintf(w, "  %s\n", change.After)
		}
		for _, what := range change.What {
			fmt.Fprintf(w, "      %s\n", what)
		}
	}
	for _, dep := range d.Deps.Removed {
		fmt.Fprintf(w, "- dependency %s\n", dep)
	}
	for _, dep := range d.Deps.Added {
		fmt.Fprintf(w, "+ dependency %s\n", dep)
	}
	_, err := fmt.Fprintf(w, "predicted replay with %s on %s: %.3f us -> %.3f us\n", d.Strategy, d.Device, d.Before, d.After)
	return err
}
