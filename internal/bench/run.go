package bench

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/plansize"
)

// serial is the strategy that all others are compared with.
const serial = "serial"

// warmup is the number of iterations before the measured ones.
const warmup = 3

// Config selects what a run measures.
type Config struct {
	Open       func() (device.Device, error)
	Workloads  []*Workload
	Sizes      []int // as for Workload.SizesOf
	Memory     Memory
	Threads    int // 0 means each workload's default
	Shape      Shape
	Batch      int
	Seed       uint64
	Strategies []string
	Also       []string // optional passes of the optimizer
	// Options holds lists of optional passes. Each gives a record for each strategy but serial, with the first back
	// end. Unlike Also, a list may unroll: its copies must divide Burst.
	Options    [][]string
	Burst      int  // replays to submit back to back, for their throughput; 0 for none
	Estimate   bool // plan with estimates even if demands could be measured
	Backends   []graphexec.Backend
	Iterations int
	// Sample is the number of blocks of each launch that Open's device runs, 0 for all. If not 0, there are no
	// results to check.
	Sample int64

	// AsSuite restores what the GrCUDA suite does differently, see Params.
	AsSuite bool

	// Inspect is called with each traced workload after its measurement. The device is in the state after the
	// replays.
	Inspect func(context.Context, device.Device, *Instance) error
	// Progress is called after every replay with the numbers of finished and of all replays.
	Progress func(what string, done, total int)
}

// Params returns the parameters of the workloads at one size.
func (c *Config) Params(size int) Params {
	return Params{
		Size: size, Threads: c.Threads, Memory: c.Memory, Shape: c.Shape, Batch: c.Batch,
		Sampled: c.Sample > 0, AsSuite: c.AsSuite, Seed: c.Seed,
	}
}

// Rows returns the number of records of a complete run.
func (c *Config) Rows() int {
	r := runner{Config: *c}
	return len(r.cases()) * (len(c.Strategies)*len(c.Backends) + len(r.options()))
}

// Run measures every combination and returns a record for each, in the order of the configuration. A failed check
// gives a record that is not OK. An error means that the run could not continue; the records so far are returned with
// it.
func Run(ctx context.Context, c Config) ([]Record, error) {
	r := &runner{Config: c}
	measured := 1 + len(c.Strategies)
	if slices.Contains(c.Strategies, serial) {
		measured--
	}
	r.total = len(r.cases()) * (measured*len(c.Backends) + len(r.options())) * c.Iterations
	for _, k := range r.cases() {
		if err := k.workload.Fits(k.size); err != nil {
			return nil, err
		}
	}
	for _, k := range r.cases() {
		if err := r.runCase(ctx, k); err != nil {
			return r.records, err
		}
	}
	return r.records, nil
}

type runner struct {
	Config
	records     []Record
	done, total int
	serial      *serialReplays // of the present case
}

// option is a plan with optional passes.
type option struct {
	strategy string
	also     []string
}

// options returns the plans of Config.Options.
func (r *runner) options() (all []option) {
	for _, also := range r.Options {
		for _, strategy := range r.Strategies {
			if strategy != serial {
				all = append(all, option{strategy, also})
			}
		}
	}
	return all
}

// sized is a workload at one size.
type sized struct {
	workload *Workload
	size     int
}

func (r *runner) cases() []sized {
	var all []sized
	for _, w := range r.Workloads {
		for _, n := range w.SizesOf(r.Sizes) {
			all = append(all, sized{w, n})
		}
	}
	return all
}

func (r *runner) runCase(ctx context.Context, k sized) (err error) {
	dev, err := r.Open()
	if err != nil {
		return err
	}
	defer func() { err = device.Join(err, dev.Close()) }()
	in, err := k.workload.New(dev, r.Params(k.size))
	if err != nil {
		return fmt.Errorf("%s: %w", At(k.workload.Name, k.size), err)
	}
	defer func() { err = device.Join(err, in.Close()) }()
	in.Also = r.Also
	if !r.Estimate {
		if err := in.Measure(ctx, dev); err != nil {
			return fmt.Errorf("%s: %w", At(k.workload.Name, k.size), err)
		}
	}
	r.serial = &serialReplays{dev: dev, in: in, backend: r.Backends[0]}
	for _, backend := range r.Backends {
		base, err := r.measure(ctx, dev, in, k, serial, backend)
		if err != nil {
			return err
		}
		for _, strategy := range r.Strategies {
			rec := base
			if strategy != serial {
				if rec, err = r.measure(ctx, dev, in, k, strategy, backend); err != nil {
					return err
				}
			}
			rec.SpeedupOverSerial = base.ReplayUS / rec.ReplayUS
			r.records = append(r.records, rec)
		}
	}
	if err := r.measureOptions(ctx, dev, in, k); err != nil {
		return err
	}
	if r.Inspect == nil {
		return nil
	}
	return r.Inspect(ctx, dev, in)
}

// measureOptions measures the plans with optional passes.
func (r *runner) measureOptions(ctx context.Context, dev device.Device, in *Instance, k sized) error {
	defer func() { in.Also = r.Also }()
	for _, o := range r.options() {
		in.Also = o.also
		rec, err := r.measure(ctx, dev, in, k, o.strategy, r.Backends[0])
		if err != nil {
			return fmt.Errorf("%s with %s: %w", o.strategy, strings.Join(o.also, ","), err)
		}
		r.records = append(r.records, rec)
	}
	return nil
}

// measure plans, instantiates and replays one combination.
func (r *runner) measure(ctx context.Context, dev device.Device, in *Instance, k sized, strategy string, backend graphexec.Backend) (rec Record, err error) {
	plan, err := in.Plan(dev, strategy, backend)
	if err != nil {
		return rec, err
	}
	exec, err := graphexec.Instantiate(dev, plan.Schedule, in.Trace, backend)
	if err != nil {
		return rec, err
	}
	defer func() { err = device.Join(err, exec.Close()) }()

	copies := max(1, plan.Schedule.Graph.Copies)
	rec = Record{
		Workload: k.workload.Name, Size: k.size, Shape: in.Params.Shape.String(), Batch: in.Params.Batch, Memory: in.Params.Memory.String(), Threads: in.Params.Threads, Blocks: in.Params.Blocks,
		Device: dev.Info().ID, DeviceName: dev.Info().Name, Simulated: dev.Info().Simulated,
		Language: "go", Strategy: strategy, Also: strings.Join(in.Also, ","), Backend: backend.String(),
		Ops: plan.Analyzed.Len(), Edges: len(plan.Analyzed.Deps()), ReducedEdges: len(plan.Reduced.Deps()),
		Lanes: plan.Schedule.Lanes, Syncs: plan.Schedule.Syncs(),
		Iterations: r.Iterations, Sample: r.Sample, Checked: r.Sample == 0, OK: true,
		Uncertainty: in.Uncertainty,
		PTXHash:     fmt.Sprintf("%016x", in.PTXHash()), Compiler: runtime.Version(), Commit: Commit(),
	}
	if rec.Checked {
		rec.InputHash = fmt.Sprintf("%016x", in.InputHash())
	}
	if copies > 1 {
		rec.Iterations = (r.Iterations + copies - 1) / copies // about as many replays
		rec.Copies, rec.AddedBytes = copies, plansize.UnrolledOf(plan.Schedule, model.Of(dev)).Bytes
	}
	what := rec.String()
	times := make([]time.Duration, rec.Iterations)
	for i := range times {
		if times[i], err = replayOnce(ctx, dev, in, exec); err != nil {
			return rec, fmt.Errorf("%s: %w", what, err)
		}
		if rec.Checked {
			if err := r.check(ctx, in, &rec, i); err != nil {
				return rec, fmt.Errorf("%s: %w", what, err)
			}
		}
		r.progress(what, min(copies, r.Iterations-i*copies))
	}
	kept := times[min(warmup, len(times)-1):]
	rec.ReplayUS, rec.MinUS, rec.MaxUS = micros(median(kept)), micros(slices.Min(kept)), micros(slices.Max(kept))
	if rec.EventUS, err = eventMicros(ctx, dev, in, exec, rec.Iterations); err != nil {
		return rec, fmt.Errorf("%s: events of %s: %w", what, rec.Workload, err)
	}
	if copies == 1 { // more copies would need their memory a second time
		if rec.DriverCalls, err = driverCalls(ctx, dev, in, plan.Schedule, backend); err != nil {
			return rec, fmt.Errorf("%s: %w", what, err)
		}
	}
	if r.Burst > 0 {
		if err := r.burst(ctx, dev, in, exec, &rec); err != nil {
			return rec, fmt.Errorf("%s: %w", what, err)
		}
	}
	return rec, nil
}

// progress reports n more replays.
func (r *runner) progress(what string, n int) {
	r.done += n
	if r.Progress != nil {
		r.Progress(what, r.done, r.total)
	}
}

// check compares the result of an iteration with the CPU reference, or that of several replays with the result of as
// many serial ones: a program may continue from the result of the replay before, and the reference is of one replay.
func (r *runner) check(ctx context.Context, in *Instance, rec *Record, iteration int) error {
	if rec.Copies > 1 {
		_, err := r.serial.compare(ctx, rec, rec.Copies)
		return err
	}
	return rec.check(in, iteration)
}

// check compares the result of a replay with the reference. The record keeps the greatest error and the first message
// of all replays. It returns an error if the device fails to return the result.
func (rec *Record) check(in *Instance, replay int) error {
	diff, err := in.Check()
	if device.CodeOf(err) != 0 {
		return err
	}
	if !(diff <= math.MaxFloat64) {
		diff = math.MaxFloat64 // JSON has no infinity or NaN
	}
	rec.MaxError = max(rec.MaxError, diff)
	if err != nil && rec.OK {
		rec.OK, rec.Error = false, fmt.Sprintf("replay %d: %v", replay, err)
	}
	return nil
}

// replayOnce measures one replay, from the call to the end of its work.
func replayOnce(ctx context.Context, dev device.Device, in *Instance, exec *graphexec.Exec) (time.Duration, error) {
	if err := in.Reset(); err != nil {
		return 0, err
	}
	start := dev.Now()
	err := replay(ctx, exec)
	return dev.Now() - start, err
}

// replay replays once and waits.
func replay(ctx context.Context, exec *graphexec.Exec) error {
	if err := exec.Replay(ctx); err != nil {
		return err
	}
	return exec.Wait(ctx)
}

// timed is the maximum number of iterations measured by events.
const timed = 3

// eventMicros returns the median time of an iteration between two events in its stream. It runs iterations of its
// own, because recording an event costs the host a call.
func eventMicros(ctx context.Context, dev device.Device, in *Instance, exec *graphexec.Exec, iterations int) (us float64, err error) {
	var events [2]device.Event
	for i := range events {
		if events[i], err = dev.CreateEvent(); err != nil {
			return 0, err
		}
		defer func() { err = device.Join(err, dev.DestroyEvent(events[i])) }()
	}
	times := make([]time.Duration, min(timed, iterations))
	for i := range times {
		if times[i], err = eventOnce(ctx, dev, in, exec, events[0], events[1]); err != nil {
			return 0, err
		}
	}
	return micros(median(times)), nil
}

func eventOnce(ctx context.Context, dev device.Device, in *Instance, exec *graphexec.Exec, start, end device.Event) (time.Duration, error) {
	if err := in.Reset(); err != nil {
		return 0, err
	}
	if err := dev.Record(start, exec.Stream()); err != nil {
		return 0, err
	}
	if err := exec.Replay(ctx); err != nil {
		return 0, err
	}
	if err := dev.Record(end, exec.Stream()); err != nil {
		return 0, err
	}
	if err := exec.Wait(ctx); err != nil {
		return 0, err
	}
	return dev.Elapsed(start, end)
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }

func median(d []time.Duration) time.Duration {
	d = slices.Clone(d)
	slices.Sort(d)
	return (d[(len(d)-1)/2] + d[len(d)/2]) / 2
}
