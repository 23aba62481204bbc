package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/bench/compare"
	"github.com/reprise-gpu/reprise/internal/bench/figure"
	"github.com/reprise-gpu/reprise/internal/bench/published"
	"github.com/reprise-gpu/reprise/internal/devices"
	"github.com/reprise-gpu/reprise/optimizer"
)

// compareFlags are the flags of compare as given.
type compareFlags struct {
	device     string
	sizes      []string
	threads    []string
	memory     []string
	strategies []string
	backends   []string
	iterations int
	rounds     int
	sample     int64
	seed       uint64
	baseline   string
	library    string
	json       string
	plot       string
	published  string
	from       []string
	maxRatio   float64
	burst      int
	also       []string
	minGain    float64
}

func newCompare() *cobra.Command {
	var f compareFlags
	c := &cobra.Command{
		Use:   "compare [" + programArg + "...]",
		Short: "Compare replays with programs written by hand in C++, on the same device",
		Long: `Compare replays workloads under strategies and back ends. In turns, it runs the same
workloads as programs written by hand in C++ with CUDA graphs and streams. Device,
kernels, inputs, launch shapes and memory mode are the same on both sides; compare
refuses programs for which they differ. On a simulated device, the C++ programs run on
the simulated driver, with the same profile and in virtual time.

The C++ programs have five versions: in sync, the host waits after each operation; async
is a schedule over streams and events; graph is a graph; capture is a graph captured from
the streams; graph1 is a graph that is a chain.

In pinned memory, each row is also measured with --burst replays that are submitted back
to back, with one wait at the end. Both sides submit the same number. Between them, the
host writes no input and reads no result, so a result is overwritten by the next; copies
from and to the host are part of each replay. In Go, the memory that outlives a replay must
then hold the same bytes as after as many serial replays; in C++ it is compared with the
CPU reference. Each --also adds a row with optional passes (see reprise opt), among them
what no version in C++ does: unroll(k) submits k replays as one graph, rename(m) gives them
m memories, merge makes one launch of several, priorities puts the longest path first.

The C++ version graph4 is four graphs with memory of their own, inputs and results
included, on four streams. It is printed beside the others, and is not counted as the best
C++ version, because its replays do not share inputs and results. A program whose replays
continue from the last result (hits) cannot have it.

A saved program (FILE.rir) has no version in C++: its rows are ours alone, and ratios to C++
are dashes. Its inputs and results are as for reprise bench.

` + "`make baseline`" + ` builds the programs (build/baseline/WORKLOAD), ` + "`make libcudasim`" + ` the
simulated driver (build/libcudasim.so). Compare looks for build beside the folder of
this executable, then in the current folder.

  us/replay    median by the host's clock, from the call to the end of the wait
  event us     by the device's clock, between events around an iteration
  to graph     time divided by that of the C++ version graph: below 1 is faster
  to best      time divided by that of the fastest C++ version
  over serial  speedup over the serial strategy in the same memory mode, as a graph
               unless --backend excludes graphs
  over sync    speedup over the C++ version sync, which waits after every operation;
               published speedups are of this kind
  of bound     a lower bound divided by the time: at 100 %, only the dependencies limit
               the time. The bound is the critical path, with the time that each
               operation takes alone on the device, in a serial replay
  CT TC        share of the kernels' time that overlaps transfers, and of the transfers'
               time that overlaps kernels
  CC TOT       share of the kernels' time that overlaps other kernels, and of all time
               that overlaps other work. Page faults count as part of the kernel
  lanes syncs  streams, and waits between them
  calls        into the driver in a replay, without those that make the context current;
               not counted for C++ programs on a GPU

The table of bursts has these columns:

  us/replay    time of the burst, divided by its replays
  throughput   relative to the best C++ version: above 1 is more replays per second
  latency us   time of one submission and the wait for it, which is of replays
  more MB      device memory beyond that of one replay
  bytes        same: as after serial replays; checked: against the CPU reference

On a simulated device, overlap follows from the time line of a replay. On a GPU, it is
measured for streams only, by events around each operation. For kernels it is then an
upper bound, because a kernel that waits for multiprocessors counts as running. The
events raise the lower bound by about a microsecond for each operation on the path.
For graphs and C++ programs on a GPU, a dash stands for the overlap.

The exit status is 1 if a result is wrong, or if the fastest row in Go takes more than
--max-ratio times what the fastest C++ version takes. This latency is of rows without --also.
The status is also 1 if the mean throughput is below --min-throughput.

Workloads:
` + workloadHelp(),
		Example: `  reprise compare
  reprise compare img --size 512,1024 --memory pinned,prefetch --max-ratio 1
  reprise compare --device gpu0 --rounds 5 --json compare.json
  reprise compare --from compare.json --plot figures`,
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("from") {
				return showCompared(c, &f, args)
			}
			return runCompare(c, &f, args)
		},
	}
	c.Flags().StringVar(&f.device, "device", defaultDevice, "device to run on; see reprise devices")
	c.Flags().StringSliceVar(&f.sizes, "size", nil, "problem sizes instead of each workload's own; "+tinyHelp)
	c.Flags().StringSliceVar(&f.threads, "threads", nil, "threads per one-dimensional block, or all: 32, 128, 256, 1024 (default each workload's own)")
	c.Flags().StringSliceVar(&f.memory, "memory", []string{"pinned"}, "memory modes, or all that the device supports: pinned (explicit copies), prefetch or managed (managed memory, with or without prefetches)")
	c.Flags().StringSliceVar(&f.strategies, "strategy", usualStrategies, strategyHelp+"; serial is always there")
	c.Flags().StringSliceVar(&f.backends, "backend", []string{"all"}, "back ends, or all: graph, streams")
	c.Flags().IntVar(&f.iterations, "iterations", 30, "replays per row and round; of more than 3, the first 3 are not counted")
	c.Flags().IntVar(&f.rounds, "rounds", 0, "rounds of Go, then C++ (default 3 on a GPU; 1 on a simulated device, where all are equal)")
	c.Flags().Int64Var(&f.sample, "sample", 0, sampleHelp)
	c.Flags().Uint64Var(&f.seed, "seed", 1, "of the random inputs")
	c.Flags().StringVar(&f.baseline, "baseline", "", "`DIR` of the C++ programs")
	c.Flags().StringVar(&f.library, "libcudasim", "", "`FILE` of the simulated driver")
	c.Flags().StringVar(&f.json, "json", "", "also write the comparisons and means to `FILE` as JSON (- for standard output)")
	c.Flags().StringVar(&f.plot, "plot", "", "also draw speedup, ratio, overlap and bound of each memory mode into `DIR`, as SVG and PNG")
	c.Flags().StringVar(&f.published, "published", "", "also compare the results with the figures of the GrCUDA paper: Markdown, to `FILE` (- for standard output)")
	c.Flags().StringSliceVar(&f.from, "from", nil, "measure nothing, and print results that earlier runs wrote with --json: `FILES` of one device, or folders of such files (- for standard input)")
	c.Flags().Float64Var(&f.maxRatio, "max-ratio", 0, "fail if a ratio of the fastest row in Go to the fastest C++ version is above this (0: never)")
	c.Flags().IntVar(&f.burst, "burst", 16, "replays in pinned memory to submit back to back, for their throughput (0: none)")
	c.Flags().StringArrayVar(&f.also, "also", usualOptions, "`PASSES` of one more row in Go, with a burst; give the flag once for each row")
	c.Flags().Float64Var(&f.minGain, "min-throughput", 0, "fail if the geometric mean of the throughput of the best rows in Go, divided by that of the best C++ versions, is below this (0: never)")
	c.AddCommand(newCompareSolver())
	return c
}

// runCompare measures and reports. After an interrupt, the completed comparisons are still reported.
func runCompare(c *cobra.Command, f *compareFlags, args []string) error {
	config, err := f.config(c, args)
	if err != nil {
		return err
	}
	all, err := watched(c, "replays", func(ctx context.Context, update progressFunc) ([]compare.Comparison, error) {
		config.Progress = update
		return compare.Run(ctx, config)
	})
	return f.report(c, all, config.Settings(), err)
}

// comparisons is the content of the file of --json.
type comparisons struct {
	Comparisons     []compare.Comparison     `json:"comparisons"`
	Means           []compare.Mean           `json:"means"`
	ThroughputMeans []compare.ThroughputMean `json:"throughput_means,omitempty"`
}

// report prints the completed comparisons and returns the error that ends the program:
// stopped, if the run was interrupted or failed, or else the first comparison that is wrong or too slow.
func (f *compareFlags) report(c *cobra.Command, all []compare.Comparison, wanted int, stopped error) error {
	stopped = withProgress(stopped, "after %d of %d comparisons", len(all), wanted)
	if len(all) == 0 {
		return stopped
	}
	stdout, path, figures, page := c.OutOrStdout(), f.json, f.plot, f.published
	if stopped != nil {
		if published.Write(io.Discard, all) != nil {
			page = "" // the paper has no figures for the completed comparisons
		}
		stopped = aside(stopped, &path, &figures, &page)
	}
	failed := writeResults(stdout, path, comparisons{all, compare.Means(all), compare.ThroughputMeans(all)}, func(w io.Writer) error { return compare.WriteTables(w, all) })
	if figures != "" {
		_, err := figure.Write(figures, all)
		failed = errors.Join(failed, err)
	}
	if page != "" {
		failed = errors.Join(failed, writePublished(page, stdout, all))
	}
	if err := errors.Join(stopped, failed); err != nil {
		return err
	}
	return f.verdict(all)
}

func writePublished(path string, stdout io.Writer, all []compare.Comparison) error {
	var text bytes.Buffer
	if err := published.Write(&text, all); err != nil {
		return err
	}
	if path == "-" {
		_, err := text.WriteTo(stdout)
		return err
	}
	return writeFile(path, text.Bytes())
}

// verdict returns an error for the first comparison with a wrong result, or else for the first that is too slow.
func (f *compareFlags) verdict(all []compare.Comparison) error {
	for i := range all {
		if r := all[i].Wrong(); r != nil {
			return fmt.Errorf("%s at %d, %s, with %s is wrong: %s", r.Workload, r.Size, r.Memory, r.Name, r.Error)
		}
	}
	for i := range all {
		if c := &all[i]; f.maxRatio > 0 && c.Slower(f.maxRatio) {
			return fmt.Errorf("%s at %d, %s: %s takes %.6g times as long as %s, and %g is allowed", c.Workload, c.Size, c.Memory, c.Best, c.Ratio, c.BestCPP, f.maxRatio)
		}
	}
	return f.throughputVerdict(all)
}

// throughputVerdict returns an error if the mean throughput of the best rows in Go is too low, or unknown.
func (f *compareFlags) throughputVerdict(all []compare.Comparison) error {
	if f.minGain == 0 {
		return nil
	}
	means := compare.ThroughputMeans(all)
	if len(means) == 0 {
		return usagef("--min-throughput %g: no throughput was measured: use --memory pinned and a --burst", f.minGain)
	}
	if best := means[len(means)-1]; best.Gain < f.minGain {
		return fmt.Errorf("the best rows in Go have %.3f times the throughput of the best C++ versions, the geometric mean of %d workloads, and %g is required", best.Gain, best.Workloads, f.minGain)
	}
	return nil
}

// checkCompared returns an error for a workload without versions in C++.
func checkCompared(workloads []*bench.Workload) error {
	for _, w := range workloads {
		if slices.ContainsFunc(bench.ServedWorkloads(), func(s *bench.Workload) bool { return s.Name == w.Name }) {
			return usagef("%s has no version in C++: use reprise bench", w.Name)
		}
	}
	return nil
}

// config checks the flags.
func (f *compareFlags) config(cmd *cobra.Command, args []string) (c compare.Config, err error) {
	base := benchFlags{
		device: f.device, strategies: f.strategies, backends: f.backends, sizes: f.sizes,
		data: dataFlags{memory: bench.Pinned.String(), seed: f.seed}, iterations: f.iterations, sample: f.sample, json: f.json,
	}
	b, err := base.config(cmd, args)
	if err != nil {
		return c, err
	}
	if err := checkCompared(b.Workloads); err != nil {
		return c, err
	}
	c.Open, c.Workloads, c.Sizes = b.Open, b.Workloads, b.Sizes
	c.Strategies, c.Backends, c.Iterations = withSerial(b.Strategies), b.Backends, b.Iterations
	c.Sample, c.Seed = b.Sample, b.Seed
	if c.Memory, err = pickMemory(f.memory, c.Open); err != nil {
		return c, err
	}
	if c.Threads, err = pickThreads(f.threads); err != nil {
		return c, err
	}
	if f.rounds < 0 {
		return c, usagef("--rounds %d: 1 or more, or 0 for the default", f.rounds)
	}
	if err := f.checkRatio(); err != nil {
		return c, err
	}
	if err := f.burstOf(&c); err != nil {
		return c, err
	}
	for _, w := range c.Workloads {
		if c.Usual && w.Loops {
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: without the rows of rename, which cannot replace buffers in loops and branches\n", w.Name)
		}
	}
	if err := f.checkPublished(); err != nil {
		return c, err
	}
	if c.Rounds = f.rounds; c.Rounds == 0 {
		c.Rounds = defaultRounds(f.device)
	}
	c.Programs = f.programs()
	if f.published != "" {
		if err := publishedOf(f.device, &c); err != nil {
			return c, usageError{fmt.Errorf("--published: %w", err)}
		}
	}
	if i := slices.IndexFunc(c.Workloads, func(w *bench.Workload) bool { return w.Saved }); i >= 0 && (f.plot != "" || f.published != "") {
		return c, savedHasNoCPP(c.Workloads[i].Name)
	}
	if f.plot != "" {
		err = figure.Folder(f.plot) // before the measurement, which takes minutes
	}
	return c, err
}

// savedHasNoCPP returns the error for a saved program where versions in C++ are needed.
func savedHasNoCPP(name string) error {
	return usagef("--plot and --published compare with versions in C++, and %s is a saved program that has none: leave one of them out", name)
}

// usualOptions are the additional rows: what the optimizer does and no version in C++.
var usualOptions = []string{"merge", "priorities", "unroll(4)", "unroll(4),rename(4)", "unroll(4),rename(4),merge,priorities"}

// burstOf sets the burst and its additional rows.
func (f *compareFlags) burstOf(c *compare.Config) error {
	if f.burst < 0 {
		return usagef("--burst %d: 1 or more, or 0 for none", f.burst)
	}
	if !(f.minGain >= 0) {
		return usagef("--min-throughput %g: above 0, or 0 for none", f.minGain)
	}
	if c.Burst = f.burst; c.Burst == 0 {
		return nil
	}
	c.Usual = slices.Equal(f.also, usualOptions)
	for _, also := range f.also {
		passes, err := distinct("also", strings.Split(also, ","))
		if err != nil {
			return err
		}
		if err := (optimizer.Options{Also: passes}).Check(); err != nil {
			return usageError{err}
		}
		if k := unrolledBy(passes); f.burst%k != 0 {
			return usagef("--burst %d: no multiple of the %d replays that --also '%s' submits at once", f.burst, k, also)
		}
		c.Options = append(c.Options, passes)
	}
	return nil
}

// unrolledBy returns the number of replays of a plan with optional passes.
func unrolledBy(passes []string) int {
	for _, pass := range passes {
		var k int
		if n, _ := fmt.Sscanf(pass, "unroll(%d)", &k); n == 1 {
			return k
		}
	}
	return 1
}

func (f *compareFlags) checkRatio() error {
	if !(f.maxRatio >= 0) {
		return usagef("--max-ratio %g: above 0, or 0 for none", f.maxRatio)
	}
	return nil
}

// checkPublished returns an error if --published cannot be written after the measurement.
func (f *compareFlags) checkPublished() error {
	switch {
	case f.published == "":
		return nil
	case f.published != "-":
		return checkWritable(f.published)
	case f.json == "-":
		return usagef("--json and --published cannot both write to standard output: name a file for one")
	}
	return nil
}

// publishedOf returns an error if the published figures cover no part of a run. It is called before the measurement,
// which takes minutes.
func publishedOf(device string, c *compare.Config) (none error) {
	if err := published.Covers(device); err != nil {
		return err
	}
	for _, w := range c.Workloads {
		for _, size := range w.SizesOf(c.Sizes) {
			err := published.CoversSize(w.Name, size)
			if err == nil {
				return nil
			}
			none = cmp.Or(none, err)
		}
	}
	return none
}

// defaultRounds returns 3 rounds for a GPU, the fewest with a median that ignores an outlier, and 1 for a simulated
// device, whose virtual time does not vary.
func defaultRounds(device string) int {
	if _, ok := devices.Ordinal(device); ok {
		return 3
	}
	return 1
}

// withSerial puts serial first, the strategy that the others are compared with.
func withSerial(strategies []string) []string {
	const serial = "serial"
	rest := slices.DeleteFunc(slices.Clone(strategies), func(s string) bool { return s == serial })
	return append([]string{serial}, rest...)
}

// pickMemory parses --memory. A mode that the device does not support is refused here, before the measurement. The word
// all selects the supported modes.
func pickMemory(words []string, open func() (device.Device, error)) (modes []bench.Memory, err error) {
	names, err := distinct("memory", words)
	if err != nil {
		return nil, err
	}
	all := slices.Contains(names, "all")
	if all {
		names = []string{bench.Pinned.String(), bench.Prefetch.String(), bench.Managed.String()}
	}
	for _, name := range names {
		m, err := bench.ParseMemory(name)
		if err != nil {
			return nil, usagef("%w, or all", err)
		}
		modes = append(modes, m)
	}
	if !slices.Contains(modes, bench.Prefetch) {
		return modes, nil // every device supports the other modes
	}
	dev, err := open()
	if err != nil {
		return nil, err
	}
	info := dev.Info()
	if err := dev.Close(); err != nil {
		return nil, err
	}
	lacks := func(m bench.Memory) bool { return m.Fits(info) != nil }
	if i := slices.IndexFunc(modes, lacks); i >= 0 && !all {
		return nil, usagef("--memory %v: %w", modes[i], modes[i].Fits(info))
	}
	return slices.DeleteFunc(modes, lacks), nil
}

// pickThreads parses --threads. In the result, 0 stands for each workload's own block size.
func pickThreads(words []string) (list []int, err error) {
	if words == nil {
		return []int{0}, nil
	}
	names, err := distinct("threads", words)
	if err != nil || slices.Contains(names, "all") {
		return []int{32, 128, 256, 1024}, err
	}
	for _, name := range names {
		n, err := strconv.Atoi(name)
		if err != nil {
			return nil, usagef("--threads %s: a block size is a number", name)
		}
		if err := bench.CheckThreads(n); err != nil {
			return nil, usagef("--threads: %w", err)
		}
		list = append(list, n)
	}
	return list, nil
}

// programs returns the folder of the C++ programs, and the environment in which they find the same driver as this
// process: libcudasim for a simulated device. For a GPU the environment is left unchanged.
func (f *compareFlags) programs() compare.Programs {
	p := compare.Programs{Dir: f.baseline}
	if p.Dir == "" {
		p.Dir = built("baseline")
	}
	library := f.library
	if library == "" {
		library = built("libcudasim.so")
	}
	if n, ok := devices.Ordinal(f.device); ok {
		p.Ordinal = n
		if os.Getenv("REPRISE_LIBCUDA") != "sim" { // "sim" is built into this program, but not into those in C++
			return p
		}
	} else {
		_, profile, _ := strings.Cut(f.device, ":")
		if profile == "" {
			profile = strings.TrimPrefix(defaultDevice, "sim:")
		}
		p.Env = []string{"REPRISE_SIM=" + profile}
	}
	if absolute, err := filepath.Abs(library); err == nil {
		library = absolute // the dynamic linker would search for a name without a slash in the system's folders
	}
	p.Library = library
	return p
}

// built returns the path of the output of a make target: ../build/name relative to the executable if that exists, or
// else build/name in the working directory.
func built(name string) string {
	here := filepath.Join("build", name)
	if exe, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(exe), "..", "build", name)
		if _, err := os.Stat(beside); err == nil {
			return beside
		}
	}
	return here
}
