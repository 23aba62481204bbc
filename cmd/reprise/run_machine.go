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

// clusterFlags are the flags of run for several devices.
type clusterFlags struct {
	machine     string
	gpus        bool
	tiles       bool
	replays     int
	why, plan   bool
	checkpoints string
	every       int
	json        string
}

// clusterRecord is what run reports of several devices.
type clusterRecord struct {
	Program  string  `json:"program"`
	Machine  string  `json:"machine"`
	Ranks    int     `json:"ranks"`
	Devices  int     `json:"devices"`
	Replays  int     `json:"replays"`
	Resumed  int     `json:"resumed"` // replays that a checkpoint stood for
	Us       float64 `json:"us_per_replay"`
	Checked  bool    `json:"checked"` // the results were compared with the CPU
	MaxError float64 `json:"max_error"`
	OK       *bool   `json:"ok"` // null if they were not compared
}

// distributable is a program that the ranks of a machine can run.
type distributable interface {
	String() string
	checked() bool // it has results of the CPU to compare with
	// record returns the trace of the program for a rank.
	record(r *cluster.Rank) (*tracer.Trace, error)
	// start writes the contents before the first replay.
	start(write func(b tracer.Buffer, data []byte) error) error
	// finish reads the results after a number of replays. Every rank calls it. It returns the greatest relative error, and an
	// error if the results are wrong.
	finish(rank int, replays int, read func(data []byte, b tracer.Buffer) error) (maxError float64, err error)
}

// kind is a program that is recorded for several devices, with a reference on the CPU. Each rank has one.
type kind struct {
	*programs.Program
	in *programs.Instance
}

func (k *kind) checked() bool { return true }

func (k *kind) record(r *cluster.Rank) (*tracer.Trace, error) {
	t := r.Record(k.Kind.Name)
	k.in = k.Program.Record(t)
	return t.Finish()
}

func (k *kind) start(write func(b tracer.Buffer, data []byte) error) error { return k.in.Start(write) }

func (k *kind) finish(_, replays int, read func(data []byte, b tracer.Buffer) error) (float64, error) {
	return k.in.Check(replays, read)
}

// runKind runs a program of several devices.
func (f *clusterFlags) runKind(c *cobra.Command, name string) error {
	p, err := programs.Parse(name)
	if err != nil {
		return usagef("%w", err)
	}
	return f.run(c, func() distributable { return &kind{Program: p} })
}

// run runs a program on all ranks. make returns the program of a rank.
func (f *clusterFlags) run(c *cobra.Command, make func() distributable) error {
	if f.every < 1 {
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
	err := cluster.Run(ctx, f.machine, on, func(r *cluster.Rank) error {
		shown, record, err := f.rank(ctx, r, make())
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
		checked := "-\tunchecked"
		if r.Checked {
			checked = fmt.Sprintf("%.1e\t%t", r.MaxError, *r.OK)
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%.2f\t%s\t\n", r.Program, r.Machine, r.Ranks, r.Devices, r.Replays, r.Us, checked)
	}
	w.Flush()
	return b.String()
}

// rank runs the program on one rank. It returns what rank 0 prints about the plan.
func (f *clusterFlags) rank(ctx context.Context, r *cluster.Rank, p distributable) (text string, record clusterRecord, err error) {
	trace, err := p.record(r)
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
	if err := p.start(func(b tracer.Buffer, data []byte) error { return plan.Write(b.Range(), data) }); err != nil {
		return text, record, err
	}
	record = clusterRecord{Program: p.String(), Machine: r.Machine().ID, Ranks: r.Size(), Devices: r.Machine().Devices(), Replays: f.replays, Checked: p.checked()}
	if record.Resumed, err = f.resume(ctx, plan); err != nil {
		return text, record, err
	}
	if record.Us, err = timed(ctx, r, plan, f.replays-record.Resumed); err != nil {
		return text, record, err
	}
	record.MaxError, err = p.finish(r.Number(), f.replays, func(data []byte, b tracer.Buffer) error { return plan.Read(ctx, data, b.Range()) })
	if ok := err == nil; record.Checked {
		record.OK = &ok
	}
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
