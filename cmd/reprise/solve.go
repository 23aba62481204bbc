package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec/loop"
	"github.com/reprise-gpu/reprise/internal/bench/figure"
	"github.com/reprise-gpu/reprise/internal/phrase"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/solver"
	"github.com/reprise-gpu/reprise/solver/sparse"
)

// solveFlags are the flags of solve as given.
type solveFlags struct {
	device         string
	machine        string
	matrix         string
	rhs, x0        string
	methods, modes []string
	precision      string
	preconditioner string
	lowering       string
	options        solver.Options // those that are numbers
	sample         int64
	race           bool
	profile        bool
	json           string
	plot           string
	out            string
}

func newSolve() *cobra.Command {
	var f solveFlags
	c := &cobra.Command{
		Use:   "solve --matrix MATRIX",
		Short: "Solve a sparse linear system in every mode, and compare the times",
		Long: `Solve solves Ax = b by an iterative method on a device, once in each mode:

  eager    each iteration is launched call by call
  streams  one iteration is traced, planned, and replayed over streams
  graph    the same, replayed as a graph
  loop     the same, repeated by a loop that involves the host as little as possible
  auto     calls are launched one by one until a repetition is detected, and then replayed

All modes do the same arithmetic and stop at the same iteration. Times are from the first
iteration to the last check of the residual, without loading and planning.

With --machine, the devices of a simulated machine share each iteration, in the modes graph
and streams. Under mpirun, each process is one rank of the machine.

  residual        relative to b, as the method updates it
  true residual   residual of the solution, computed on the CPU in double precision
  speedup         of an iteration over an eager one

A matrix is a Matrix Market file, plain or gzipped, or one of these generators:
` + sparse.Generators() + `
Methods:
` + methodHelp(),
		Example: `  reprise solve --matrix poisson2d:64
  reprise solve --matrix bcsstk01.mtx.gz --preconditioner jacobi --mode graph --out x.mtx
  reprise solve --matrix spd:1000 --rhs random:7 --json solve.json --plot figures
  reprise solve --matrix poisson2d:64 --machine h200-4`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.run(c) },
	}
	flags := c.Flags()
	flags.StringVar(&f.device, "device", defaultDevice, "device to run on; see reprise devices")
	flags.StringVar(&f.machine, "machine", "", "name or file of a machine whose devices share the iterations, instead of one device; see docs/MACHINE.md")
	flags.StringVar(&f.matrix, "matrix", "", "the matrix: a file, or a generator such as poisson2d:64")
	flags.StringVar(&f.rhs, "rhs", "ones", "the right-hand side: ones, random:SEED, or a Matrix Market file of one column; random:FIRST..LAST solves for several at the same time")
	flags.StringVar(&f.x0, "x0", "", "start vector, in the forms of --rhs (default: zeros; for eigenvectors and ranks the right-hand side)")
	flags.StringSliceVar(&f.methods, "method", []string{solver.CG.Name}, "methods, or all")
	flags.StringSliceVar(&f.modes, "mode", []string{"all"}, "modes, or all: eager, streams, graph, loop, auto")
	flags.StringVar(&f.precision, "precision", solver.Double.String(), "precision on the device: double or single")
	flags.StringVar(&f.preconditioner, "preconditioner", solver.None.String(), "none, or jacobi: the inverse of the diagonal")
	flags.Float64Var(&f.options.Tolerance, "tolerance", 0, "relative residual to stop at (default 1e-8, in single precision 1e-4)")
	flags.IntVar(&f.options.MaxIterations, "max-iterations", 10_000, "maximum number of iterations")
	flags.IntVar(&f.options.CheckEvery, "check-every", 16, "iterations between two checks of the residual by the host")
	flags.StringVar(&f.lowering, "lowering", loop.Auto.String(), "in mode loop, where the condition is evaluated: host, unrolled, while or auto")
	flags.IntVar(&f.options.Batch, "batch", 0, "in mode loop, iterations per graph: a divisor of --check-every or, unrolled, a multiple (default: the number that is expected to be quickest)")
	flags.IntVar(&f.options.Lanes, "lanes", 0, "threads that share a row of the matrix, a power of two up to 32 (default: by the length of rows)")
	flags.IntVar(&f.options.Restart, "restart", 30, "iterations between two restarts of gmres")
	flags.Float64Var(&f.options.Damping, "damping", 0.85, "for pagerank, the probability of following a link")
	flags.Float64Var(&f.options.Step, "step", 0, "time step of heat and wave (default: at most half the greatest stable step)")
	flags.StringVar(&f.options.Strategy, "strategy", "auto", "strategy of replays; see reprise opt")
	flags.StringSliceVar(&f.options.Also, "also", nil, "also run these optional passes, such as merge")
	flags.Int64Var(&f.sample, "sample", 0, "run about this many blocks of each launch and scale the counts, for large systems: --max-iterations are timed, and nothing is solved")
	raceFlag(c, &f.race)
	flags.BoolVar(&f.profile, "profile", false, "do not solve: run some iterations of each method serially, and print instructions, bytes and time of each kernel; see reprise kernel profile")
	flags.StringVar(&f.json, "json", "", "also write the rows, with all residuals, to `FILE` as a JSON array (- for standard output)")
	flags.StringVar(&f.plot, "plot", "", "also draw the residuals into `DIR`, as SVG and PNG")
	flags.StringVar(&f.out, "out", "", "also write the solution of the last row to `FILE`, as a Matrix Market array")
	return c
}

func methodHelp() string {
	var b strings.Builder
	for _, m := range solver.Methods() {
		fmt.Fprintf(&b, "  %-12s %s\n", m.Name, m.Doc)
	}
	return strings.TrimRight(b.String(), "\n")
}

// solves is a parsed command line.
type solves struct {
	a       *sparse.CSR
	b       [][]float64 // solved at the same time
	methods []solver.Method
	modes   []solver.Mode
	options solver.Options
	open    func() (device.Device, error)
	machine string // whose devices share the iterations; "" for one device
	quiet   bool   // another process reports the rows
}

func (f *solveFlags) run(c *cobra.Command) error {
	if err := f.checkZeros(c.Flags()); err != nil {
		return err
	}
	s, err := f.parse()
	if err != nil {
		return err
	}
	if err := f.checkMachine(s, c.Flags()); err != nil {
		return err
	}
	if err := s.checkLoop(c.Flags()); err != nil {
		return err
	}
	for _, path := range []string{f.json, f.out} {
		if path != "" && path != "-" {
			if err := checkWritable(path); err != nil {
				return err
			}
		}
	}
	if f.plot != "" {
		if err := figure.Folder(f.plot); err != nil {
			return err
		}
	}
	ctx, stop := interruptible(c.Context())
	defer stop()
	if f.profile {
		return s.profile(ctx, c.OutOrStdout(), f.json)
	}
	bar := newProgress(c.ErrOrStderr(), "iterations at most")
	rows, x, err := s.run(ctx, bar)
	bar.finish()
	if s.quiet {
		return err
	}
	whole := len(rows)
	if whole > 0 && rows[whole-1].stopped() {
		whole--
	}
	return f.report(c, rows, x, withProgress(err, "after %d of %d rows", whole, len(s.methods)*len(s.modes)))
}

// checkZeros refuses an explicit 0 for options in which the solver replaces 0 by a default.
func (f *solveFlags) checkZeros(flags *pflag.FlagSet) error {
	for _, name := range []string{"tolerance", "max-iterations", "check-every", "restart", "damping", "step"} {
		flag := flags.Lookup(name)
		if v, err := strconv.ParseFloat(flag.Value.String(), 64); flag.Changed && err == nil && v == 0 {
			return usagef("--%s 0: the value must be above 0", name)
		}
	}
	return nil
}

// checkLoop refuses flags of mode loop if that mode is not selected.
func (s *solves) checkLoop(flags *pflag.FlagSet) error {
	if slices.Contains(s.modes, solver.Loop) {
		return nil
	}
	for _, name := range []string{"lowering", "batch"} {
		if flag := flags.Lookup(name); flag.Changed {
			return usagef("--%s %v: only mode loop has this flag: add loop to --mode, or leave the flag out", name, flag.Value)
		}
	}
	return nil
}

// optionFlag replaces the names of options in a solver's error by those of flags.
func optionFlag(err error) error {
	var o *solver.OptionError
	if !errors.As(err, &o) {
		return usageError{err}
	}
	return usagef("%s %v: %s", flagOf(o.Option), o.Value, optionName.ReplaceAllStringFunc(o.Want, flagOf))
}

var optionName = regexp.MustCompile(`[A-Z][A-Za-z]+`)

// flagOf returns the flag of an option: --check-every for CheckEvery.
func flagOf(option string) string {
	name := "-"
	for _, c := range option {
		if unicode.IsUpper(c) {
			name += "-"
		}
		name += string(unicode.ToLower(c))
	}
	return name
}

// parse checks the flags, and makes or reads the system.
func (f *solveFlags) parse() (s *solves, err error) {
	s = &solves{options: f.options}
	if s.options.Precision, err = lookup("precision", solver.Double, solver.Single)(f.precision); err != nil {
		return nil, usagef("--precision: %w", err)
	}
	if s.options.Preconditioner, err = lookup("preconditioner", solver.None, solver.Jacobi)(f.preconditioner); err != nil {
		return nil, usagef("--preconditioner: %w", err)
	}
	if s.options.Lowering, err = lookup("lowering", loop.Auto, loop.HostChecked, loop.Unrolled, loop.WhileNode)(f.lowering); err != nil {
		return nil, usagef("--lowering: %w", err)
	}
	if s.methods, err = pick("method", f.methods, solver.Methods(), lookupMethod); err != nil {
		return nil, err
	}
	if s.modes, err = pick("mode", f.modes, solver.Modes(), lookup("mode", solver.Modes()...)); err != nil {
		return nil, err
	}
	if err := s.options.Check(); err != nil {
		return nil, optionFlag(err)
	}
	if err := (optimizer.Options{Strategy: f.options.Strategy, Also: f.options.Also}).Check(); err != nil {
		return nil, usageError{err}
	}
	if err := checkDevice(f.device); err != nil {
		return nil, err
	}
	if err := checkSample(f.sample, f.race); err != nil {
		return nil, err
	}
	if (f.sample > 0 || f.profile) && (f.out != "" || f.plot != "") {
		return nil, usagef("--sample and --profile compute no solution and no residuals: leave out --out and --plot")
	}
	s.options.Sampled = f.sample > 0
	s.open = func() (device.Device, error) {
		return openAny(f.device, sim.Options{Race: raceMode(f.race), Sample: f.sample})
	}
	if f.matrix == "" {
		return nil, usagef("--matrix is missing: name a Matrix Market file or a generator (see reprise solve --help)")
	}
	if s.a, err = readMatrix(f.matrix); err != nil {
		return nil, err
	}
	if s.b, err = readVectors("--rhs", f.rhs, s.a.Rows); err == nil && len(s.b) > 1 && (f.profile || f.out != "" || f.plot != "") {
		return nil, usagef("--rhs %s: --profile, --out and --plot are for one right-hand side", f.rhs)
	}
	if err == nil && f.x0 != "" {
		s.options.X0, err = readVector("--x0", f.x0, s.a.Rows)
	}
	return s, err
}

// lookupMethod returns the method with the given name.
func lookupMethod(name string) (solver.Method, error) {
	all := solver.Methods()
	if i := slices.IndexFunc(all, func(m solver.Method) bool { return m.Name == name }); i >= 0 {
		return all[i], nil
	}
	var names []string
	for _, m := range all {
		names = append(names, m.Name)
	}
	return solver.Method{}, fmt.Errorf("unknown method %q%s; there are %s", name, phrase.DidYouMean(name, names), strings.Join(names, ", "))
}

// generated reports whether a specification names a generator, as opposed to a file. Each line of Generators begins with
// the name of one.
func generated(spec string) bool {
	kind, _, ok := strings.Cut(spec, ":")
	return ok && strings.Contains(sparse.Generators(), "  "+kind+":")
}

func readMatrix(spec string) (*sparse.CSR, error) {
	if !generated(spec) {
		return sparse.ReadFile(spec)
	}
	a, err := sparse.Generate(spec)
	if err != nil {
		return nil, usagef("--matrix %w", err)
	}
	return a, nil
}

// maxVectors bounds the number of right-hand sides of a range.
const maxVectors = 1024

// readVectors returns the vectors of a flag: one for each seed of a range "random:FIRST..LAST", and else the one of
// readVector.
func readVectors(flag, spec string, n int) (all [][]float64, err error) {
	digits, random := strings.CutPrefix(spec, "random:")
	first, last, several := strings.Cut(digits, "..")
	if !random || !several {
		b, err := readVector(flag, spec, n)
		return [][]float64{b}, err
	}
	from, err := strconv.ParseUint(first, 10, 32)
	to, failed := strconv.ParseUint(last, 10, 32)
	if err != nil || failed != nil || from > to || to-from >= maxVectors {
		return nil, usagef("%s %s: a range of seeds is FIRST..LAST, with up to %d whole numbers from 0", flag, spec, maxVectors)
	}
	for seed := from; seed <= to; seed++ {
		b, err := readVector(flag, fmt.Sprintf("random:%d", seed), n)
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

// readVector generates the vector of a flag, or reads it from a file.
func readVector(flag, spec string, n int) ([]float64, error) {
	b := make([]float64, n)
	if spec == "ones" {
		for i := range b {
			b[i] = 1
		}
		return b, nil
	}
	if digits, ok := strings.CutPrefix(spec, "random:"); ok {
		seed, err := strconv.ParseUint(digits, 10, 64)
		if err != nil {
			return nil, usagef("%s %s: a seed is a whole number, 0 or more", flag, spec)
		}
		rng := rand.New(rand.NewPCG(seed, 0))
		for i := range b {
			b[i] = rng.NormFloat64()
		}
		return b, nil
	}
	m, err := sparse.ReadFile(spec)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	if m.Cols != 1 {
		return nil, fmt.Errorf("%s %s: a vector must have one column, and this file has %d", flag, spec, m.Cols)
	}
	x := make([]float64, m.Rows)
	m.Mul(x, []float64{1})
	return x, nil
}

// run solves the system by each method in each mode. An error of a method is stored in its row. Any other error ends
// the run and is returned with the rows so far; after an interrupt these include a row that has iterated.
func (s *solves) run(ctx context.Context, bar *progress) (rows []solveRow, x []float64, err error) {
	for _, m := range s.methods {
		for _, mode := range s.modes {
			o := s.options
			o.Method, o.Mode = m, mode
			if mode != solver.Loop { // there, Observe would add a look at the residual to each iteration
				o.Observe = func(done int, residual float64) {
					bar.update(fmt.Sprintf("%s %v, residual %.1e", m.Name, mode, residual), done, o.MaxIterations)
				}
			}
			row, last, err := s.one(ctx, o)
			if err == nil || row.stopped() {
				rows = append(rows, row)
			}
			if last != nil {
				x = last
			}
			if err != nil {
				return rows, x, err
			}
		}
	}
	return rows, x, nil
}

func (s *solves) one(ctx context.Context, o solver.Options) (row solveRow, x []float64, err error) {
	if s.machine != "" {
		row, x, err = s.onMachine(ctx, o)
	} else {
		row, x, err = s.onDevice(ctx, o)
	}
	switch {
	case err != nil && ofMethod(err):
		row.Error, row.err, err = err.Error(), err, nil
	case errors.Is(err, context.Canceled) && row.Iterations > 0:
		row.Error, row.err = "interrupted", err
	}
	return row, x, err
}

// onDevice solves on a device of its own.
func (s *solves) onDevice(ctx context.Context, o solver.Options) (row solveRow, x []float64, err error) {
	dev, err := s.open()
	if err != nil {
		return row, nil, err
	}
	defer func() { err = device.Join(err, dev.Close()) }()
	if len(s.b) == 1 {
		x, row.Result, err = solver.Solve(ctx, dev, s.a, s.b[0], o)
	} else {
		row.Result, err = s.several(ctx, dev, o)
		row.Systems = len(s.b)
	}
	return row, x, err
}

// several solves for all right-hand sides at the same time, and returns the result with the most iterations.
func (s *solves) several(ctx context.Context, dev device.Device, o solver.Options) (last solver.Result, err error) {
	_, results, err := solver.SolveAll(ctx, dev, []*sparse.CSR{s.a}, s.b, o)
	for i, r := range results {
		if i == 0 || r.Iterations > last.Iterations || r.Iterations == last.Iterations && r.Residual > last.Residual {
			last = r
		}
	}
	return last, err
}

// ofMethod reports whether another method or mode may succeed: the error is not one of the device, of the shape of the
// system, or an interrupt.
func ofMethod(err error) bool {
	return device.CodeOf(err) == 0 && !errors.As(err, new(machineError)) && !errors.Is(err, context.Canceled) && !errors.As(err, new(*solver.ShapeError))
}
