package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/wrap"
	"github.com/reprise-gpu/reprise/solver"
	"github.com/reprise-gpu/reprise/solver/sparse"
)

// aSystem writes a system whose solution is (1, 2).
func aSystem(t *testing.T) (matrix, rhs string) {
	t.Helper()
	dir := t.TempDir()
	matrix, rhs = filepath.Join(dir, "a.mtx"), filepath.Join(dir, "b.mtx")
	require.NoError(t, os.WriteFile(matrix, []byte("%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 4\n2 1 -1\n2 2 4\n"), 0o644))
	require.NoError(t, os.WriteFile(rhs, []byte("%%MatrixMarket matrix array integer general\n2 1\n2\n7\n"), 0o644))
	return matrix, rhs
}

func TestSolve(t *testing.T) {
	matrix, rhs := aSystem(t)
	dir := t.TempDir()
	out, rows := filepath.Join(dir, "x.mtx"), filepath.Join(dir, "rows.json")
	stdout, stderr, status := reprise("solve", "--matrix", matrix, "--rhs", rhs, "--race", "--out", out, "--json", rows, "--plot", dir)
	require.Zero(t, status, stderr)
	assert.Contains(t, stdout, "2 unknowns, 4 entries, double precision, sim:h200, simulated: virtual time\n")
	assert.Equal(t, 2+len(solver.Modes())+2, strings.Count(stdout, "\n"), "a line each for what auto found, and why the loop was lowered as it was")
	assert.Contains(t, stdout, "\ncg auto: 84 of 96 launches in 14 replays\n")

	x, err := sparse.ReadFile(out)
	require.NoError(t, err)
	got := make([]float64, x.Rows)
	x.Mul(got, []float64{1})
	assert.InDeltaSlice(t, []float64{1, 2}, got, 1e-12)
	var records []solveRow
	text, err := os.ReadFile(rows)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &records))
	require.Len(t, records, len(solver.Modes()))
	for i, mode := range []string{"eager", "streams", "graph"} {
		assert.Equal(t, mode, records[i].Mode)
		assert.Equal(t, 2, records[i].Iterations)
		assert.Len(t, records[i].History, 3)
		assert.Positive(t, records[i].SpeedupOverEager)
	}
	stdout, stderr, status = reprise("solve", "--matrix", matrix, "--rhs", rhs, "--x0", out, "--mode", "graph")
	require.Zero(t, status, stderr)
	assert.Regexp(t, `cg +graph +0 `, stdout, "from the solution nothing is to be done")
	for _, figure := range []string{"residual.svg", "residual.png"} {
		assert.FileExists(t, filepath.Join(dir, figure))
	}
}

func TestSolveThatFails(t *testing.T) {
	matrix, rhs := aSystem(t)
	stdout, stderr, status := reprise("solve", "--matrix", matrix, "--rhs", rhs, "--max-iterations", "1", "--json", "-", "--mode", "graph")
	assert.Equal(t, exitInput, status)
	// By hand: α = 53/184, r = (2-α, 7-26α), ‖r‖/√53 = 0.2446.
	assert.Equal(t, "reprise: cg did not converge: the relative residual is 0.245 after 1 iterations, not 1e-08: allow more iterations, or use a preconditioner or another method\n", stderr)
	var records []solveRow
	require.NoError(t, json.Unmarshal([]byte(stdout), &records), "what there is, all the same")
	require.Len(t, records, 1)
	assert.Contains(t, records[0].Error, "did not converge")

	// JSON cannot represent infinity.
	huge := filepath.Join(t.TempDir(), "huge.mtx")
	require.NoError(t, os.WriteFile(huge, []byte("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1e-310\n"), 0o644))
	stdout, stderr, status = reprise("solve", "--matrix", huge, "--json", "-", "--mode", "eager")
	assert.Equal(t, exitInput, status)
	assert.Contains(t, stderr, "x[0] is no finite number any more")
	assert.True(t, json.Valid([]byte(stdout)))
}

// TestSolveByEveryMethod expects results of the other methods if one cannot solve the system.
func TestSolveByEveryMethod(t *testing.T) {
	stdout, stderr, status := reprise("solve", "--matrix", "convection:4", "--method", "all", "--mode", "graph", "--max-iterations", "500", "--tolerance", "1e-6")
	assert.Equal(t, exitInput, status)
	for _, why := range []string{"cg takes symmetric matrices", "chebyshev takes symmetric matrices", "the weight of a link is not negative"} {
		assert.Equal(t, 1, strings.Count(stderr, why), why)
	}
	lines := strings.Split(strings.TrimSpace(stdout), "\n")[2:]
	require.Len(t, lines, len(solver.Methods()))
	for i, m := range solver.Methods() {
		want := "ok"
		switch m.Name {
		case "cg", "chebyshev", "pagerank": // symmetric, and without negative weights
			want = "FAILED"
		}
		fields := strings.Fields(lines[i])
		assert.Equal(t, []string{m.Name, want}, []string{fields[0], fields[len(fields)-1]})
	}
}

func TestSolveSampled(t *testing.T) {
	stdout, stderr, status := reprise("solve", "--matrix", "poisson2d:64", "--sample", "2", "--max-iterations", "5", "--method", "cg,heat", "--mode", "eager,graph", "--json", "-")
	require.Zero(t, status, stderr)
	var records []solveRow
	require.NoError(t, json.Unmarshal([]byte(stdout), &records))
	require.Len(t, records, 4)
	for _, r := range records {
		assert.Empty(t, r.History)
		assert.Positive(t, r.TimePerIteration)
	}
	stdout, _, status = reprise("solve", "--matrix", "poisson2d:64", "--sample", "2", "--max-iterations", "5", "--mode", "graph")
	require.Zero(t, status)
	assert.Contains(t, stdout, "sampled\n")
	_, stderr, status = reprise("solve", "--matrix", "poisson2d:4", "--sample", "2", "--plot", t.TempDir())
	assert.Equal(t, exitUsage, status)
	assert.Contains(t, stderr, "leave out --out and --plot")
}

// TestSolveProfile expects each kernel's use of the memory bandwidth. The second stage of a sum is a single block.
func TestSolveProfile(t *testing.T) {
	stdout, stderr, status := reprise("solve", "--matrix", "poisson2d:512", "--sample", "4", "--profile", "--json", "-")
	require.Zero(t, status, stderr)
	var rows []bench.KernelProfile
	require.NoError(t, json.Unmarshal([]byte(stdout), &rows))
	var kernels []string
	for _, r := range rows {
		kernels = append(kernels, r.Kernel)
		assert.Equal(t, profiled, r.Launches, r.Kernel)
		if one := r.Kernel == "cg_alpha" || r.Kernel == "cg_beta"; one {
			assert.Equal(t, [3]uint32{1, 1, 1}, r.Grid, r.Kernel)
		}
	}
	assert.Equal(t, []string{"xpay", "spmv_dot", "cg_alpha", "minus_norm", "axpy", "cg_beta"}, kernels)
	assert.Equal(t, "bandwidth", rows[1].Cause, "of a product, whose entries are read once each")
	assert.Greater(t, rows[1].L2Bytes, 512*512*(5*(8+4)+4+8+8)*0.99)
}

func TestSolveLowersALoopAsAsked(t *testing.T) {
	out, stderr, status := reprise("solve", "--matrix", "poisson2d:6", "--mode", "loop")
	require.Zero(t, status, stderr)
	assert.Regexp(t, `cg loop: lowering (host|unrolled|while), expected overhead of \d+ iterations: host `, out)
	out, stderr, status = reprise("solve", "--matrix", "poisson2d:6", "--mode", "loop", "--lowering", "unrolled", "--batch", "4", "--json", "-")
	require.Zero(t, status, stderr)
	assert.Contains(t, out, `"lowering": "unrolled"`)
	_, stderr, status = reprise("solve", "--matrix", "poisson2d:6", "--lowering", "device")
	assert.Equal(t, 2, status)
	assert.Contains(t, stderr, `--lowering: unknown lowering "device": use auto, host, unrolled or while`)
}

// TestALoopIsNotSlowedByBeingWatched solves in few iterations, from which a loop gains nothing: it must take as long as
// replays of a graph.
func TestALoopIsNotSlowedByBeingWatched(t *testing.T) {
	stdout, stderr, status := reprise("solve", "--matrix", "poisson2d:12", "--mode", "graph,loop", "--json", "-")
	require.Zero(t, status, stderr)
	var rows []solveRow
	require.NoError(t, json.Unmarshal([]byte(stdout), &rows))
	assert.InEpsilon(t, float64(rows[0].Time), float64(rows[1].Time), 0.005)
}

// TestAnInterruptedSolvePrintsHowFarItCame interrupts a solve at its first look at the residual, in each mode.
func TestAnInterruptedSolvePrintsHowFarItCame(t *testing.T) {
	for _, mode := range solver.Modes() {
		f := solveFlags{device: defaultDevice, matrix: "poisson2d:12", rhs: "ones", methods: []string{"jacobi"}, modes: []string{mode.String(), "graph"},
			precision: "double", preconditioner: "none", lowering: "host", options: solver.Options{CheckEvery: 4}}
		s, err := f.parse()
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		s.open = func() (device.Device, error) {
			dev, err := sim.New(sim.Options{})
			return wrap.Faults(dev, func(n int, method string) device.Code {
				if n == 400 {
					cancel()
				}
				return 0
			}), err
		}
		rows, x, err := s.run(ctx, newProgress(io.Discard, ""))
		require.ErrorIs(t, err, context.Canceled)
		require.Len(t, rows, 1)
		assert.True(t, rows[0].stopped(), "%v", mode)
		assert.Positive(t, rows[0].Iterations, "%v", mode)
		assert.Len(t, x, 144)
		var out bytes.Buffer
		require.NoError(t, writeSolves(&out, rows))
		assert.Regexp(t, `\njacobi +`+mode.String()+` .* stopped\n`, out.String())
	}
}

func TestWriteVector(t *testing.T) {
	want := []float64{0.1, -1e300, 0, math.Pi}
	path := filepath.Join(t.TempDir(), "x.mtx")
	require.NoError(t, writeVector(path, want))
	a, err := sparse.ReadFile(path)
	require.NoError(t, err)
	got := make([]float64, a.Rows)
	a.Mul(got, []float64{1})
	assert.Equal(t, want, got)
}

func TestGeneratedMatricesDifferFromFiles(t *testing.T) {
	assert.True(t, generated("poisson2d:64"))
	assert.True(t, generated("links:"))
	for _, file := range []string{"poisson2d", "a/b.mtx", "d:64", ":", "c:a.mtx"} {
		assert.False(t, generated(file), file)
	}
}

// A range of seeds is solved at the same time, and the row is that of the system that ends last.
func TestSolveForSeveralRightHandSides(t *testing.T) {
	stdout, stderr, status := reprise("solve", "--matrix", "poisson2d:5", "--rhs", "random:1..3", "--mode", "graph,streams,loop", "--also", "merge", "--json", "-")
	require.Zero(t, status, stderr)
	var rows []solveRow
	require.NoError(t, json.Unmarshal([]byte(stdout), &rows))
	require.Len(t, rows, 3)
	iterations := 0
	for seed := range 3 {
		alone, _, status := reprise("solve", "--matrix", "poisson2d:5", "--rhs", fmt.Sprint("random:", seed+1), "--mode", "graph", "--json", "-")
		require.Zero(t, status)
		var one []solveRow
		require.NoError(t, json.Unmarshal([]byte(alone), &one))
		assert.Zero(t, one[0].Systems)
		iterations = max(iterations, one[0].Iterations)
	}
	for _, row := range rows {
		assert.Equal(t, 3, row.Systems)
		assert.Equal(t, iterations, row.Iterations)
	}
	stdout, _, _ = reprise("solve", "--matrix", "poisson2d:5", "--rhs", "random:1..3", "--mode", "graph")
	assert.Contains(t, stdout, "3 right-hand sides at the same time, 25 unknowns")
	stdout, _, _ = reprise("solve", "--matrix", "poisson2d:5", "--rhs", "random:2..2", "--mode", "graph")
	assert.NotContains(t, stdout, "at the same time")
	for _, c := range []struct{ args, want string }{
		{"--rhs random:3..1", "--rhs random:3..1: a range of seeds is FIRST..LAST, with up to 1024 whole numbers from 0"},
		{"--rhs random:0..1024", "--rhs random:0..1024: a range of seeds is FIRST..LAST"},
		{"--rhs random:1..2 --out x.mtx", "--rhs random:1..2: --profile, --out and --plot are for one right-hand side"},
		{"--also nonsense", `unknown pass "nonsense"`},
	} {
		_, stderr, status := reprise(append([]string{"solve", "--matrix", "poisson2d:5"}, strings.Fields(c.args)...)...)
		assert.NotZero(t, status, c.args)
		assert.Contains(t, stderr, c.want)
	}
}

// The devices of a machine share the iterations, and end at that of one device with the same solution.
func TestSolveOnMachine(t *testing.T) {
	dir := t.TempDir()
	solved := func(args ...string) (string, []solveRow) {
		t.Helper()
		out, rows := filepath.Join(dir, "x.mtx"), filepath.Join(dir, "rows.json")
		_, stderr, status := reprise(append([]string{"solve", "--matrix", "poisson2d:24", "--tolerance", "1e-2", "--out", out, "--json", rows}, args...)...)
		require.Zero(t, status, stderr)
		var records []solveRow
		text, err := os.ReadFile(rows)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &records))
		x, err := os.ReadFile(out)
		require.NoError(t, err)
		return string(x), records
	}
	x, alone := solved("--mode", "graph")
	shared, rows := solved("--machine", "2x2")
	assert.Equal(t, x, shared)
	require.Len(t, rows, 2)
	for i, mode := range []string{"streams", "graph"} {
		assert.Equal(t, mode, rows[i].Mode)
		assert.Equal(t, "2x2", rows[i].Device)
		assert.True(t, rows[i].Simulated)
		assert.Equal(t, alone[0].History, rows[i].History)
		assert.Positive(t, rows[i].TimePerIteration)
	}
	for want, args := range map[string][]string{
		"no machine is called":                                           {"--machine", "h300-4"},
		"--sample is for one device":                                     {"--machine", "h200-4", "--sample", "4"},
		"--device is for one device":                                     {"--machine", "h200-4", "--device", "sim:h200"},
		"--machine is for one right":                                     {"--machine", "h200-4", "--rhs", "random:1..2"},
		"option Mode is loop: use graph or streams":                      {"--machine", "h200-4", "--mode", "loop"},
		"method gauss-seidel: several devices cannot share an iteration": {"--machine", "h200-4", "--method", "gauss-seidel"},
	} {
		_, stderr, status := reprise(append([]string{"solve", "--matrix", "poisson2d:24"}, args...)...)
		assert.NotZero(t, status, args)
		assert.Contains(t, stderr, want)
	}
}
