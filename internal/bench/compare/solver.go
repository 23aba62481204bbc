package compare

import (
	"context"
	"fmt"
	"strconv"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec/loop"
	"github.com/reprise-gpu/reprise/solver"
	"github.com/reprise-gpu/reprise/solver/sparse"
)

// SolverConfig selects the comparisons of conjugate gradients, for Poisson's equation on squares.
type SolverConfig struct {
	Open          func() (device.Device, error)
	Sides         []int // points per side of a square
	CheckEvery    []int // iterations between two checks of the host, and per batch of the device's own loop
	MaxIterations int
	Sample        int64 // as for bench.Config; if not 0, iterations are timed and nothing is solved
	Programs      Programs

	// Progress is called after each way with the numbers of finished and of all ways.
	Progress func(what string, done, total int)
}

// solverProgram is the C++ counterpart of package solver.
const solverProgram = "solver/cg"

// ways lists the compared modes. peer is the C++ version that does the same, if there is one.
var ways = []struct {
	name, peer string
	mode       solver.Mode
	lowering   loop.Lowering
}{
	{name: "eager", mode: solver.Eager},
	{name: "streams", mode: solver.Streams},
	{name: "graph", mode: solver.Graph, peer: "c++ graph"},
	{name: "loop", mode: solver.Loop},
	{name: "while", mode: solver.Loop, lowering: loop.WhileNode, peer: "c++ while"},
	{name: "auto", mode: solver.Auto},
}

// Settings returns the number of comparisons of a complete run.
func (c *SolverConfig) Settings() int { return len(c.Sides) * len(c.CheckEvery) }

// RunSolver makes every comparison. An error means that the run could not continue; the comparisons so far are
// returned with it.
func RunSolver(ctx context.Context, c SolverConfig) (all []SolverComparison, err error) {
	if err := c.Programs.find(solverProgram); err != nil {
		return nil, err
	}
	done := 0
	finished := func(name string) {
		if done++; c.Progress != nil {
			c.Progress(name, done, c.Settings()*(len(ways)+2))
		}
	}
	for _, side := range c.Sides {
		for _, every := range c.CheckEvery {
			one, err := c.compare(ctx, side, every, finished)
			if err != nil {
				return all, fmt.Errorf("cg on poisson2d:%d, a check every %d: %w", side, every, err)
			}
			all = append(all, *one)
		}
	}
	return all, nil
}

func (c *SolverConfig) compare(ctx context.Context, side, every int, finished func(name string)) (*SolverComparison, error) {
	a, err := sparse.Generate(fmt.Sprintf("poisson2d:%d", side))
	if err != nil {
		return nil, err
	}
	s := &SolverComparison{Method: solver.CG.Name, Side: side, Unknowns: a.Rows, CheckEvery: every, Sample: c.Sample}
	b := make([]float64, a.Rows)
	for i := range b {
		b[i] = 1
	}
	for _, w := range ways {
		o := solver.Options{Mode: w.mode, MaxIterations: c.MaxIterations, CheckEvery: every, Lowering: w.lowering, Sampled: c.Sample > 0}
		if w.lowering == loop.WhileNode {
			o.Batch = every
		}
		r, err := c.solve(ctx, a, b, o)
		if device.CodeOf(err) == device.NotSupported && w.lowering == loop.WhileNode {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", w.name, err)
		}
		s.Device, s.Simulated = r.Device, r.Simulated
		s.Rows = append(s.Rows, SolverRow{Name: w.name, Peer: w.peer, Language: "go", Solved: Solved{r.Iterations, r.Residual, r.TrueResidual, r.Time}})
		finished(w.name)
	}
	records, err := call(ctx, &c.Programs, solverProgram, c.flags(s), func(r *solverRecord) { finished(r.name()) })
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		if r.Device != s.Device {
			return nil, fmt.Errorf("not the same device: the C++ program ran on %s, and this one on %s", r.Device, s.Device)
		}
		s.Rows = append(s.Rows, SolverRow{Name: r.name(), Language: "c++", Solved: r.Solved})
	}
	return s, s.relate()
}

// solve measures a solution; on a GPU after another one to warm up, as in the C++ program. A simulated device needs
// no warm-up and would get other addresses, which affect its times a little. The context cannot be cancelled, because
// that would cost the device's own loop some round trips, and the C++ versions cannot be cancelled either.
func (c *SolverConfig) solve(ctx context.Context, a *sparse.CSR, b []float64, o solver.Options) (r solver.Result, err error) {
	if err := ctx.Err(); err != nil {
		return r, err
	}
	dev, err := c.Open()
	if err != nil {
		return r, err
	}
	defer func() { err = device.Join(err, dev.Close()) }()
	ctx = context.WithoutCancel(ctx)
	if !dev.Info().Simulated {
		if _, r, err = solver.Solve(ctx, dev, a, b, o); err != nil {
			return r, err
		}
	}
	_, r, err = solver.Solve(ctx, dev, a, b, o)
	return r, err
}

// flags returns the flags of the C++ program for a comparison. It runs the versions with a peer.
func (c *SolverConfig) flags(s *SolverComparison) []string {
	version := "all"
	if s.Row("while") == nil {
		version = "graph"
	}
	return []string{
		"--size", strconv.Itoa(s.Side),
		"--check-every", strconv.Itoa(s.CheckEvery),
		"--max-iterations", strconv.Itoa(c.MaxIterations),
		"--sample", strconv.FormatInt(c.Sample, 10),
		"--version", version,
		"--device", strconv.Itoa(c.Programs.Ordinal),
	}
}

// solverRecord is the output of the C++ program.
type solverRecord struct {
	Method     string `json:"method"`
	Version    string `json:"version"`
	Device     string `json:"device"`
	Simulated  bool   `json:"simulated"`
	Size       int    `json:"size"`
	CheckEvery int    `json:"check_every"`
	Sample     int64  `json:"sample"`
	Solved
}

func (r *solverRecord) name() string { return "c++ " + r.Version }
