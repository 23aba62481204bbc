package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench/figure"
	"github.com/reprise-gpu/reprise/internal/bench/shares"
	"github.com/reprise-gpu/reprise/internal/bench/tenants"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/timings"
	"github.com/reprise-gpu/reprise/solver"
)

// shareFlags are the flags of share as given.
type shareFlags struct {
	device   string
	high     []string
	low      []string
	policies []string
	usual    string
	matrix   bool
	requests int
	rate     string
	every    int
	gap      time.Duration
	issue    time.Duration
	sigma    float64
	size     int
	timings  string

	checkEvery int
	iterations int
	data       dataFlags
	json       string
	plot       string
}

// newShareRun returns the command share as it compares policies.
func newShareRun() *cobra.Command {
	var f shareFlags
	c := &cobra.Command{
		Use:   "share",
		Short: "Compare policies that share a device among programs of unequal priority",
		Long: `Share runs an important program (high) beside one that always has work (low) on one
device, and compares policies:

  exclusive   one stage at a time, the important program first; none is interrupted
  fifo        streams of one process, each with 1, 4 or 8 kernels in flight
  timeslice   processes that have the device in turn, for slices of 0.5, 1 or 2 ms;
              a change takes 50 us
  priority    streams with priorities, 4 kernels in flight
  fikit       kernel by kernel: the longest that fits into the mean gap (W. Wu, 2023)
  orion       kernels of other bounds beside it, at most 160 us of them (F. Strati, 2024)
  tally       parts of at most 100 us, after 100 us without work (W. Zhao, 2025)
  greedy      pieces of at most 100 us whenever the important program is idle
  fill        pieces that fit into a quantile of the gap, at a delay of 1% (docs/SHARING.md);
              fill:2% has another target
  mean        the same, but gaps are expected to be as long as their mean; not in all
  flag        the same, but the device runs pieces until a flag stops it; not in all, and not
              for traces

A program may also be a solver and its matrix, as in cg:poisson2d:64; or a trace: the path of a
.csv file, or the name of a published one, as in trace:resnet50. A request of a solver solves
Ax = b for b of ones, and a stage is the iterations between two checks of the residual by the
host. Spin kernels of the same grid, block, occupancy and length replay a trace. With +eager, as
in trace:resnet50+eager, the host waits for each kernel of the trace and then takes --issue to
launch the next.

  over alone    mean latency of a request over that of the program alone: one graph for each
                stage. A latency is from a request's arrival to its end, as the host sees it
  p99           99th percentile over that alone
  speed-up      mean latency under --default over that under the policy
  low share     throughput of low over its throughput alone
  over default  throughput of low over that under --default
  latest        greatest delay of a stage of high, beyond its time alone
  bound         what the policy promises at most: pieces in flight, and one unit that cannot
                be cut
  decision      host time of a decision of the policy, the median
  host          host time of all decisions over the time of the run

Results of workloads, saved graphs and solvers are compared with those of a run alone; traces
have none.
Times of the simulated device are virtual, and it runs a block of each launch (docs/SIMULATOR.md).

Published traces:
  ` + strings.Join(shares.TraceNames(), "\n  ") + `

` + programHelp(),
		Example: `  reprise share --high trace:resnet50 --low trace:bert-train --device sim:v100
  reprise share --high trace:gnmt --low trace:resnet50-train --policy default,fill --rate 10
  reprise share --matrix --policy default,fikit,greedy,fill --requests 100`,
		Args: noCommand,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	c.Flags().StringVar(&f.device, "device", "sim:v100", "device to run on; see reprise devices")
	c.Flags().StringSliceVar(&f.high, "high", nil, "important `PROGRAM`, or several")
	c.Flags().StringSliceVar(&f.low, "low", nil, "the other `PROGRAM`, or several")
	c.Flags().BoolVar(&f.matrix, "matrix", false, "run the pairs of docs/SHARING.md: five published traces beside five others")
	c.Flags().StringSliceVar(&f.policies, "policy", []string{"all"}, "policies: all of the list above, default (fifo and timeslice), or some;\nparameters may be others, as in fifo:2, timeslice:5ms and fill:2%")
	c.Flags().StringVar(&f.usual, "default", "timeslice:1ms", "policy over which speed-ups are stated")
	c.Flags().IntVar(&f.requests, "requests", 1000, "requests of the important program")
	c.Flags().StringVar(&f.rate, "rate", "closed", "closed (a request follows the end of the one before), or requests per second at random times,\nor these as a percentage of what the program serves alone, as in 50%")
	c.Flags().IntVar(&f.every, "every", 40, "kernels of a trace without gaps after which its host waits and works; 0 for none. Only of --high")
	c.Flags().DurationVar(&f.gap, "gap", time.Millisecond, "time of that work, and of that after a request")
	c.Flags().DurationVar(&f.issue, "issue", 25*time.Microsecond, "time to launch a kernel of a trace with +eager")
	c.Flags().Float64Var(&f.sigma, "sigma", 0.25, "standard deviation of the logarithm of gaps of --high")
	c.Flags().IntVar(&f.size, "size", 0, "problem size of workloads (default their smallest)")
	f.data.add(c)
	c.Flags().IntVar(&f.checkEvery, "check-every", 16, "iterations of a solver between two checks of the host, at which a stage ends")
	c.Flags().IntVar(&f.iterations, "iterations", 0, "iterations of a request of a solver, at most (default: until it is solved)")
	c.Flags().StringVar(&f.timings, "timings", "", "`FILE` of reprise measure: gaps behind the replays of workloads and saved graphs, with which predictions begin")
	c.Flags().StringVar(&f.json, "json", "", "also write the rows to `FILE` as a JSON array (- for standard output)")
	c.Flags().StringVar(&f.plot, "plot", "", "also draw latencies and a timeline of the first pair into `DIR`, as SVG and PNG")
	return c
}

// run measures and reports. After an interrupt, the completed rows are still reported.
func (f *shareFlags) run(c *cobra.Command) error {
	config, err := f.config(c)
	if err != nil {
		return err
	}
	records, err := watched(c, "rows", func(ctx context.Context, update progressFunc) ([]shares.Record, error) {
		config.Progress = update
		return shares.Run(ctx, config)
	})
	return f.report(c.OutOrStdout(), records, config.Rows(), err)
}

// report prints the completed rows and returns the error that ends the program: stopped, if the run was interrupted or
// failed, or else the first wrong result.
func (f *shareFlags) report(stdout io.Writer, records []shares.Record, rows int, stopped error) error {
	path, figures := f.json, f.plot
	stopped = withProgress(stopped, "after %d of %d rows", len(records), rows)
	if len(records) == 0 {
		return stopped
	}
	if stopped != nil {
		stopped = aside(stopped, &path, &figures)
	}
	failed := writeResults(stdout, path, records, func(w io.Writer) error {
		err := shares.WriteTable(w, records)
		if last := records[len(records)-1]; err == nil && (last.High != records[0].High || last.Low != records[0].Low) {
			fmt.Fprintln(w)
			err = shares.WriteSummary(w, records)
		}
		return err
	})
	if figures != "" {
		_, err := figure.WriteShares(figures, records)
		failed = errors.Join(failed, err)
	}
	if err := errors.Join(stopped, failed); err != nil {
		return err
	}
	for i := range records {
		if r := &records[i]; r.Error != "" {
			return fmt.Errorf("%s beside %s under %s is wrong: %s", r.High, r.Low, r.Policy, r.Error)
		}
	}
	return nil
}

// config checks the flags.
func (f *shareFlags) config(c *cobra.Command) (config shares.Config, err error) {
	if f.requests < 1 {
		return config, usagef("--requests %d: at least 1 is needed", f.requests)
	}
	if f.every < 0 || f.gap < 0 || f.issue < 0 {
		return config, usagef("--every, --gap and --issue are at least 0")
	}
	if f.iterations < 0 || f.checkEvery < 1 {
		return config, usagef("--iterations %d, --check-every %d: write at least 0, and at least 1", f.iterations, f.checkEvery)
	}
	if !(f.sigma >= 0 && f.sigma <= 3) {
		return config, usagef("--sigma %v: write a number from 0 to 3", f.sigma)
	}
	if config.Rate, config.Load, err = parseRate(f.rate); err != nil {
		return config, err
	}
	if err := checkDevice(f.device); err != nil {
		return config, err
	}
	if config.Policies, err = pickPolicies(f.policies); err != nil {
		return config, err
	}
	usual, err := pickPolicies([]string{f.usual})
	if err != nil {
		return config, err
	}
	if len(usual) != 1 {
		return config, usagef("--default %s: name one policy, as in fifo:4", f.usual)
	}
	config.Usual, config.Requests, config.Jitter = usual[0], f.requests, f.sigma
	if config.High, config.Low, err = f.programs(c); err != nil {
		return config, err
	}
	if f.timings != "" {
		if config.Timings, err = timings.ReadFile(f.timings); err != nil {
			return config, fmt.Errorf("--timings: %w", err)
		}
	}
	config.Open = func(sampled bool) (device.Device, error) {
		o := sim.Options{}
		if sampled {
			o.Sample = 1
		}
		return openAny(f.device, o)
	}
	if f.plot != "" {
		if err := figure.Folder(f.plot); err != nil {
			return config, err
		}
	}
	if f.json != "" && f.json != "-" {
		err = checkWritable(f.json)
	}
	return config, err
}

// parseRate parses --rate: requests per second, or a fraction of what the program serves alone. Both are 0 for closed.
func parseRate(text string) (rate, load float64, err error) {
	if text == "closed" {
		return 0, 0, nil
	}
	if percent, ok := strings.CutSuffix(text, "%"); ok {
		load, err = strconv.ParseFloat(percent, 64)
		if err != nil || !(load >= 0.01 && load <= 95) {
			return 0, 0, usagef("--rate %s: write a percentage from 0.01%% to 95%%", text)
		}
		return 0, load / 100, nil
	}
	rate, err = strconv.ParseFloat(text, 64)
	if err != nil || !(rate >= 1e-3 && rate <= 1e6) {
		return 0, 0, usagef("--rate %s: write closed, requests per second from 0.001 to 1e6, or a percentage of what the program serves alone, as in 50%%", text)
	}
	return rate, 0, nil
}

// pickPolicies returns the policies of a list of names: first those that are compared by default, in the order of tables.
func pickPolicies(names []string) (list []shares.Policy, err error) {
	all := shares.Policies()
	var picked []shares.Policy
	for _, name := range names {
		some, err := shares.LookupPolicies(strings.TrimSpace(name))
		if err != nil {
			return nil, usageError{err}
		}
		picked = append(picked, some...)
	}
	called := func(name string) func(shares.Policy) bool {
		return func(p shares.Policy) bool { return p.Name == name }
	}
	for _, p := range append(all, picked...) {
		if slices.ContainsFunc(picked, called(p.Name)) && !slices.ContainsFunc(list, called(p.Name)) {
			list = append(list, p)
		}
	}
	return list, nil
}

// The pairs of --matrix.
var (
	matrixHigh = []string{"trace:resnet50", "trace:transformer", "trace:mobilenet", "trace:efficientnet", "trace:gnmt"}
	matrixLow  = []string{"trace:resnet50-train", "trace:mobilenet-train", "trace:bert-train", "trace:mobilenet-backward", "trace:resnet50"}
)

// programs returns the programs of --high and --low.
func (f *shareFlags) programs(c *cobra.Command) (high, low []shares.Program, err error) {
	highs, lows := f.high, f.low
	if f.matrix {
		if len(highs) == 0 {
			highs = matrixHigh
		}
		if len(lows) == 0 {
			lows = matrixLow
		}
	}
	if len(highs) == 0 || len(lows) == 0 {
		return nil, nil, usagef("--high and --low are missing: name a program for each, or use --matrix")
	}
	for _, name := range highs {
		p, err := f.program(c, name, true)
		if err != nil {
			return nil, nil, err
		}
		high = append(high, p)
	}
	for _, name := range lows {
		p, err := f.program(c, name, false)
		if err != nil {
			return nil, nil, err
		}
		low = append(low, p)
	}
	return high, low, nil
}

// program returns the program of a name.
func (f *shareFlags) program(c *cobra.Command, name string, high bool) (p shares.Program, err error) {
	plain, eager := strings.CutSuffix(name, "+eager")
	gap := f.gap
	if !high {
		gap = 0
	}
	switch {
	case strings.HasPrefix(plain, "trace:") || strings.HasSuffix(plain, ".csv"):
		t, err := readTrace(plain)
		if err != nil {
			return p, err
		}
		return shares.OfTrace(f.gaps(t, high, eager)), nil
	case eager:
		return p, usagef("%s: only a trace can be +eager", name)
	}
	kind, rest, _ := strings.Cut(name, ":")
	if m, ok := methodOf(kind, rest); ok {
		return f.solver(m, name, rest, gap)
	}
	w, err := pickProgram(c, name)
	if err != nil {
		return p, err
	}
	size := f.size
	if w.Saved || strings.Contains(name, ":") {
		size = 0
	}
	params, err := paramsOf(w, size, &f.data, 0, "")
	return shares.OfProgram(tenants.OfWorkload(w, params), gap), err
}

// methodOf returns the method of a program METHOD:MATRIX. hits with a number, or alone, is the workload of that name.
func methodOf(name, matrix string) (m solver.Method, ok bool) {
	if _, err := strconv.Atoi(matrix); name == solver.HITS.Name && (matrix == "" || err == nil) {
		return m, false
	}
	m, err := lookupMethod(name)
	return m, err == nil
}

// solver returns the program that solves Ax = b, where b is ones.
func (f *shareFlags) solver(m solver.Method, name, matrix string, gap time.Duration) (p shares.Program, err error) {
	if matrix == "" {
		return p, usagef("%s: write the matrix behind the method, as in %s:poisson2d:64", name, name)
	}
	a, err := readMatrix(matrix)
	if err != nil {
		return p, err
	}
	o := solver.Options{Method: m, CheckEvery: f.checkEvery, MaxIterations: f.iterations}
	if err := o.Check(); err != nil {
		return p, optionFlag(err)
	}
	return shares.OfSolver(name, a, slices.Repeat([]float64{1}, a.Rows), o, f.iterations > 0, gap), nil
}

// readTrace returns a published trace, or that of a file.
func readTrace(name string) (*shares.Trace, error) {
	if published, ok := strings.CutPrefix(name, "trace:"); ok {
		t, err := shares.PublishedTrace(published)
		if err != nil {
			return nil, usageError{err}
		}
		return t, nil
	}
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	t, err := shares.ReadTrace(name, file)
	if err == nil {
		t.Name = strings.TrimSuffix(filepath.Base(name), ".csv")
	}
	return t, err
}

// gaps adds the gaps of the flags to a trace that has none.
func (f *shareFlags) gaps(t *shares.Trace, high, eager bool) *shares.Trace {
	if high && f.every > 0 && !slices.ContainsFunc(t.Kernels, func(k shares.Kernel) bool { return k.Gap > 0 }) {
		t = t.Synced(f.every, f.gap)
	}
	if eager {
		t = t.Eager(f.issue)
	}
	return t
}
