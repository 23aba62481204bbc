package main

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/bench/tenants"
	"github.com/reprise-gpu/reprise/internal/release"
	"github.com/reprise-gpu/reprise/internal/report"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// reportFlags are the flags of report as given. Command serve has some of them.
type reportFlags struct {
	device     string
	strategies []string
	backends   []string
	size       int
	data       dataFlags
	sample     int64
	out        string
	json       string
}

func newReport() *cobra.Command {
	var f reportFlags
	c := &cobra.Command{
		Use:   "report " + programArg + " -o FILE.html",
		Short: "Show a program and its plans in a page for the browser",
		Long: `Report plans a program with several strategies, replays each plan, and writes one page
that needs no network:

  plans     times with their uncertainty, speedups, bounds, waits and memory
  graph     operations by lane and dependencies by hazard, with the critical path; large
            programs are divided into groups that open and close
  timelines of all plans on one axis, with waits, occupancy and bandwidth
  memory    in use over time, and allocated with and without reuse
  why       of the selected operation or dependency: bytes, hazard, lines, waits, lane

On a GPU, times come from events around each operation, over streams.

` + programHelp(),
		Example: `  reprise report img -o img.html
  reprise report mine.rir --strategy all --backend graph,streams -o mine.html
  reprise report img:512 --device sim:v100 -o img.html`,
		Args:              oneArg(programArg),
		ValidArgsFunction: completePrograms,
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	f.add(c)
	c.Flags().IntVar(&f.size, "size", 0, "problem size of the workload (default its smallest)")
	f.data.add(c)
	c.Flags().StringVarP(&f.out, "output", "o", "", "write the page to `FILE.html` (- for standard output)")
	c.Flags().StringVar(&f.json, "json", "", "also write what the page shows to `FILE` as JSON (- for standard output)")
	return c
}

// reportStrategies are those of a report unless others are chosen.
var reportStrategies = []string{"serial", "roundrobin", "grcuda", "nimble", "mincover", "auto"}

// add adds the flags that select plans.
func (f *reportFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.device, "device", defaultDevice, "device to run on; see reprise devices")
	c.Flags().StringSliceVar(&f.strategies, "strategy", reportStrategies, strategyHelp)
	c.Flags().StringSliceVar(&f.backends, "backend", []string{"graph"}, "back ends, or all: graph, streams")
	c.Flags().Int64Var(&f.sample, "sample", 0, sampleHelp)
}

func (f *reportFlags) run(c *cobra.Command, name string) error {
	switch {
	case f.out == "" && f.json == "":
		return usagef("-o is missing: name the file for the page (- for standard output)")
	case f.out == "-" && f.json == "-":
		return usagef("-o - and --json - exclude each other: both write to standard output")
	}
	o, err := f.options()
	if err != nil {
		return err
	}
	p, err := programOf(c, name, f.size, &f.data, f.sample)
	if err != nil {
		return err
	}
	bar := newProgress(c.ErrOrStderr(), "plans")
	defer bar.finish()
	o.Progress = bar.update
	ctx, stop := interruptible(c.Context())
	defer stop()
	d, err := f.collect(ctx, p, o)
	if err != nil {
		return err
	}
	bar.finish()
	return f.write(c, d)
}

// options checks the flags that select plans.
func (f *reportFlags) options() (o report.Options, err error) {
	if err := checkDevice(f.device); err != nil {
		return o, err
	}
	if err := checkSample(f.sample, false); err != nil {
		return o, err
	}
	if o.Strategies, err = pickStrategies(f.strategies); err != nil {
		return o, err
	}
	o.Backends, err = pick("backend", f.backends, graphexec.Backends(), lookup("back end", graphexec.Backends()...))
	o.Tool = "reprise " + release.Version + ", commit " + bench.Commit()
	return o, err
}

// collect opens the device, and returns the content of the report.
func (f *reportFlags) collect(ctx context.Context, p tenants.Program, o report.Options) (d *report.Data, err error) {
	dev, err := openAny(f.device, sim.Options{Sample: f.sample})
	if err != nil {
		return nil, err
	}
	defer func() { err = device.Join(err, dev.Close()) }()
	if _, simulated := dev.(*sim.Device); !simulated {
		o.Backends = []graphexec.Backend{graphexec.Streams}
	}
	in, err := p.New(dev, f.data.seed, 1)
	if err != nil {
		return nil, err
	}
	defer func() { err = device.Join(err, in.Close()) }()
	return report.Collect(ctx, dev, recordable(in), o)
}

// write writes the page and the JSON, and one line about them to standard error.
func (f *reportFlags) write(c *cobra.Command, d *report.Data) error {
	if f.json != "" {
		if err := writeJSON(f.json, c.OutOrStdout(), d); err != nil {
			return err
		}
	}
	if f.out == "" {
		return nil
	}
	var page bytes.Buffer
	if err := d.WritePage(&page); err != nil {
		return err
	}
	if f.out == "-" {
		_, err := io.Copy(c.OutOrStdout(), &page)
		return err
	}
	if err := writeFile(f.out, page.Bytes()); err != nil {
		return err
	}
	_, err := fmt.Fprintf(c.ErrOrStderr(), "%s: %s, %s; open it in a browser\n", f.out, counted(len(d.Operation), "operation"), counted(len(d.Plans), "plan"))
	return err
}
