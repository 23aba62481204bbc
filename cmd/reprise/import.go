package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/importer"
	"github.com/reprise-gpu/reprise/ir"
)

// importFlags are the flags of import as given.
type importFlags struct {
	options importer.Options
	out     string
}

func newImport() *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use:   "import FILE -o FILE.rir",
		Short: "Turn a task graph of another program into a graph to plan",
		Long: `Import reads a task graph and writes it as a graph of empty operations, each with its
cost: what opt can plan, and compare strategies by. What passes along an edge is left out.
A graph of the driver inside another comes out beside it.

Formats:
` + formatHelp(),
		Example: `  reprise import workflow.json -o workflow.rir && reprise opt workflow.rir --json
  reprise import graph.dot --cost 2us -o graph.rir`,
		Args: oneArg("file"),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	c.Flags().StringVarP(&f.out, "output", "o", "", "write the graph to `FILE` (- for standard output)")
	c.Flags().StringVar(&f.options.Format, "format", "", "of the file, instead of what its name tells")
	c.Flags().DurationVar(&f.options.Unit, "unit", time.Microsecond, "what a cost without a unit counts")
	c.Flags().DurationVar(&f.options.Cost, "cost", time.Microsecond, "of an operation that has none in the file")
	return c
}

func formatHelp() string {
	var b strings.Builder
	for _, f := range importer.Formats() {
		fmt.Fprintf(&b, "  %-10s %s\n", f.Name, f.Doc)
	}
	return strings.TrimRight(b.String(), "\n")
}

func (f *importFlags) run(c *cobra.Command, path string) error {
	if f.out == "" {
		return usagef("say with -o FILE where the graph goes (- for standard output)")
	}
	if f.options.Unit <= 0 || f.options.Cost < 0 {
		return usagef("--unit %v --cost %v: a unit is longer than nothing, and a cost is not negative", f.options.Unit, f.options.Cost)
	}
	src, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the task graph: %w", err)
	}
	g, err := importer.Read(path, string(src), f.options)
	switch {
	case errors.As(err, new(*ir.Error)):
		return err
	case err != nil: // only what was asked for is left to be wrong
		return usagef("--format: %w", err)
	}
	return writeGraph(c.OutOrStdout(), c.ErrOrStderr(), f.out, g)
}

// writeGraph writes a graph to a file, or for "-" to stdout, and says how large it is.
func writeGraph(stdout, stderr io.Writer, path string, g *ir.Graph) error {
	text := ir.Format(g, nil)
	if path == "-" {
		_, err := stdout.Write(text)
		return err
	}
	if err := writeFile(path, text); err != nil {
		return err
	}
	edges := 0
	for i := range g.Ops {
		edges += len(g.Ops[i].After)
	}
	_, err := fmt.Fprintf(stderr, "%s: %d operations, %d edges\n", path, g.Len(), edges)
	return err
}
