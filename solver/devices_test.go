package solver_test

import (
	"context"
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/internal/ranks"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/transport"
	"github.com/reprise-gpu/reprise/solver"
	"github.com/reprise-gpu/reprise/solver/sparse"
)

// solved is what one rank gets from Solve.
type solved struct {
	x   []float64
	res solver.Result
	err error
}

// onRanks runs a function on each rank of a machine of simulated devices, in one process.
func onRanks(t testing.TB, m *machine.Machine, f func(r *ranks.Rank)) {
	t.Helper()
	transports := transport.Local(len(m.Ranks))
	var all sync.WaitGroup
	for i, tr := range transports {
		all.Go(func() {
			sys := sim.NewSystem()
			var devices []device.Device
			for _, d := range m.Ranks[i].Devices {
				dev, err := sim.New(sim.Options{Custom: d.Profile, On: sys.GPU(d.Memory)})
				assert.NoError(t, err)
				devices = append(devices, dev)
			}
			r, err := ranks.New(m, tr, devices, nil)
			assert.NoError(t, err)
			f(r)
			assert.NoError(t, r.Close())
			for _, d := range devices {
				assert.Zero(t, d.(*sim.Device).Live(), "what is left on the device")
				assert.NoError(t, d.Close())
			}
		})
	}
	all.Wait()
}

// solveOn solves a system on ranks x devices, with the result of each rank.
func solveOn(t testing.TB, nodes, devices int, a *sparse.CSR, b []float64, o solver.Options) []solved {
	t.Helper()
	m, err := machine.Uniform(nodes, devices, "h200")
	require.NoError(t, err)
	results := make([]solved, nodes)
	onRanks(t, m, func(r *ranks.Rank) {
		with, s := o, &results[r.Number()]
		with.Devices = r
		s.x, s.res, s.err = solver.Solve(context.Background(), nil, a, b, with)
	})
	for _, s := range results[1:] {
		assert.Equal(t, results[0].x, s.x, "all ranks have the same solution")
		assert.Equal(t, results[0].res.History, s.res.History)
	}
	return results
}

// requireSame solves a system on one device, and on ranks x devices, and requires the same bits.
func requireSame(t *testing.T, matrix string, o solver.Options, layouts ...[2]int) {
	t.Helper()
	a, err := sparse.Generate(matrix)
	require.NoError(t, err)
	b := make([]float64, a.Rows)
	for i := range b {
		b[i] = 1 + math.Mod(float64(i), 7)/8
	}
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	x, want, failed := solver.Solve(context.Background(), dev, a, b, o)
	require.NotEmpty(t, x, failed)
	require.NoError(t, dev.Close())
	for _, l := range layouts {
		for _, got := range solveOn(t, l[0], l[1], a, b, o) {
			assert.Equal(t, failed, got.err, l)
			assert.Equal(t, want.Iterations, got.res.Iterations, l)
			assert.Equal(t, want.History, got.res.History, l)
			assert.Equal(t, x, got.x, l)
		}
	}
}

// Several devices give the bits of one: the solution, the residuals and the iterations.
func TestDevices(t *testing.T) {
	o := solver.Options{Tolerance: 1e-3, CheckEvery: 7}
	requireSame(t, "poisson2d:33", o, [2]int{1, 1}, [2]int{1, 3}, [2]int{1, 4}, [2]int{4, 1}, [2]int{2, 2})
	o.Preconditioner, o.Mode = solver.Jacobi, solver.Streams
	requireSame(t, "spd:300", o, [2]int{2, 2})
}

// Each method has the same iterates on several devices.
func TestMethodsOnDevices(t *testing.T) {
	few := func(m solver.Method) solver.Options { return solver.Options{Method: m, MaxIterations: 4} }
	single := few(solver.CG)
	single.Precision = solver.Single
	requireSame(t, "poisson3d:10", single, [2]int{2, 2})
	for _, m := range []solver.Method{solver.Chebyshev, solver.JacobiIteration, solver.Power, solver.Heat, solver.Wave, solver.BiCGSTAB} {
		requireSame(t, "poisson2d:24", few(m), [2]int{2, 2})
	}
	for _, m := range []solver.Method{solver.PageRank, solver.HITS} { // with a row that is much longer than the others
		requireSame(t, "links:600", few(m), [2]int{2, 2})
	}
}

// With more rows than threads can share at a time, the sums are grouped in another way than on one device.
func TestManyRowsOnDevices(t *testing.T) {
	a, err := sparse.Generate("poisson2d:92")
	require.NoError(t, err)
	b := make([]float64, a.Rows)
	for i := range b {
		b[i] = math.Sin(float64(i))
	}
	o := solver.Options{MaxIterations: 3, Lanes: 32}
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	_, want, _ := solver.Solve(context.Background(), dev, a, b, o)
	require.NoError(t, dev.Close())
	got := solveOn(t, 1, 2, a, b, o)[0]
	require.Len(t, got.res.History, len(want.History))
	for i, v := range want.History {
		assert.InEpsilon(t, v, got.res.History[i], 1e-12)
	}
}

// What several devices cannot share is refused with the reason, on all ranks.
func TestDevicesRefuse(t *testing.T) {
	a, err := sparse.Generate("poisson2d:32")
	require.NoError(t, err)
	b := make([]float64, a.Rows)
	b[0] = 1
	method, option := &solver.MethodError{}, &solver.OptionError{}
	for _, c := range []struct {
		o      solver.Options
		want   string
		target any
	}{
		{solver.Options{Method: solver.GaussSeidel}, "method gauss-seidel: several devices cannot share an iteration, because the rows of a colour are not consecutive", &method},
		{solver.Options{Method: solver.GMRES, Restart: 2}, "method gmres: ", &method},
		{solver.Options{Mode: solver.Loop}, "option Mode is loop: use graph or streams: with Devices these modes exist", &option},
		{solver.Options{Strategy: "serial"}, "option Strategy is serial", &option},
		{solver.Options{Also: []string{"merge"}}, "option Also is [merge]", &option},
	} {
		for _, got := range solveOn(t, 2, 2, a, b, c.o) {
			assert.ErrorContains(t, got.err, c.want)
			assert.ErrorAs(t, got.err, c.target)
			assert.Nil(t, got.x)
		}
	}
}

// A context that is done ends the run on all ranks.
func TestCancellationOnDevices(t *testing.T) {
	a, err := sparse.Generate("poisson2d:32")
	require.NoError(t, err)
	b := make([]float64, a.Rows)
	b[0] = 1
	m, err := machine.Uniform(2, 1, "h200")
	require.NoError(t, err)
	errs := make([]error, 2)
	onRanks(t, m, func(r *ranks.Rank) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		o := solver.Options{Devices: r, CheckEvery: 1, Observe: func(iterations int, _ float64) {
			if r.Number() == 0 && iterations == 3 {
				cancel()
			}
		}}
		_, _, errs[r.Number()] = solver.Solve(ctx, nil, a, b, o)
	})
	assert.ErrorIs(t, errs[0], context.Canceled)
	assert.ErrorContains(t, errs[1], "rank 0 is lost")
}

// Several systems share the devices, each with the bits that it has alone.
func TestSeveralSystemsOnDevices(t *testing.T) {
	a, err := sparse.Generate("poisson2d:24")
	require.NoError(t, err)
	b := [][]float64{make([]float64, a.Rows), make([]float64, a.Rows)}
	b[0][0], b[1][70] = 1, 2
	o := solver.Options{Tolerance: 1e-2}
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	want, _, err := solver.SolveAll(context.Background(), dev, []*sparse.CSR{a}, b, o)
	require.NoError(t, err)
	require.NoError(t, dev.Close())
	m, err := machine.Uniform(2, 1, "h200")
	require.NoError(t, err)
	onRanks(t, m, func(r *ranks.Rank) {
		with := o
		with.Devices = r
		x, results, err := solver.SolveAll(context.Background(), nil, []*sparse.CSR{a}, b, with)
		assert.NoError(t, err)
		assert.Equal(t, want, x)
		assert.Len(t, results, 2)
	})
}
