package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/bench/figure"
	"github.com/reprise-gpu/reprise/internal/bench/tenants"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// tenantsFlags are the flags of tenants as given.
type tenantsFlags struct {
	device   string
	program  string
	size     int
	data     dataFlags
	tenants  []string
	modes    []string
	arrivals string
	slo      time.Duration
	rounds   int
	dispatch string
	kernel   string
	sample   int64
	json     string
	plot     string
}

func newTenants() *cobra.Command {
	var f tenantsFlags
	c := &cobra.Command{
		Use:   "tenants",
		Short: "Compare ways in which several tenants share one device",
		Long: `Tenants runs one program for several tenants on one device, each with data of its own, and
compares ways of sharing the device (modes):

  exclusive   one tenant alone on the device, as one graph
  time        one context after another; the device is drained in between
  space       a stream per tenant, launches one by one
  branches    one graph with a branch per tenant
  batch       one program for all tenants, if it has a batch; they share the weights
  spacetime   one graph whose kernels run all tenants in one launch (package tenant)

  us/round    time in which every tenant runs once: all submit together, and the next
              round begins when the last has ended
  GFLOP/s     of the matrix products, in these rounds
  p50 p99     of the times from a request's arrival to its end
  goodput     requests per second that ended by their deadline; all, without --slo
  spread      greatest less least mean latency of a tenant, over the mean of all
  chance      the spread that tenants would have by chance, from shuffled requests

Latencies are of other requests than the rounds. With --arrivals saturated, a tenant submits
again when its request ends. poisson:RATE makes requests at random times, RATE per second
and tenant. A FILE has lines "tenant,time_us", with tenants from 0.

The results of all tenants are compared with what is expected, in the first and the last
round.

--dispatch published adds the costs of a published stack for inference, whose batched matrix
product is slower: spacetime then runs kernel gemm_plain where the other modes run gemm_128x64,
if --kernel names no other. The rates of sgemm are printed beside the published ones
(docs/TENANTS-PUBLISHED.md). With driver, only the driver's calls cost time, and the device's
profile has the cost of a switch between contexts. On a GPU, mode time drains the device, but
does not switch contexts.

` + programHelp(),
		Example: `  reprise tenants --program sgemm --tenants 1..64 --sample 1 --device sim:v100
  reprise tenants --program sgemm --shape 64x64x64 --tenants 1,2,4 --mode space,spacetime
  reprise tenants --program sgemm --tenants 8 --sample 1 --arrivals poisson:2000 --slo 2ms`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	c.Flags().StringVar(&f.device, "device", defaultDevice, "device to run on; see reprise devices")
	c.Flags().StringVar(&f.program, "program", "", "`PROGRAM`: a workload, or the path of a saved program")
	c.Flags().IntVar(&f.size, "size", 0, "problem size of the workload (default its smallest; for sgemm the number of products of a tenant)")
	f.data.add(c)
	c.Flags().StringSliceVar(&f.tenants, "tenants", []string{"1..8"}, "numbers of tenants: a list of numbers and ranges, as in 1,2,4..8; 2..40/2 has a step of 2")
	c.Flags().StringSliceVar(&f.modes, "mode", []string{"all"}, "ways of sharing, or all that the program has: "+strings.Join(modeNames(), ", "))
	c.Flags().StringVar(&f.arrivals, "arrivals", "saturated", "saturated, poisson:RATE (requests per second and tenant), or a `FILE`")
	c.Flags().DurationVar(&f.slo, "slo", 0, "time from a request's arrival to its deadline, as in 100ms (default no deadlines)")
	c.Flags().IntVar(&f.rounds, "rounds", 20, "measured rounds, and requests of each tenant")
	c.Flags().StringVar(&f.dispatch, "dispatch", "driver", "costs of dispatch: driver or published")
	c.Flags().StringVar(&f.kernel, "kernel", "", kernelHelp)
	c.Flags().Int64Var(&f.sample, "sample", 0, sampleHelp)
	c.Flags().StringVar(&f.json, "json", "", "also write the rows to `FILE` as a JSON array (- for standard output)")
	c.Flags().StringVar(&f.plot, "plot", "", "also draw throughput and latency into `DIR`, as SVG and PNG")
	return c
}

func modeNames() (names []string) {
	for _, m := range tenants.Modes() {
		names = append(names, m.String())
	}
	return names
}

// run measures and reports. After an interrupt, the completed rows are still reported.
func (f *tenantsFlags) run(c *cobra.Command) error {
	config, err := f.config(c)
	if err != nil {
		return err
	}
	records, err := watchedRows(c, "rows", func(ctx context.Context, update progressFunc, row func(tenants.Record)) error {
		config.Progress, config.Row = update, row
		_, err := tenants.Run(ctx, config)
		return err
	})
	return f.report(c.OutOrStdout(), records, config.Rows(), err)
}

// write prints the table, and with the published stack the published results.
func (f *tenantsFlags) write(w io.Writer, records []tenants.Record) error {
	if err := tenants.WriteTable(w, records); err != nil || f.dispatch != publishedStack || f.program != "sgemm" {
		return err
	}
	return tenants.WritePublished(w, cmp.Or(f.data.shape, bench.DefaultShape.String()), records)
}

// report prints the completed rows and returns the error that ends the program: stopped, if the run was interrupted or
// failed, or else the first wrong result.
func (f *tenantsFlags) report(stdout io.Writer, records []tenants.Record, rows int, stopped error) error {
	path, figures := f.json, f.plot
	stopped = withProgress(stopped, "after %d of %d rows", len(records), rows)
	if len(records) == 0 {
		return stopped
	}
	if stopped != nil {
		stopped = aside(stopped, &path, &figures)
	}
	failed := writeResults(stdout, path, records, func(w io.Writer) error { return f.write(w, records) })
	if figures != "" {
		_, err := figure.WriteTenants(figures, records)
		failed = errors.Join(failed, err)
	}
	if err := errors.Join(stopped, failed); err != nil {
		return err
	}
	for i := range records {
		if r := &records[i]; r.Error != "" {
			return fmt.Errorf("%s with %d tenants in mode %s is wrong: %s", r.Program, r.Tenants, r.Mode, r.Error)
		}
	}
	return nil
}

// config checks the flags.
func (f *tenantsFlags) config(c *cobra.Command) (config tenants.Config, err error) {
	if f.rounds < 1 {
		return config, usagef("--rounds %d: at least 1 is needed", f.rounds)
	}
	if f.slo < 0 {
		return config, usagef("--slo %v: a time of at least 0 is needed", f.slo)
	}
	if config.Tenants, err = parseTenants(f.tenants); err != nil {
		return config, err
	}
	if err := checkDevice(f.device); err != nil {
		return config, err
	}
	if err := checkSample(f.sample, false); err != nil {
		return config, err
	}
	if config.Stack, err = stackOf(f.dispatch); err != nil {
		return config, err
	}
	if config.Arrivals, err = f.parseArrivals(slices.Max(config.Tenants)); err != nil {
		return config, err
	}
	if err := f.programsOf(c, &config); err != nil {
		return config, err
	}
	if config.Modes, err = pick("mode", f.modes, tenants.Modes(), lookup("mode", tenants.Modes()...)); err != nil {
		return config, err
	}
	if len(config.Modes) < len(tenants.Modes()) && slices.Contains(config.Modes, tenants.Batch) && !config.Program.Batched {
		return config, usagef("--mode batch: %s has no batch: leave this mode out", config.Program.Name)
	}
	config.SLO, config.Rounds, config.Seed, config.Sampled = f.slo, f.rounds, f.data.seed, f.sample > 0
	config.Open = func() (device.Device, error) { return openAny(f.device, sim.Options{Sample: f.sample}) }
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

// programsOf sets the programs of --program.
func (f *tenantsFlags) programsOf(c *cobra.Command, config *tenants.Config) error {
	if f.program == "" {
		return usagef("--program is missing: name a workload or a saved program")
	}
	w, err := pickProgram(c, f.program)
	if err != nil {
		return err
	}
	params, err := paramsOf(w, f.size, &f.data, f.sample, f.kernel)
	if err != nil {
		return err
	}
	config.Program = tenants.OfWorkload(w, params)
	if slow := bench.SlowBatch(params.Shape); f.dispatch == publishedStack && w.Shaped && f.kernel == "" && slow != "" {
		params.Kernel = slow
		config.Merged = tenants.OfWorkload(w, params)
	}
	return nil
}

// maxTenants bounds the number of tenants.
const maxTenants = 1000

// parseTenants parses a list of numbers and ranges. The result ascends.
func parseTenants(words []string) (list []int, err error) {
	for _, word := range words {
		first, last, step, err := parseRange(word)
		if err != nil || first < 1 || last < first || last > maxTenants || step < 1 || step > maxTenants {
			return nil, usagef("--tenants %s: write numbers from 1 to %d and ranges of them, as in 1,2,4..8", word, maxTenants)
		}
		for n := first; n <= last; n += step {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// parseRange parses "first", "first..last" or "first..last/step".
func parseRange(word string) (first, last, step int, err error) {
	from, to, ranged := strings.Cut(word, "..")
	step = 1
	if first, err = strconv.Atoi(strings.TrimSpace(from)); err != nil || !ranged {
		return first, first, step, err
	}
	to, every, stepped := strings.Cut(to, "/")
	if last, err = strconv.Atoi(strings.TrimSpace(to)); err == nil && stepped {
		step, err = strconv.Atoi(strings.TrimSpace(every))
	}
	return first, last, step, err
}

// publishedStack is the value of --dispatch that stands for tenants.Published.
const publishedStack = "published"

// stackOf returns the costs of --dispatch.
func stackOf(name string) (func(device.Device) tenants.Stack, error) {
	switch name {
	case "driver":
		return tenants.Driver, nil
	case publishedStack:
		return func(device.Device) tenants.Stack { return tenants.Published() }, nil
	}
	return nil, usagef("unknown --dispatch %q: use driver or published", name)
}

// parseArrivals parses --arrivals.
func (f *tenantsFlags) parseArrivals(most int) (*tenants.Arrivals, error) {
	if f.arrivals == "saturated" {
		return nil, nil
	}
	if text, ok := strings.CutPrefix(f.arrivals, "poisson:"); ok {
		rate, err := strconv.ParseFloat(text, 64)
		if err != nil || !(rate >= 1e-3 && rate <= 1e9) {
			return nil, usagef("--arrivals %s: write the requests per second and tenant, from 0.001 to 1e9, as in poisson:200", f.arrivals)
		}
		return &tenants.Arrivals{Rate: rate}, nil
	}
	text, err := readFile(f.arrivals)
	if err != nil {
		return nil, fmt.Errorf("--arrivals: %w", err)
	}
	return tenants.ReadArrivals(f.arrivals, bytes.NewReader(text), most)
}
