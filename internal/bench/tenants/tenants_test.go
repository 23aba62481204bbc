package tenants

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
)

func open() (device.Device, error) { return sim.New(sim.Options{Profile: "v100"}) }

func workload(t testing.TB, name string, p bench.Params) Program {
	w, err := bench.LookupWorkload(name)
	require.NoError(t, err)
	if p.Size == 0 {
		p.Size = w.Tiny
	}
	return OfWorkload(w, p)
}

// product is a small matrix product.
func product(t testing.TB) Program {
	return workload(t, "sgemm", bench.Params{Shape: bench.Shape{M: 40, N: 16, K: 24}})
}

func run(t testing.TB, c Config) []Record {
	c.Open = open
	if c.Rounds == 0 {
		c.Rounds = 3
	}
	records, err := Run(context.Background(), c)
	require.NoError(t, err)
	require.Len(t, records, c.Rows())
	return records
}

// TestEveryModeIsRight runs programs with several operations, copies, fills and kernels that change their inputs.
func TestEveryModeIsRight(t *testing.T) {
	for _, name := range []string{"vec", "ml"} {
		for _, r := range run(t, Config{Program: workload(t, name, bench.Params{Blocks: 2, Threads: 32}), Tenants: []int{3}, Modes: Modes(), Rounds: 1}) {
			require.NotNil(t, r.OK)
			assert.True(t, *r.OK, "%s, %d tenants, %s: %s", name, r.Tenants, r.Mode, r.Error)
		}
	}
}

// TestAWrongResultIsFound breaks the results of one tenant.
func TestAWrongResultIsFound(t *testing.T) {
	p := product(t)
	made := p.New
	p.New = func(dev device.Device, seed uint64, batch int) (*Instance, error) {
		in, err := made(dev, seed, batch)
		if seed == 2 {
			in.Check = func() error { return errors.New("c0[0][0] = 1, want 2") }
		}
		return in, err
	}
	for _, r := range run(t, Config{Program: p, Tenants: []int{3}, Modes: Modes(), Rounds: 1}) {
		if r.Mode == "exclusive" {
			continue // its tenant is another
		}
		assert.False(t, *r.OK, r.Mode)
		assert.Equal(t, "tenant 2: c0[0][0] = 1, want 2", r.Error)
	}
}

// TestRounds compares times of rounds with what the modes must give.
func TestRounds(t *testing.T) {
	at := map[string]map[int]Record{}
	for _, r := range run(t, Config{Program: product(t), Tenants: []int{1, 2, 8}, Modes: Modes()}) {
		if at[r.Mode] == nil {
			at[r.Mode] = map[int]Record{}
		}
		at[r.Mode][r.Tenants] = r
		assert.InDelta(t, 2*40*16*24*float64(r.Tenants)/r.USPerRound/1000, r.GFlops, 1e-6)
	}
	assert.Len(t, at["exclusive"], 1)
	assert.NotContains(t, at, "batch", "products have none")
	const gap = 50 // of a switch between contexts
	alone := at["time"][1].USPerRound
	assert.InDelta(t, 8*(alone+gap), at["time"][8].USPerRound, 0.1*8*(alone+gap))
	for _, n := range []int{2, 8} {
		assert.Less(t, at["space"][n].USPerRound, float64(n)*at["space"][1].USPerRound)
		assert.LessOrEqual(t, at["branches"][n].USPerRound, at["space"][n].USPerRound, "%d", n)
		assert.LessOrEqual(t, at["spacetime"][n].USPerRound, at["branches"][n].USPerRound, "%d", n)
		assert.LessOrEqual(t, at["spacetime"][n].Spread, 0.05)
	}
}

// TestPublishedDispatch expects the intervals of the published stack: the device is faster than the dispatch.
func TestPublishedDispatch(t *testing.T) {
	stack := func(device.Device) Stack { return Published() }
	us := map[string]map[int]float64{"time": {}, "space": {}, "spacetime": {}}
	for _, r := range run(t, Config{Program: product(t), Tenants: []int{2, 12}, Modes: []Mode{Time, Space, SpaceTime}, Stack: stack}) {
		us[r.Mode][r.Tenants] = r.USPerRound
	}
	assert.InDelta(t, 149.7, (us["time"][12]-us["time"][2])/10, 0.5)
	assert.InDelta(t, 57.7, (us["space"][12]-us["space"][2])/10, 1)
	assert.InDelta(t, 1.15, (us["spacetime"][12]-us["spacetime"][2])/10, 0.2)
	assert.Greater(t, us["spacetime"][2], 169.0)
}

// TestPublishedFigure compares the published products with figure 7, space-time at both sides of a tooth. Kernels are timed
// from one block of each launch.
func TestPublishedFigure(t *testing.T) {
	p := publications["256x128x1152"]
	c := Config{
		Program: workload(t, "sgemm", bench.Params{Sampled: true}),
		Merged:  workload(t, "sgemm", bench.Params{Sampled: true, Kernel: bench.SlowBatch(bench.DefaultShape)}),
		Rounds:  1, Sampled: true, Stack: func(device.Device) Stack { return Published() },
		Open: func() (device.Device, error) { return sim.New(sim.Options{Profile: "v100", Sample: 1}) },
	}
	us := map[int]float64{} // of space-time
	for tenants, modes := range map[int][]Mode{1: drawn, 2: {Time, Space}, 20: {SpaceTime}, 22: {SpaceTime}} {
		c.Tenants, c.Modes = []int{tenants}, modes
		records, err := Run(context.Background(), c)
		require.NoError(t, err)
		rates := ratesOf(records)
		for _, m := range modes {
			assert.InEpsilon(t, p.rate(tenants, m), rates[m][tenants], 0.1, "%v, %d tenants", m, tenants)
		}
		us[tenants] = records[len(records)-1].USPerRound
	}
	assert.InEpsilon(t, 210, us[22]-us[20], 0.1, "a wave of 20 products")
}

func TestWritePublished(t *testing.T) {
	var text strings.Builder
	records := []Record{
		{Tenants: 1, Mode: "space", GFlops: 100}, {Tenants: 1, Mode: "spacetime", GFlops: 50},
		{Tenants: 20, Mode: "space", GFlops: 1000}, {Tenants: 20, Mode: "spacetime", GFlops: 8000}, {Tenants: 3, Mode: "branches", GFlops: 1},
	}
	require.NoError(t, WritePublished(&text, "256x128x1152", records))
	assert.Equal(t, `
GFLOP/s of 256x128x1152 beside P. Jain et al. (2018):
  tenants  time  published  space  published  spacetime  published
        1     -        294    100        277         50        195
       20     -        482   1000       1139       8000       3561
spacetime over space, geometric mean of 2 numbers of tenants: 2.00 (published, of 60: 3.23); of 1 from 2: 8.00 (published, of 59: 3.31)
`, text.String())
	text.Reset()
	require.NoError(t, WritePublished(&text, "512x1x512", records))
	assert.Equal(t, `
GFLOP/s of 512x1x512 beside P. Jain et al. (2018):
  tenants  time  published  space  published  spacetime  published
        1     -          -    100          -         50          -
       20     -          -   1000          -       8000          -
`, text.String())
	text.Reset()
	require.NoError(t, WritePublished(&text, "40x16x24", records))
	assert.Empty(t, text.String())
}

// TestOpenArrivalsAreDeterministic runs the same arrivals twice.
func TestOpenArrivalsAreDeterministic(t *testing.T) {
	c := Config{Program: product(t), Tenants: []int{3}, Modes: Modes(), Rounds: 20, Arrivals: &Arrivals{Rate: 20000}, SLO: 100 * time.Microsecond, Seed: 7}
	first := run(t, c)
	assert.Equal(t, first, run(t, c))
	for _, r := range first {
		want := 60
		if r.Mode == "exclusive" {
			want = 20
		}
		assert.LessOrEqual(t, len(r.Latencies), want, r.Mode)
		if r.Mode != "time" {
			assert.GreaterOrEqual(t, len(r.Latencies), want*9/10, r.Mode) // the others were refused
			assert.Positive(t, r.Goodput, r.Mode)
		}
	}
	other := c
	other.Seed = 8
	assert.NotEqual(t, first[1].Latencies, run(t, other)[1].Latencies)
}

func TestArrivals(t *testing.T) {
	a := &Arrivals{Rate: 1000}
	few, many := a.list(2, 500, 1), a.list(4, 500, 1)
	assert.Len(t, many, 2000)
	var of []arrival
	for _, x := range many {
		if x.tenant < 2 {
			of = append(of, x)
		}
	}
	assert.Equal(t, few, of, "a tenant has the same times with more tenants")
	assert.InEpsilon(t, 0.5, few[len(few)-1].at.Seconds(), 0.2)
	file, err := ReadArrivals("a.csv", strings.NewReader("tenant,time_us\n1,20\n0,0.5\n\n"), 2)
	require.NoError(t, err)
	assert.Equal(t, []arrival{{0, 500 * time.Nanosecond}, {1, 20 * time.Microsecond}}, file.list(2, 1, 1))
	assert.Equal(t, []arrival{{0, 500 * time.Nanosecond}}, file.list(1, 1, 1))
	for text, want := range map[string]string{
		"0": "write a tenant and a time", "2,1": "from 0 to 1", "-1,1": "from 0 to 1", "x,1": "from 0 to 1", "0,x": "write microseconds",
		"0,-1": "write microseconds", "0,NaN": "write microseconds", "0,1e300": "write microseconds", "": "no arrivals",
	} {
		_, err := ReadArrivals("a.csv", strings.NewReader(text), 2)
		assert.ErrorContains(t, err, want, text)
		assert.ErrorContains(t, err, "a.csv")
	}
}

func TestLatencies(t *testing.T) {
	var r Record
	us := func(n int) time.Duration { return time.Duration(n) * time.Microsecond }
	r.latencies([]*request{
		{tenant: 0, arrived: us(0), ended: us(10), deadline: us(10)},
		{tenant: 0, arrived: us(10), ended: us(40), deadline: us(39)},
		{tenant: 1, arrived: us(0), ended: us(100), deadline: never},
		{tenant: 1, arrived: us(50), ended: us(51), deadline: us(60), refused: true},
	})
	assert.Equal(t, []float64{10, 30, 100}, r.Latencies)
	assert.Equal(t, 30.0, r.P50US)
	assert.Equal(t, 100.0, r.P99US)
	assert.InDelta(t, 2/100e-6, r.Goodput, 1e-6)
	assert.InDelta(t, (100-20)/(140.0/3), r.Spread, 1e-9)
	r = Record{}
	r.latencies(nil)
	assert.Equal(t, Record{}, r)
}

// TestRecordsInJSON expects exactly the names that the format has.
func TestRecordsInJSON(t *testing.T) {
	text, err := json.Marshal(run(t, Config{Program: product(t), Tenants: []int{1}, Modes: []Mode{SpaceTime}, Rounds: 1}))
	require.NoError(t, err)
	var records []map[string]any
	require.NoError(t, json.Unmarshal(text, &records))
	var names []string
	for name := range records[0] {
		names = append(names, name)
	}
	assert.ElementsMatch(t, strings.Fields("program device tenants mode gflops us_per_round p50_us p99_us goodput spread ok"), names)
	assert.Equal(t, true, records[0]["ok"])
}

// TestCancel ends a run at a row.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	records, err := Run(ctx, Config{Open: open, Program: product(t), Tenants: []int{2}, Modes: Modes(), Rounds: 1, Progress: func(_ string, done, _ int) {
		if done == 2 {
			cancel()
		}
	}})
	assert.ErrorIs(t, err, context.Canceled)
	assert.Len(t, records, 2)
}

func TestProgramsThatTenantsCannotRun(t *testing.T) {
	g := &ir.Graph{Name: "g", Ops: []ir.Op{{Kind: ir.KindHost, Cost: -1}}}
	for _, m := range []Mode{Time, Space, Branches} {
		_, err := Run(context.Background(), Config{Open: open, Program: OfWorkload(bench.OfFile("g", &ir.File{Graph: g}), bench.Params{}), Tenants: []int{1}, Modes: []Mode{m}, Rounds: 1})
		assert.ErrorContains(t, err, "cannot run for several tenants", "%v", m)
	}
}

func TestNamesOfModes(t *testing.T) {
	assert.Equal(t, "[exclusive time space branches batch spacetime]", fmt.Sprint(Modes()))
	assert.Equal(t, "mode(9)", Mode(9).String())
}

// TestChance shuffles latencies of tenants that are equal, and of tenants of which one is slower.
func TestChance(t *testing.T) {
	const tenants, count = 20, 400
	draw := func(slow float64) (r Record) {
		random := rand.New(rand.NewPCG(5, 6))
		var all []*request
		for i := range count * tenants {
			took := 100e3 * (1 + random.ExpFloat64()) // ns
			if i%tenants == 7 {
				took *= 1 + slow
			}
			at := time.Duration(i) * time.Microsecond
			all = append(all, &request{tenant: i % tenants, arrived: at, ended: at + time.Duration(took), deadline: never})
		}
		r.latencies(all)
		return r
	}
	// The mean of a tenant has a deviation of 0.5/sqrt(400) = 2.5 %, and 20 of them have a range of 3.73 deviations.
	equal := draw(0)
	assert.InDelta(t, 0.0373*2.5, equal.Chance, 0.01)
	assert.InDelta(t, equal.Chance, equal.Spread, 0.03)
	slow := draw(0.3)
	assert.Greater(t, slow.Spread, 0.27)
	assert.Less(t, slow.Chance, 0.16)

	var few Record
	few.latencies([]*request{{ended: 1}, {tenant: 1, ended: 2}})
	assert.True(t, math.IsNaN(few.Chance))
}
