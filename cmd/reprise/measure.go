package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/bench/tenants"
	"github.com/reprise-gpu/reprise/internal/costmodel"
	"github.com/reprise-gpu/reprise/internal/devices"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/tenancy"
	"github.com/reprise-gpu/reprise/internal/timings"
)

// measureFlags are the flags of measure as given.
type measureFlags struct {
	device  string
	size    int
	data    dataFlags
	sample  int64
	replays int
	out     string
	json    string
}

func newMeasure() *cobra.Command {
	var f measureFlags
	c := &cobra.Command{
		Use:   "measure " + programArg,
		Short: "Measure the times of a program's operations, replays and gaps",
		Long: `Measure runs the operations of a program one by one on a device, with events around each,
and then replays of the whole program as a graph. It prints the times of each operation:

  operation  its label, or its kernel with a number, as in reprise why; none for whole replays
             and the time between them
  kernel     name of the kernel, or the kind of operation
  p10 p50    quantiles of the times, from the end of the operation before it in a
  p99        stream to its own end; a simulated device has virtual time
  blocks     of the grid
  resident   blocks that a multiprocessor holds at once
  bound      compute or memory if one of them takes most of the time, or unknown
  replay     from the submission of a replay to the end of the wait for it
  gap        from there to the next submission: the host writes the inputs
  arrival    from one submission to the next

With -o, it writes all times to a file. If the file exists, the new times are added; it
must be of the same device and driver. The results of the last replay are checked.

` + programHelp(),
		Example: `  reprise measure img -o img.json
  reprise measure mine.rir --device gpu0 --replays 100 -o mine.json`,
		Args:              oneArg(programArg),
		ValidArgsFunction: completePrograms,
		RunE:              func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	c.Flags().StringVar(&f.device, "device", defaultDevice, "device to run on; see reprise devices")
	c.Flags().IntVar(&f.size, "size", 0, "problem size of the workload (default its smallest)")
	f.data.add(c)
	c.Flags().Int64Var(&f.sample, "sample", 0, sampleHelp)
	c.Flags().IntVar(&f.replays, "replays", 20, "runs of the operations, and replays of the whole program")
	c.Flags().StringVarP(&f.out, "output", "o", "", "write the times to `FILE.json`, or add them to it")
	c.Flags().StringVar(&f.json, "json", "", "also write the rows to `FILE` as a JSON array (- for standard output)")
	return c
}

func (f *measureFlags) run(c *cobra.Command, name string) error {
	p, old, err := f.check(c, name)
	if err != nil {
		return err
	}
	dev, err := openAny(f.device, sim.Options{Sample: f.sample})
	if err != nil {
		return err
	}
	rows, err := f.measure(c, dev, p, old)
	if err = device.Join(err, dev.Close()); err != nil {
		return withProgress(err, "before the end: nothing was written")
	}
	return writeResults(c.OutOrStdout(), f.json, rows, func(w io.Writer) error { return timings.WriteTable(w, rows) })
}

// check checks the flags. It returns the program, and the timings in the file of -o, nil if there is no such file.
func (f *measureFlags) check(c *cobra.Command, name string) (p tenants.Program, old *timings.Timings, err error) {
	switch {
	case f.replays < 1:
		return p, nil, usagef("--replays %d: at least 1 is needed", f.replays)
	case f.out != "" && !strings.HasSuffix(f.out, ".json"):
		return p, nil, usagef("-o %s: the name of the file must end in .json", f.out)
	}
	if err := checkDevice(f.device); err != nil {
		return p, nil, err
	}
	if err := checkSample(f.sample, false); err != nil {
		return p, nil, err
	}
	if p, err = programOf(c, name, f.size, &f.data, f.sample); err != nil {
		return p, nil, err
	}
	if f.json != "" && f.json != "-" {
		if err := checkWritable(f.json); err != nil {
			return p, nil, err
		}
	}
	if f.out == "" {
		return p, nil, nil
	}
	old, err = timings.ReadFile(f.out)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil, checkWritable(f.out)
	}
	return p, old, err
}

// measure measures the program on dev, adds the times to those of old, writes them, and returns the rows.
func (f *measureFlags) measure(c *cobra.Command, dev device.Device, p tenants.Program, old *timings.Timings) (rows []timings.Row, err error) {
	fresh := timings.New(measuredOn(dev), time.Now())
	all := old
	if all == nil {
		all = timings.New(fresh.Device, fresh.Date)
	}
	if err := all.Merge(fresh); err != nil { // before anything runs
		return nil, fmt.Errorf("%s: %w", f.out, err)
	}
	in, err := p.New(dev, f.data.seed, 1)
	if err != nil {
		return nil, err
	}
	defer func() { err = device.Join(err, in.Close()) }()
	if err := f.replay(c, dev, in, fresh); err != nil {
		return nil, err
	}
	if err := all.Merge(fresh); err != nil {
		return nil, err
	}
	if f.out != "" {
		text, err := all.Text()
		if err != nil {
			return nil, err
		}
		if err := writeFile(f.out, text); err != nil {
			return nil, err
		}
	}
	return fresh.Rows(in.Graph), nil
}

// replay measures an instance and checks its results.
func (f *measureFlags) replay(c *cobra.Command, dev device.Device, in *tenants.Instance, to *timings.Timings) (err error) {
	exec, err := tenancy.Instantiate(dev, in.Graph, in.Bound)
	if err != nil {
		return err
	}
	defer func() { err = device.Join(err, exec.Close()) }()
	ctx, stop := interruptible(c.Context())
	defer stop()
	progress := newProgress(c.ErrOrStderr(), "runs")
	defer progress.finish()
	src := &timings.Source{Name: in.Graph.Name, Graph: in.Graph, Bound: in.Bound, Reset: in.Reset, Replay: func(ctx context.Context) error { return replayAndWait(ctx, exec) }}
	if err := to.Measure(ctx, dev, src, timings.Options{Replays: f.replays, Model: modelFor(dev), Progress: progress.update}); err != nil {
		return err
	}
	if f.sample > 0 {
		return nil
	}
	if err := in.Check(); err != nil {
		return fmt.Errorf("the results of %s are wrong: %w", in.Graph.Name, err)
	}
	return nil
}

func replayAndWait(ctx context.Context, exec *graphexec.Exec) error {
	if err := exec.Replay(ctx); err != nil {
		return err
	}
	return exec.Wait(ctx)
}

// modelFor returns the cost model for a device: that of its own profile, or else of the default one.
func modelFor(dev device.Device) *timings.Model {
	p := model.Of(dev)
	if p == nil {
		p, _ = devices.Profile(defaultDevice) // which exists
	}
	return &timings.Model{Profile: p, Costs: costmodel.Measured(p, nil)}
}

// measuredOn describes a device in a file of timings.
func measuredOn(dev device.Device) timings.Device {
	i := dev.Info()
	d := timings.Device{ID: i.ID, Name: i.Name, Simulated: i.Simulated, Driver: "simulated"}
	if v := driver().Driver; model.Of(dev) == nil {
		d.Driver = fmt.Sprintf("CUDA %d.%d", v.Version/1000, v.Version%1000/10)
		if v.Simulated {
			d.Driver += ", simulated"
			d.Simulated = true
		}
	}
	return d
}
