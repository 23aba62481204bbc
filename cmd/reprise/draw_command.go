package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/internal/report"
	"github.com/reprise-gpu/reprise/optimizer"
)

// drawFlags are the flags of draw as given.
type drawFlags struct {
	strategy string
	device   string
	format   string
	out      string
	json     string
}

func newDraw() *cobra.Command {
	var f drawFlags
	c := &cobra.Command{
		Use:   "draw " + programArg + " -o FILE.svg",
		Short: "Draw the graph of a program as SVG or for Graphviz",
		Long: `Draw plans a program and draws its operations and the dependencies that no others imply, with
their labels and hazards. It runs nothing on a device.

  svg  operations in layers, in the colour of their lane; dependencies by hazard, thick
       between lanes; details when the pointer is on them
  dot  for Graphviz, with the bodies of loops and branches as boxes

` + programHelp(),
		Example: `  reprise draw img -o img.svg
  reprise draw mine.rir -o mine.dot
  reprise draw mine.rir --format dot -o - | dot -Tpdf -o mine.pdf`,
		Args:              oneArg(programArg),
		ValidArgsFunction: completePrograms,
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	c.Flags().StringVar(&f.strategy, "strategy", optimizer.DefaultStrategy, "strategy that assigns operations to lanes")
	c.Flags().StringVar(&f.device, "device", defaultDevice, "device to plan for; see reprise devices")
	c.Flags().StringVar(&f.format, "format", "", "svg or dot (default: by the name of the file)")
	c.Flags().StringVarP(&f.out, "output", "o", "", "write the drawing to `FILE` (- for standard output)")
	c.Flags().StringVar(&f.json, "json", "", "also write the operations, their places and the dependencies to `FILE` as JSON (- for standard output)")
	return c
}

func (f *drawFlags) run(c *cobra.Command, arg string) error {
	write, err := f.writer()
	if err != nil {
		return err
	}
	profile, err := lookupProfile(f.device)
	if err != nil {
		return err
	}
	opts := optimizer.Options{Strategy: f.strategy, Custom: profile}
	if err := opts.Check(); err != nil {
		return usageError{err}
	}
	name, file, err := fileOf(c, arg, f.device)
	if err != nil {
		return err
	}
	r, err := optimizer.Plan(file.Graph, opts)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if f.json != "" {
		if err := writeJSON(f.json, c.OutOrStdout(), report.Draw(r)); err != nil {
			return err
		}
	}
	var text bytes.Buffer
	if err := write(&text, r); err != nil {
		return err
	}
	switch f.out {
	case "":
		return nil
	case "-":
		_, err = c.OutOrStdout().Write(text.Bytes())
		return err
	}
	return writeFile(f.out, text.Bytes())
}

// writer returns the function for the format.
func (f *drawFlags) writer() (func(io.Writer, *optimizer.Result) error, error) {
	format := f.format
	if format == "" {
		_, format, _ = strings.Cut(f.out[strings.LastIndexByte(f.out, '/')+1:], ".")
		format = format[strings.LastIndexByte(format, '.')+1:]
	}
	switch {
	case f.out == "-" && f.json == "-":
		return nil, usagef("-o - and --json - exclude each other: both write to standard output")
	case f.out == "" && f.json != "" && f.format == "":
		return func(io.Writer, *optimizer.Result) error { return nil }, nil
	case f.out == "":
		return nil, usagef("-o is missing: name the file for the drawing (- for standard output)")
	case format == "svg":
		return func(w io.Writer, r *optimizer.Result) error { return report.Draw(r).WriteSVG(w) }, nil
	case format == "dot":
		return writeDOT, nil
	case f.format == "":
		return nil, usagef("-o %s: the name must end in .svg or .dot, or --format states the format", f.out)
	}
	return nil, usagef("--format %s: use svg or dot", f.format)
}

// writeDOT writes the reduced graph of a plan for Graphviz.
func writeDOT(w io.Writer, r *optimizer.Result) error {
	text, err := draw(r.Graph)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}
