package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/importer"
	"github.com/reprise-gpu/reprise/internal/bench/network"
	"github.com/reprise-gpu/reprise/internal/release"
	"github.com/reprise-gpu/reprise/ir"
)

// importFlags are the flags of import as given.
type importFlags struct {
	options importer.Options
	network string
	device  string
	saved   savedFlags
}

func newImport() *cobra.Command {
	var f importFlags
	c := &cobra.Command{
		Use:   "import {FILE | - | --network NAME} -o FILE.rir",
		Short: "Read a task graph of another program, or build a neural network",
		Long: `Import reads a task graph and writes a graph of empty operations with costs, for reprise
opt and reprise strategies. Data that passes along an edge is ignored. A graph inside
another, as the driver prints it, runs in the place of its node.

With --network, it writes the forward pass of a published neural network for one image.
The cost of an operation is the time of its arithmetic or of its bytes at the peak rate
of the device.

Formats:
` + formatHelp() + `

Networks:
` + networkHelp(),
		Example: `  reprise import workflow.json -o workflow.rir && reprise opt workflow.rir --json
  reprise import graph.dot --cost 2us -o graph.rir
  reprise import --network nasnet-a-mobile --device sim:v100 -o nasnet.rir`,
		RunE: func(c *cobra.Command, args []string) error {
			if f.network != "" {
				return f.build(c, args)
			}
			if err := oneArg("file")(c, args); err != nil {
				return err
			}
			return f.read(c, args[0])
		},
	}
	f.saved.add(c, "graph")
	c.Flags().StringVar(&f.options.Format, "format", "", "format of the file (default: by its name)")
	c.Flags().DurationVar(&f.options.Unit, "unit", time.Microsecond, "unit of costs that have none")
	c.Flags().DurationVar(&f.options.Cost, "cost", time.Microsecond, "cost of an operation that has none in the file")
	c.Flags().StringVar(&f.network, "network", "", "write this network instead of reading a file")
	c.Flags().StringVar(&f.device, "device", defaultDevice, "device whose peak rates give the costs of a network; see reprise devices")
	return c
}

func formatHelp() string {
	var b strings.Builder
	for _, f := range importer.Formats() {
		fmt.Fprintf(&b, "  %-10s %s\n", f.Name, f.Doc)
	}
	return strings.TrimRight(b.String(), "\n")
}

func networkHelp() string {
	var b strings.Builder
	for _, n := range network.Networks() {
		fmt.Fprintf(&b, "  %-16s %s\n", n.Name, n.Doc)
	}
	return strings.TrimRight(b.String(), "\n")
}

// build writes the graph of a network.
func (f *importFlags) build(c *cobra.Command, args []string) error {
	for _, other := range []string{"format", "unit", "cost"} {
		if c.Flags().Changed(other) {
			return usagef("--%s applies to a file, and --network reads none: leave one of them out", other)
		}
	}
	if len(args) > 0 {
		return usagef("--network reads no file, and %s is given: leave one of them out", args[0])
	}
	profile, err := lookupProfile(f.device)
	if err != nil {
		return err
	}
	g, err := network.Build(f.network, profile)
	if err != nil {
		return usageError{err}
	}
	return f.write(c, g)
}

// read writes the graph of a file.
func (f *importFlags) read(c *cobra.Command, path string) error {
	if c.Flags().Changed("device") {
		return usagef("--device determines the costs of --network, and a file contains its own: leave it out")
	}
	if f.options.Unit <= 0 || f.options.Cost < 0 {
		return usagef("--unit %v --cost %v: the unit must be above 0, and the cost 0 or more", f.options.Unit, f.options.Cost)
	}
	if strings.HasSuffix(path, ".rir") && f.options.Format == "" {
		return usagef("%s is a saved program already: pass it to the other commands as it is", path)
	}
	name, src, err := readInput(c, path)
	if err != nil {
		return fmt.Errorf("read the task graph: %w", err)
	}
	g, err := importer.Read(name, src, f.options)
	switch {
	case errors.As(err, new(*ir.Error)):
		return err
	case err != nil: // the file is valid; the remaining errors are about --format
		return usagef("--format: %w", err)
	}
	return f.write(c, g)
}

// write writes the graph to -o.
func (f *importFlags) write(c *cobra.Command, g *ir.Graph) error {
	if err := f.saved.check("graph"); err != nil {
		return err
	}
	return f.saved.write(c, &ir.File{Tool: release.Tool, Graph: g}, func(r *savedRecord) string {
		return fmt.Sprintf("%d operations, %d edges", r.Operations, r.Edges)
	})
}
