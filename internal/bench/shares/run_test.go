package shares

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/bench/tenants"
	"github.com/reprise-gpu/reprise/internal/sharing"
	"github.com/reprise-gpu/reprise/internal/sim"
)

func opener(sampled bool) (device.Device, error) {
	o := sim.Options{Profile: "v100"}
	if sampled {
		o.Sample = 1
	}
	return sim.New(o)
}

// synthetic returns a trace of equal kernels.
func synthetic(name string, kernels int, blocks uint32, us float64) *Trace {
	t := &Trace{Name: name}
	for range kernels {
		t.Kernels = append(t.Kernels, Kernel{Name: "k", Blocks: blocks, Threads: 128, Registers: 64, Time: time.Duration(us * 1000), Bound: sharing.Compute})
	}
	return t
}

func some(t testing.TB, names ...string) (list []Policy) {
	for _, name := range names {
		p, err := LookupPolicies(name)
		require.NoError(t, err)
		list = append(list, p...)
	}
	return list
}

func run(t testing.TB, c Config) map[string]Record {
	c.Open = opener
	c.Usual = some(t, "timeslice:1ms")[0]
	records, err := Run(context.Background(), c)
	require.NoError(t, err)
	require.Len(t, records, c.Rows())
	of := map[string]Record{}
	for _, r := range records {
		of[r.Policy] = r
	}
	return of
}

// TestPolicies runs a pair of traces under all policies.
func TestPolicies(t *testing.T) {
	high := synthetic("high", 30, 200, 40).Synced(15, 500*time.Microsecond)
	low := synthetic("low", 20, 1280, 120)
	of := run(t, Config{High: []Program{OfTrace(high)}, Low: []Program{OfTrace(low)}, Policies: Policies(), Requests: 30, Jitter: 0.1})
	fill, greedy := of["fill"], of["greedy"]
	assert.LessOrEqual(t, fill.HighOverExclusive, 1.02)
	assert.LessOrEqual(t, fill.LatenessMaxUS, fill.BoundUS)
	assert.GreaterOrEqual(t, fill.LowShare, 0.8*greedy.LowShare)
	assert.Greater(t, greedy.HighOverExclusive, fill.HighOverExclusive)
	assert.InDelta(t, 1, of["timeslice:1ms"].SpeedupOverDefault, 1e-9)
	assert.InDelta(t, of["fifo:4"].HighOverExclusive/fill.HighOverExclusive, fill.SpeedupOverDefault/of["fifo:4"].SpeedupOverDefault, 1e-9)
	assert.Greater(t, of["exclusive"].HighOverExclusive, of["fifo:1"].HighOverExclusive)
	for name, r := range of {
		assert.GreaterOrEqual(t, r.HighOverExclusive, 0.99, name)
		assert.Positive(t, r.LowShare, name)
		assert.LessOrEqual(t, r.LowShare, 1.0, name)
		assert.Positive(t, r.DecisionNS, name)
		assert.Len(t, r.Latencies, 30, name)
		assert.Nil(t, r.OK, "traces have no results")
		assert.Equal(t, name == "fill", r.BoundUS > 0, name)
	}
}

// TestFikitStarves shows the flaw of the published policy: a kernel that fits no gap stops its program. Fill cuts it.
func TestFikitStarves(t *testing.T) {
	high := synthetic("high", 30, 200, 20).Synced(10, 400*time.Microsecond)
	low := synthetic("low", 10, 4000, 1000)
	of := run(t, Config{High: []Program{OfTrace(high)}, Low: []Program{OfTrace(low)}, Policies: some(t, "fikit", "fill"), Requests: 40})
	assert.LessOrEqual(t, of["fikit"].LowShare, 0.08)
	assert.GreaterOrEqual(t, of["fill"].LowShare, 0.24)
	assert.LessOrEqual(t, of["fill"].HighOverExclusive, 1.02)
}

// TestOpenArrivals runs requests at random times, twice.
func TestOpenArrivals(t *testing.T) {
	c := Config{
		High: []Program{OfTrace(synthetic("high", 50, 200, 40))}, Low: []Program{OfTrace(synthetic("low", 20, 1280, 120))},
		Policies: some(t, "fifo:4", "fill"), Requests: 20, Rate: 100,
	}
	first := run(t, c)
	assert.LessOrEqual(t, first["fill"].HighOverExclusive, 1.02)
	assert.Greater(t, first["fill"].LowShare, 0.5)
	again := run(t, c)
	for name, r := range first {
		assert.Equal(t, r.Latencies, again[name].Latencies, name)
	}
}

func workload(t testing.TB, name string) Program {
	w, err := bench.LookupWorkload(name)
	require.NoError(t, err)
	return OfProgram(tenants.OfWorkload(w, bench.Params{Size: w.Tiny, Blocks: 2, Threads: 32}), 0)
}

// TestResultsAreCompared runs workloads, whose results are those of a run alone under every policy.
func TestResultsAreCompared(t *testing.T) {
	for _, r := range run(t, Config{High: []Program{workload(t, "ml")}, Low: []Program{workload(t, "vec")}, Policies: some(t, "fifo:4", "timeslice:1ms", "fikit", "fill"), Requests: 3}) {
		require.NotNil(t, r.OK)
		assert.True(t, *r.OK, "%s: %s", r.Policy, r.Error)
	}
	wrong := workload(t, "vec")
	made := wrong.saved.New
	wrong.saved.New = func(dev device.Device, seed uint64, batch int) (*tenants.Instance, error) {
		in, err := made(dev, seed, batch)
		in.Check = func() error { return errors.New("x[0] = 1, want 2") }
		return in, err
	}
	r := run(t, Config{High: []Program{OfTrace(synthetic("high", 3, 80, 10))}, Low: []Program{wrong}, Policies: some(t, "fill"), Requests: 3})["fill"]
	require.NotNil(t, r.OK)
	assert.False(t, *r.OK)
	assert.Equal(t, "vec: x[0] = 1, want 2", r.Error)
}

// TestRecordsInJSON expects exactly the names that the format has.
func TestRecordsInJSON(t *testing.T) {
	text, err := json.Marshal(Record{})
	require.NoError(t, err)
	var record map[string]any
	require.NoError(t, json.Unmarshal(text, &record))
	var names []string
	for name := range record {
		names = append(names, name)
	}
	assert.ElementsMatch(t, strings.Fields("high low policy requests high_over_exclusive high_p99_over_exclusive speedup_over_default low_share low_over_default lateness_max_us bound_us decision_ns ok"), names)
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	c := Config{Open: opener, High: []Program{OfTrace(synthetic("high", 3, 80, 10))}, Low: []Program{OfTrace(synthetic("low", 3, 80, 10))}, Policies: Policies(), Usual: some(t, "fifo:1")[0], Requests: 3}
	c.Progress = func(_ string, done, _ int) {
		if done == 2 {
			cancel()
		}
	}
	records, err := Run(ctx, c)
	assert.ErrorIs(t, err, context.Canceled)
	assert.Len(t, records, 2)
}

// TestSummary compares a summary with figures computed by hand.
func TestSummary(t *testing.T) {
	row := func(high, policy string, mean, low, late float64) Record {
		r := Record{High: high, Low: "l", Policy: policy, MeanUS: mean, PerSecond: low, HighOverExclusive: mean / 100, LatenessMaxUS: late, LowShare: low / 10}
		if policy == "fill" {
			r.BoundUS = 200
		}
		return r
	}
	s := Summarize([]Record{
		row("a", "fifo:1", 500, 5, 0), row("a", "greedy", 110, 4, 0), row("a", "fill", 100, 4, 100),
		row("b", "fifo:1", 202, 8, 0), row("b", "greedy", 110, 5, 0), row("b", "fill", 101, 4, 50),
	}, "fill")
	assert.Equal(t, 2, s.Pairs)
	assert.InDelta(t, 1.01, s.Mean, 1e-9)
	assert.InDelta(t, 0.5, s.LateOfBound, 1e-9)
	assert.InDelta(t, 0.8, s.OfGreedy, 1e-9)
	a := s.Defaults[0]
	assert.Equal(t, "fifo:1", a.Name)
	assert.InDeltaSlice(t, []float64{2, 5}, a.Speedup[:], 1e-9)
	assert.InDelta(t, 0.5, a.Low, 1e-9)
	assert.Equal(t, 1, a.Faster)
	assert.Equal(t, 1, s.AnyFaster)
	var b strings.Builder
	require.NoError(t, WriteSummary(&b, []Record{row("a", "fifo:1", 500, 5, 0), row("a", "fill", 100, 4, 100)}))
	assert.Contains(t, b.String(), "1 of 1")
}

// TestPublishedTraces reads all traces, and builds the units of one: those that can be cut are below the limit.
func TestPublishedTraces(t *testing.T) {
	for _, name := range TraceNames() {
		trace, err := PublishedTrace(name)
		require.NoError(t, err)
		assert.Greater(t, len(trace.Kernels), 50, name)
		assert.Greater(t, trace.Time(), 500*time.Microsecond, name)
	}
	_, err := PublishedTrace("none")
	assert.ErrorContains(t, err, "unknown trace \"none\": use a .csv file, or one of bert-train")
	dev := open(t, "v100")
	s, err := newSpinner(dev)
	require.NoError(t, err)
	b, err := newBuilder(dev)
	require.NoError(t, err)
	trace, err := PublishedTrace("bert-train")
	require.NoError(t, err)
	in, err := openTrace(dev, s, trace, false)
	require.NoError(t, err)
	list, err := b.build(in, sharing.Form{Unit: sharing.Kernels, Most: 100 * time.Microsecond}, true)
	require.NoError(t, err)
	whole, err := b.build(in, sharing.Form{Unit: sharing.Kernels}, true)
	require.NoError(t, err)
	assert.Len(t, whole[0].Units(), len(trace.Kernels))
	sum, cut := time.Duration(0), time.Duration(0)
	for _, u := range whole[0].Units() {
		sum += u.Time
	}
	for _, u := range list[0].Units() {
		assert.LessOrEqual(t, u.Time, 100*time.Microsecond)
		cut += u.Time
	}
	assert.InEpsilon(t, float64(trace.Time()), float64(sum), 0.03)
	assert.Less(t, float64(cut), 1.35*float64(sum), "the cost of cuts")
	require.NoError(t, device.Join(closeAll(list), closeAll(whole), b.close(), s.close()))
}

// TestSkippedRepetitionsChangeNothing compares runs that skip repetitions of the other program with runs that simulate
// them.
func TestSkippedRepetitionsChangeNothing(t *testing.T) {
	for _, low := range []*Trace{synthetic("low", 7, 1280, 110), synthetic("long units", 5, 40, 300)} {
		c := Config{
			High: []Program{OfTrace(synthetic("high", 20, 200, 40).Synced(10, 300*time.Microsecond))}, Low: []Program{OfTrace(low)},
			Policies: some(t, "fifo:4", "timeslice:1ms", "priority", "fikit", "orion", "tally", "greedy", "fill"), Requests: 60, Rate: 20,
		}
		skipped := run(t, c)
		c.simulateAll = true
		whole := run(t, c)
		for name, want := range whole {
			got := skipped[name]
			assert.InEpsilon(t, want.LowShare, got.LowShare, 1e-3, name)
			require.Len(t, got.Latencies, len(want.Latencies))
			for i := range want.Latencies {
				assert.InDelta(t, want.Latencies[i], got.Latencies[i], float64(2*time.Microsecond), "%s, %d", name, i)
			}
			assert.InDelta(t, want.LatenessMaxUS, got.LatenessMaxUS, 2, name)
		}
	}
}

// TestDrift doubles the gaps in the middle of a run, halves them, and makes them alternate. Delays are back below the target
// within 50 requests. -v prints the table of docs/SHARING-MEASURED.md.
func TestDrift(t *testing.T) {
	c := Config{Open: opener, Requests: 200, Jitter: 0.1}
	high := OfTrace(synthetic("high", 40, 200, 40).Synced(10, time.Millisecond))
	low := OfTrace(synthetic("low", 20, 1280, 120))
	for _, drift := range []struct {
		name string
		grow func(request int) float64
	}{
		{"doubled", func(request int) float64 { return float64(1 + request/100) }},
		{"halved", func(request int) float64 { return 1 / float64(1+request/100) }},
		{"bimodal", func(request int) float64 { return []float64{1, 1, 1, 0.3}[min(request/100, 1)*(request%4)] }},
	} {
		r, err := newRunner(&c, true, false)
		require.NoError(t, err)
		// times returns the latencies, and the units of the other program in each window of 50 requests.
		times := func(policy string, of *Program) (latencies []time.Duration, units []int) {
			s, err := r.open(some(t, policy)[0], &high, of)
			require.NoError(t, err)
			h := s.clients[0]
			h.grow = func(request int) float64 {
				if of != nil && (request-1)%50 == 0 && len(units) < (request-1)/50+1 {
					units = append(units, s.clients[1].program.Stats().Units)
				}
				return drift.grow(request)
			}
			if of != nil {
				s.clients[1].start(0, 0)
			}
			h.start(c.Requests, 0)
			require.NoError(t, s.run(t.Context(), h))
			if of != nil {
				units = append(units, s.clients[1].program.Stats().Units)
			}
			require.NoError(t, s.close())
			return h.latencies, units
		}
		alone, _ := times("fill", nil)
		for _, policy := range []string{"fill", "mean", "greedy"} {
			shared, units := times(policy, &low)
			row := fmt.Sprintf("| %s | `%s` |", drift.name, policy)
			for from := 50; from < 200; from += 50 {
				delay := float64(sum(shared[from:from+50]))/float64(sum(alone[from:from+50])) - 1
				row += fmt.Sprintf(" %.2f %% / %d |", 100*delay, (units[from/50+1]-units[from/50])/50)
				if policy == "fill" && from != 100 {
					assert.LessOrEqual(t, delay, 0.011, "%s, from request %d", drift.name, from)
				}
			}
			t.Log(row)
		}
		require.NoError(t, r.close())
	}
}

func sum(of []time.Duration) (all time.Duration) {
	for _, d := range of {
		all += d
	}
	return all
}
