package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/cluster"
	"github.com/reprise-gpu/reprise/internal/bench/scale/programs"
	"github.com/reprise-gpu/reprise/tracer"
)

// clusterFlags are the flags of run as given.
type clusterFlags struct {
	machine     string
	gpus        bool
	replays     int
	why, plan   bool
	tiles       bool
	checkpoints string
	every       int
	json        string
}

// clusterRecord is what run reports.
type clusterRecord struct {
	Program  string  `json:"program"`
	Machine  string  `json:"machine"`
	Ranks    int     `json:"ranks"`
	Devices  int     `json:"devices"`
	Replays  int     `json:"replays"`
	Resumed  int     `json:"resumed"` // replays that a checkpoint stood for
	Us       float64 `json:"us_per_replay"`
	MaxError float64 `json:"max_error"`
	OK       bool    `json:"ok"`
}

func newRun() *cobra.Command {
	var f clusterFlags
	c := &cobra.Command{
		Use:   "run PROGRAM",
		Short: "Run a program on several devices and processes",
		Long: `Run distributes a program to the devices of a machine, runs it, and checks its results on
the CPU. Under mpirun, each process is one rank of the machine:

  mpirun -np 4 reprise run wave:512 --machine 4x1

Without mpirun, all ranks of a simulated machine are in this process. The machine is the
name of a built-in one, RANKSxDEVICES:PROFILE, or a file (docs/MACHINE.md). Its devices,
links and network are simulated unless --gpus is given. Rank 0 prints

  us/replay  time from the first replay to the end of the last, over their number, without
             the first one, which distributes the contents; virtual on simulated devices
  max error  greatest difference from the result of the CPU, relative to its magnitude

Programs:
` + programsHelp(),
		Example: `  reprise run wave:1024 --machine h200-4
  reprise run nbody:4096 --machine 2x2:a100 --why`,
		Args: oneArg("PROGRAM"),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	c.Flags().StringVar(&f.machine, "machine", "1x1", "name or file of the machine")
	c.Flags().BoolVar(&f.gpus, "gpus", false, "use the GPUs of each computer instead of simulated ones")
	c.Flags().IntVar(&f.replays, "replays", 10, "number of replays")
	c.Flags().BoolVar(&f.tiles, "tiles", false, "cut launches along two axes, so that a device has a tile of a matrix instead of rows")
	c.Flags().BoolVar(&f.why, "why", false, "also print how each operation is distributed")
	c.Flags().BoolVar(&f.plan, "plan", false, "also print the whole plan")
	c.Flags().StringVar(&f.checkpoints, "checkpoints", "", "continue from the last checkpoint in `DIR`, and write new ones")
	c.Flags().IntVar(&f.every, "every", 100, "replays from one checkpoint to the next")
	c.Flags().StringVar(&f.json, "json", "", "also write the record to `FILE` as a JSON array (- for standard output)")
	return c
}

// programsHelp lists the programs.
func programsHelp() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, k := range programs.Kinds() {
		fmt.Fprintf(w, "  %s\t%s; %s\n", k.Name, k.Doc, k.Size())
	}
	w.Flush()
	return b.String()
}

func (f *clusterFlags) run(c *cobra.Command, name string) error {
	p, err := programs.Parse(name)
	if err != nil {
		return usagef("%w", err)
	}
	switch {
	case f.replays < 1:
		return usagef("--replays %d: at least 1 is needed", f.replays)
	case f.every < 1:
		return usagef("--every %d: at least 1 is needed", f.every)
	}
	on := cluster.Simulated
	if f.gpus {
		on = cluster.GPUs
	}
	ctx, stop := interruptible(c.Context())
	defer stop()
	var text string
	var records []clusterRecord
	err = cluster.Run(ctx, f.machine, on, func(r *cluster.Rank) error {
		shown, record, err := f.rank(ctx, r, p)
		if r.Number() == 0 {
			text, records = shown, []clusterRecord{record}
		}
		return err
	})
	if errors.Is(err, context.Canceled) {
		return interrupted("before the last replay: nothing was written")
	}
	if err != nil || records == nil { // another rank prints
		return err
	}
	return writeResults(c.OutOrStdout(), f.json, records, func(w io.Writer) error {
		_, err := io.WriteString(w, text+clusterTable(records))
		return err
	})
}

// clusterTable returns the records as a table.
func clusterTable(records []clusterRecord) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "program\tmachine\tranks\tdevices\treplays\tus/replay\tmax error\tok\t")
	for _, r := range records {
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%.2f\t%.1e\t%t\t\n", r.Program, r.Machine, r.Ranks, r.Devices, r.Replays, r.Us, r.MaxError, r.OK)
	}
	w.Flush()
	return b.String()
}

// rank runs the program on one rank. It returns what rank 0 prints about the plan.
func (f *clusterFlags) rank(ctx context.Context, r *cluster.Rank, p *programs.Program) (text string, record clusterRecord, err error) {
	tr := r.Record(p.Kind.Name)
	in := p.Record(tr)
	trace, err := tr.Finish()
	if err != nil {
		return "", record, err
	}
	plan, err := r.Compile(ctx, trace, cluster.Options{Tiles: f.tiles})
	if err != nil {
		return "", record, err
	}
	defer func() { err = errors.Join(err, plan.Close()) }()
	if f.why {
		text += plan.Why()
	}
	if f.plan {
		text += plan.String()
	}
	if err := in.Start(func(b tracer.Buffer, data []byte) error { return plan.Write(b.Range(), data) }); err != nil {
		return text, record, err
	}
	record = clusterRecord{Program: p.String(), Machine: r.Machine().ID, Ranks: r.Size(), Devices: r.Machine().Devices(), Replays: f.replays}
	if record.Resumed, err = f.resume(ctx, plan); err != nil {
		return text, record, err
	}
	if record.Us, err = timed(ctx, r, plan, f.replays-record.Resumed); err != nil {
		return text, record, err
	}
	record.MaxError, err = in.Check(f.replays, func(data []byte, b tracer.Buffer) error { return plan.Read(ctx, data, b.Range()) })
	record.OK = err == nil
	return text, record, err
}

// resume continues from a checkpoint, if there is one, and returns the number of replays that it stands for.
func (f *clusterFlags) resume(ctx context.Context, plan *cluster.Plan) (int, error) {
	if f.checkpoints == "" {
		return 0, nil
	}
	if err := plan.Checkpoint(f.checkpoints, f.every); err != nil {
		return 0, err
	}
	done, err := plan.Resume(ctx, f.checkpoints)
	if err == nil && done > f.replays {
		return 0, fmt.Errorf("the checkpoint in %s is after %d replays, and --replays is %d: pass at least that many, or another folder", f.checkpoints, done, f.replays)
	}
	return done, err
}

// timed runs replays and returns the time of one in microseconds, without the first.
func timed(ctx context.Context, r *cluster.Rank, plan *cluster.Plan, replays int) (float64, error) {
	if replays == 0 {
		return 0, nil
	}
	begin := r.Now()
	if err := plan.Run(ctx, 1); err != nil {
		return 0, err
	}
	if replays > 1 {
		begin = r.Now()
		if err := plan.Run(ctx, replays-1); err != nil {
			return 0, err
		}
	}
	return float64((r.Now() - begin).Nanoseconds()) / 1000 / float64(max(1, replays-1)), nil
}
