package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/reprise-gpu/reprise/cluster"
	"github.com/reprise-gpu/reprise/internal/release"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// Exit statuses.
const (
	exitOK          = 0
	exitInput       = 1   // the input or the run failed
	exitUsage       = 2   // the command line was wrong
	exitInterrupted = 130 // by SIGINT, as a shell reports it
)

// usageError is a mistake on the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// run executes a command line and returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.Execute()
	if err == nil {
		return exitOK
	}
	if !errors.As(err, new(interrupted)) {
		err = withProgress(err, "")
	}
	fmt.Fprintf(stderr, "reprise: %s\n", message(err, isTerminal(stderr)))
	var usage usageError
	switch {
	case errors.As(err, &usage):
		return exitUsage
	case errors.Is(err, context.Canceled):
		return statusOfSignal()
	}
	return exitInput
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "reprise",
		Short:         "Trace GPU work once, plan it, replay it many times",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          noCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
		Version:       release.Version,
	}
	root.SetVersionTemplate(thisVersion().String())
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usagef("%w%s (see %s --help)", ofValue(err), similarFlag(c, err), c.CommandPath())
	})
	root.AddCommand(
		newAdvise(), newBench(), newCompare(), newExplain(), newCheck(), newBisect(), newDiff(), newWhy(), newTimeline(),
		newReport(), newServe(), newDraw(), newMeasure(), newSolve(), newTenants(),
		newScale(), newShare(), newRun(), newValidate(), newTrace(), newOpt(),
		newStrategies(), newImport(), newKernel(), newDevices(), newDoctor(), newProfile(),
		newCalibrate(), newCgoEnv(), newMan(), newVersion(),
	)
	completeFlags(root)
	return root
}

// ofValue replaces pflag's error about the value of a flag by one that describes the valid values. It returns other
// errors unchanged.
func ofValue(err error) error {
	var value *pflag.InvalidValueError
	if !errors.As(err, &value) {
		return err
	}
	if errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("--%s %s: the number is out of range", value.GetFlag().Name, value.GetValue())
	}
	takes, ok := map[string]string{
		"int": "a whole number", "int64": "a whole number", "uint64": "a whole number, 0 or more", "float64": "a number", "bool": "true or false", "duration": "a time with its unit, as in 100ms",
	}[value.GetFlag().Value.Type()]
	if !ok {
		return err
	}
	return fmt.Errorf("--%s %s: the value must be %s", value.GetFlag().Name, value.GetValue(), takes)
}

// oneArg requires exactly one argument. what describes it in the error.
func oneArg(what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usagef("%s takes one %s, and %d are given (see %[1]s --help)", c.CommandPath(), what, len(args))
		}
		return nil
	}
}

// message returns the text of an error: one line for logs and scripts, and all lines for a terminal, with the source
// lines and carets of a diagnostic. The report of a race and the table of missing memory are always complete.
func message(err error, terminal bool) string {
	text := strings.TrimSpace(err.Error())
	if terminal || errors.As(err, new(*sim.RaceError)) || errors.As(err, new(*cluster.MemoryError)) {
		return text
	}
	first, rest, more := strings.Cut(text, "\n")
	if more {
		if n := countErrors(rest); n > 0 {
			return fmt.Sprintf("%s (and %d more)", first, n)
		}
	}
	return first
}

// countErrors counts the diagnostics: the lines that are neither empty nor indented, as quoted source is.
func countErrors(text string) int {
	n := 0
	for line := range strings.Lines(text) {
		if line != "\n" && line[0] != ' ' && line[0] != '\t' {
			n++
		}
	}
	return n
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
