package main

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/bench/tenants"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/timeline"
	"github.com/reprise-gpu/reprise/internal/uncertainty"
	"github.com/reprise-gpu/reprise/optimizer"
)

// timelineFlags are the flags of timeline as given.
type timelineFlags struct {
	device   string
	strategy string
	backend  string
	size     int
	data     dataFlags
	sample   int64
	out      string
}

func newTimeline() *cobra.Command {
	var f timelineFlags
	c := &cobra.Command{
		Use:   "timeline " + programArg + " -o FILE.json",
		Short: "Record when each operation of a replay ran, for Perfetto",
		Long: `Timeline plans a program, replays it three times, and writes when each operation of the
third replay ran, in the Chrome trace-event format. Open the file in ui.perfetto.dev or
chrome://tracing.

  lanes          a row for each lane, with a slice for each operation and an arrow for each
                 wait; a selected slice shows the operation's line, buffers and bound
  critical path  what the replay waited for, one cause after another
  copy engines   copies over the host link
  device         resident warps, multiprocessors in use, and bandwidth

On a simulated device all times are virtual. On a GPU, events are recorded before and
after each operation over streams, whatever the back end, and there are lanes only. These
times include the gaps of the stream around an operation, a few us. A program with loops
or branches needs a simulated device.

` + programHelp(),
		Example: `  reprise timeline img -o img.json
  reprise timeline mine.rir --strategy auto --backend streams -o mine.json
  reprise timeline img --device gpu0 -o img.json`,
		Args:              oneArg(programArg),
		ValidArgsFunction: completePrograms,
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	c.Flags().StringVar(&f.device, "device", defaultDevice, "device to run on; see reprise devices")
	c.Flags().StringVar(&f.strategy, "strategy", optimizer.DefaultStrategy, "strategy that assigns operations to lanes")
	c.Flags().StringVar(&f.backend, "backend", graphexec.Graph.String(), "back end: graph or streams")
	c.Flags().IntVar(&f.size, "size", 0, "problem size of the workload (default its smallest)")
	f.data.add(c)
	c.Flags().Int64Var(&f.sample, "sample", 0, sampleHelp)
	c.Flags().StringVarP(&f.out, "output", "o", "", "write the timeline to `FILE.json` (- for standard output)")
	return c
}

func (f *timelineFlags) run(c *cobra.Command, name string) error {
	form, err := f.check()
	if err != nil {
		return err
	}
	p, err := programOf(c, name, f.size, &f.data, f.sample)
	if err != nil {
		return err
	}
	dev, err := openAny(f.device, sim.Options{Sample: f.sample})
	if err != nil {
		return err
	}
	t, err := f.record(c, dev, p, form)
	if err = device.Join(err, dev.Close()); err != nil {
		return err
	}
	return f.write(c, t)
}

// check checks the flags and returns the back end.
func (f *timelineFlags) check() (graphexec.Backend, error) {
	if f.out == "" {
		return 0, usagef("-o is missing: name the file for the timeline (- for standard output)")
	}
	form, err := lookup("back end", graphexec.Backends()...)(f.backend)
	if err != nil {
		return 0, usageError{err}
	}
	if err := (&optimizer.Options{Strategy: f.strategy}).Check(); err != nil {
		return 0, usageError{err}
	}
	if err := checkDevice(f.device); err != nil {
		return 0, err
	}
	return form, checkSample(f.sample, false)
}

// record plans the program and records a replay.
func (f *timelineFlags) record(c *cobra.Command, dev device.Device, p tenants.Program, form graphexec.Backend) (t *timeline.Timeline, err error) {
	in, err := p.New(dev, f.data.seed, 1)
	if err != nil {
		return nil, err
	}
	defer func() { err = device.Join(err, in.Close()) }()
	ctx, stop := interruptible(c.Context())
	defer stop()
	program := recordable(in)
	planner, err := timeline.NewPlanner(ctx, dev, program)
	if err != nil {
		return nil, err
	}
	if _, simulated := dev.(*sim.Device); !simulated {
		form = graphexec.Streams
	}
	plan, err := planner.Plan(f.strategy, form)
	if err != nil {
		return nil, err
	}
	return timeline.Record(ctx, dev, program, plan.Schedule, form)
}

// recordable returns the view of an instance that package timeline records.
func recordable(in *tenants.Instance) *timeline.Program {
	return &timeline.Program{Name: in.Graph.Name, Graph: in.Graph, Bound: in.Bound, Reset: in.Reset}
}

// write writes the timeline, and one line about it to standard error.
func (f *timelineFlags) write(c *cobra.Command, t *timeline.Timeline) error {
	var text bytes.Buffer
	if err := t.WriteChrome(&text); err != nil {
		return err
	}
	if f.out == "-" {
		_, err := c.OutOrStdout().Write(text.Bytes())
		return err
	}
	if err := writeFile(f.out, text.Bytes()); err != nil {
		return err
	}
	how := "events on the device, " + t.Backend
	if t.Source == timeline.Simulated {
		how = "virtual time " + uncertainty.Format(t.Uncertainty) + ", " + t.Backend
	}
	fmt.Fprintf(c.ErrOrStderr(), "%s: %s on %s, %.3f us (%s); open it in ui.perfetto.dev\n",
		f.out, counted(len(t.Spans), "operation"), counted(t.Schedule.Lanes, "lane"), float64(t.Total)/1e6, how)
	return nil
}

// counted returns a number with its noun: "1 lane", "2 lanes".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
