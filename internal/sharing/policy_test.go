package sharing

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const ms = time.Millisecond

// policies returns one of each, with published or usual parameters.
func policies() []Policy {
	return []Policy{
		Exclusive{}, &Streams{Depth: 1}, &Streams{Depth: 8}, &Streams{Depth: 8, Priority: true}, &Slices{Slice: ms, Switch: 50 * us},
		&Fikit{SmallGap: 20 * us, Hold: 10 * ms}, &Orion{Most: 160 * us}, &Tally{Idle: 100 * us, Most: 100 * us},
		NewFill(Fill{Greedy: true, Guard: noGuard}), NewFill(Fill{Guard: noGuard}),
	}
}

// outcome is what a pair of programs did under a policy.
type outcome struct {
	slower float64 // time of the important program over its time alone
	share  float64 // of the device, for the other
	worst  time.Duration
	high   *client
	low    *client
	serial *serial
}

// pair runs a program with four stages of 400 us, and gaps between them, beside another of endless units.
func pair(p Policy, requests int, gap func(int) time.Duration, others ...time.Duration) (o outcome) {
	s := newSerial(p)
	var stages []Stage
	for range 4 {
		stages = append(stages, oneStage(repeat(10, 40*us)...)...)
	}
	o.serial, o.high, o.low = s, s.client("high", 9, stages, requests, gap), s.client("low", 0, oneStage(others...), 0, always(0))
	s.run(o.high, o.low)
	st := o.high.p.Stats()
	o.slower, o.worst = 1+float64(st.Late)/float64(st.Alone), st.MaxLate
	o.share = float64(s.busy[o.low.p]) / float64(s.now)
	return o
}

// TestPolicies compares all policies on a serial device.
func TestPolicies(t *testing.T) {
	gaps := []struct {
		name   string
		median time.Duration
		sigma  float64
	}{{"1 ms, sigma 0.5", ms, 0.5}, {"1 ms, sigma 0.1", ms, 0.1}, {"150 us, sigma 0.5", 150 * us, 0.5}}
	units := []struct {
		name  string
		times []time.Duration
	}{{"10 us", repeat(200, 10*us)}, {"90 us", repeat(30, 90*us)}, {"20 us and 3 ms", append(repeat(50, 20*us), 3*ms)}}
	var b strings.Builder
	for _, g := range gaps {
		for _, u := range units {
			fmt.Fprintf(&b, "gaps %s, units of others %s\n%-16s%12s%8s%12s\n", g.name, u.name, "policy", "high/alone", "share", "latest us")
			for _, p := range policies() {
				o := pair(p, 200, logNormal(1, g.median, g.sigma), u.times...)
				fmt.Fprintf(&b, "%-16s%12.3f%8.3f%12.1f\n", p.Name(), o.slower, o.share, float64(o.worst)/1000)
			}
			b.WriteByte('\n')
		}
	}
	golden(t, "testdata/policies.txt", b.String())
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(want), got)
}

// TestFillKeepsItsTarget checks the delay of the important program, its bound, and what is left to the other program.
func TestFillKeepsItsTarget(t *testing.T) {
	for _, gap := range []time.Duration{150 * us, 500 * us, ms, 5 * ms} {
		for _, sigma := range []float64{0, 0.1, 0.5, 1} {
			for _, unit := range []time.Duration{5 * us, 10 * us} {
				name := fmt.Sprintf("gap %v sigma %v unit %v", gap, sigma, unit)
				f := NewFill(Fill{Guard: noGuard})
				o := pair(f, 500, logNormal(3, gap, sigma), repeat(100, unit)...)
				greedy := pair(NewFill(Fill{Greedy: true, Guard: noGuard}), 500, logNormal(3, gap, sigma), repeat(100, unit)...)
				bound, oversize := f.Bound(o.serial.core)
				assert.LessOrEqual(t, o.slower, 1.012, name)
				assert.LessOrEqual(t, o.worst, bound, name)
				assert.Zero(t, oversize, name)
				assert.GreaterOrEqual(t, o.share, 0.75*greedy.share, name)
			}
		}
	}
}

// TestFikitStarves shows the flaw of the published policy: one kernel that is longer than all gaps stops its program. Fill
// has the kernel in parts.
func TestFikitStarves(t *testing.T) {
	gap := logNormal(1, ms, 0.5)
	whole := append(repeat(50, 20*us), 20*ms)
	assert.Less(t, pair(&Fikit{SmallGap: 20 * us, Hold: 10 * ms}, 300, gap, whole...).share, 0.01)
	parts := append(repeat(50, 20*us), repeat(1000, 20*us)...)
	assert.Greater(t, pair(NewFill(Fill{Guard: noGuard}), 300, gap, parts...).share, 0.5)
}

// TestLongUnitsProgress checks that a unit which cannot be cut and fits no gap runs at last, at a cost below the target.
func TestLongUnitsProgress(t *testing.T) {
	f := NewFill(Fill{Guard: noGuard})
	o := pair(f, 500, logNormal(1, ms, 0.5), 3*ms)
	assert.Greater(t, o.low.p.Stats().Units, 2)
	assert.Less(t, o.slower, 1.01)
	_, oversize := f.Bound(o.serial.core)
	assert.Equal(t, 3*ms, oversize)
}

// TestFillFollowsGaps checks that the delay is below the target soon after the gaps change.
func TestFillFollowsGaps(t *testing.T) {
	for name, change := range map[string]func(stage, request int) time.Duration{
		"shorter": func(_, request int) time.Duration { return ms / time.Duration(1+request/200) },
		"longer":  func(_, request int) time.Duration { return ms * time.Duration(1+request/200) },
		"bimodal": func(stage, request int) time.Duration {
			if request >= 200 && (request+stage)%2 == 0 {
				return 100 * us
			}
			return ms
		},
	} {
		s := newSerial(NewFill(Fill{Guard: noGuard}))
		n := 0
		high := s.client("high", 9, oneStage(repeat(10, 40*us)...), 400, func(stage int) time.Duration { n++; return change(stage, n) })
		low := s.client("low", 0, oneStage(repeat(100, 10*us)...), 0, always(0))
		s.run(high, low)
		late := func(from, to int) float64 {
			sum := time.Duration(0)
			for _, d := range high.took[from:to] {
				sum += d - 400*us
			}
			return float64(sum) / float64(400*us) / float64(to-from)
		}
		assert.Less(t, late(250, 400), 0.01, name)
		assert.Less(t, late(100, 200), 0.01, name)
	}
}

// TestClasses runs ten programs, one of each class. The greatest is hardly delayed, all make progress, and none gets more of
// the device than one above it while both have the same work.
func TestClasses(t *testing.T) {
	s := newSerial(NewFill(Fill{Guard: noGuard}))
	clients := []*client{s.client("9", 9, oneStage(repeat(10, 40*us)...), 2000, logNormal(1, ms, 0.3))}
	for class := 8; class >= 0; class-- {
		clients = append(clients, s.client(fmt.Sprint(class), class, oneStage(repeat(20, 10*us)...), 0, logNormal(uint64(class), ms, 0.3)))
	}
	s.run(clients...)
	st := clients[0].p.Stats()
	assert.Less(t, float64(st.Late)/float64(st.Alone), 0.015)
	for i, c := range clients[1:] {
		assert.Positive(t, c.p.Stats().Units, c.p.Name)
		if i > 0 {
			assert.LessOrEqual(t, float64(s.busy[c.p]), 1.1*float64(s.busy[clients[i].p]), c.p.Name)
		}
	}
}

// TestExclusive checks that stages do not overlap and that the greatest class is first.
func TestExclusive(t *testing.T) {
	c := New(Exclusive{})
	low, high := c.Add("low", 0, oneStage(us)), c.Add("high", 9, oneStage(us))
	c.Arrive(low, 0, 0)
	c.Arrive(high, 0, 0)
	g, _ := c.Next(0)
	assert.Equal(t, high, g.Program)
	g, _ = c.Next(0)
	assert.Zero(t, g.Units)
	assert.True(t, c.Completed(high, us))
	g, _ = c.Next(us)
	assert.Equal(t, low, g.Program)
}

// TestOrionAdmits checks the conditions of the published rule one by one.
func TestOrionAdmits(t *testing.T) {
	o := &Orion{SMs: 50, Most: 100 * us}
	c := New(o)
	high := c.Add("high", 9, []Stage{{Units: []Unit{{Time: 40 * us, Bound: Compute}}}})
	low := c.Add("low", 0, []Stage{{Units: []Unit{{Time: 60 * us, SMs: 40, Bound: Compute}}}, {Units: []Unit{{Time: 60 * us, SMs: 40, Bound: Memory}}},
		{Units: []Unit{{Time: 60 * us, SMs: 60, Bound: Memory}}}})
	next := func() *Program { g, _ := c.Next(0); return g.Program }
	c.Arrive(high, 0, 0)
	c.Arrive(low, 0, 0)
	assert.Equal(t, high, next())
	assert.Nil(t, next(), "both are bound by arithmetic")
	c.Completed(high, 0)
	assert.Equal(t, low, next(), "the first is idle")
	c.Completed(low, 0)
	c.Arrive(low, 1, 0)
	c.Arrive(high, 0, 0)
	assert.Equal(t, high, next())
	assert.Equal(t, low, next(), "bound by another resource")
	c.Arrive(low, 2, 0)
	c.Completed(low, 0)
	assert.Nil(t, next(), "too many multiprocessors")
}

// TestTallyWaits checks the idle time.
func TestTallyWaits(t *testing.T) {
	c := New(&Tally{Idle: 100 * us, Most: 100 * us})
	high, low := c.Add("high", 9, oneStage(us)), c.Add("low", 0, oneStage(us, us))
	c.Arrive(high, 0, 0)
	c.Arrive(low, 0, 0)
	g, _ := c.Next(0)
	assert.Equal(t, high, g.Program)
	c.Completed(high, us)
	g, wake := c.Next(us)
	assert.Zero(t, g.Units)
	assert.Equal(t, 101*us, wake)
	g, _ = c.Next(wake)
	assert.Equal(t, low, g.Program)
	g, _ = c.Next(wake)
	assert.Zero(t, g.Units, "one at a time")
}

// TestDecisionsAllocateNothing counts allocations of whole runs.
func TestDecisionsAllocateNothing(t *testing.T) {
	for _, p := range policies() {
		c, programs := steady(p)
		now := time.Duration(0)
		turn := func() { now = round(c, programs, now) }
		for range 500 {
			turn()
		}
		assert.Zero(t, testing.AllocsPerRun(200, turn), p.Name())
	}
}

func steady(p Policy) (*Core, []*Program) {
	c := New(p)
	return c, []*Program{c.Add("high", 9, oneStage(repeat(10, 40*us)...)), c.Add("low", 0, oneStage(repeat(100, 10*us)...))}
}

// round submits what is idle, and grants and ends units for a while.
func round(c *Core, programs []*Program, now time.Duration) time.Duration {
	for i, p := range programs {
		if !p.Busy() {
			c.Arrive(p, 0, now)
		}
		for range 4 {
			if g, _ := c.Next(now); g.Units == 0 {
				break
			}
		}
		if len(p.flying) > 0 && i == 0 || len(p.flying) > 1 {
			c.Completed(p, now+us)
		}
		now += 100 * us
	}
	return now
}

// BenchmarkDecision measures the cost of a granted unit: Next and Completed, with ten programs.
func BenchmarkDecision(b *testing.B) {
	c := New(NewFill(Fill{Guard: noGuard}))
	high := c.Add("high", 9, oneStage(40*us))
	for i := range 9 {
		c.Arrive(c.Add("low", i, oneStage(repeat(1000, 10*us)...)), 0, 0)
	}
	now := time.Duration(0)
	for range 100 {
		c.Arrive(high, 0, now)
		c.Next(now)
		now += 40 * us
		c.Completed(high, now)
		now += 10 * ms
	}
	now -= 10 * ms
	for b.Loop() {
		g, _ := c.Next(now)
		if g.Units == 0 {
			b.Fatal("nothing to do")
		}
		if c.Completed(g.Program, now) {
			c.Arrive(g.Program, 0, now)
		}
	}
}

// TestUnitsThatDoNotFitAreWorthTheirDelay has gaps that are hardly longer than a unit and its launch. The quantile alone leaves most
// of them empty, at a delay far below the target, so the price of a delay rises. A mean leaves all empty.
func TestUnitsThatDoNotFitAreWorthTheirDelay(t *testing.T) {
	units := repeat(100, 20*us)
	run := func(f Fill) (slower, share float64) {
		s := newSerial(NewFill(f))
		high, low := s.client("high", 9, oneStage(40*us), 4000, logNormal(4, 25*us, 0.25)), s.client("low", 0, oneStage(units...), 0, always(0))
		s.run(high, low)
		st := high.p.Stats()
		bound, _ := NewFill(f).Bound(s.core)
		assert.LessOrEqual(t, st.MaxLate, bound)
		return 1 + float64(st.Late)/float64(st.Alone), float64(s.busy[low.p]) / float64(s.now)
	}
	last := 0.0
	_, mean := run(Fill{Mean: true})
	for _, target := range []float64{0.005, 0.01, 0.02} {
		slower, share := run(Fill{Target: target})
		t.Logf("target %v: delay %.4f, share %.3f; mean: %.3f", target, slower-1, share, mean)
		assert.Less(t, slower-1, 1.15*target)
		assert.Greater(t, slower-1, 0.5*target, "the target is used")
		assert.Greater(t, share, last)
		last = share
	}
	assert.Greater(t, last, 2*mean)
}

// TestParse parses names with parameters, and refuses those out of range.
func TestParse(t *testing.T) {
	for _, name := range []string{"fill", "fill:2%", "fill:0.5%", "mean", "flag", "fifo:16", "timeslice:5ms"} {
		p, err := Parse(name)
		require.NoError(t, err)
		assert.Equal(t, name, p.Name())
	}
	for _, name := range []string{"fill:", "fill:2", "fill:0%", "fill:101%", "fill:NaN%", "flag:1", "fifo", "fifo:0", "timeslice:0s", ""} {
		_, err := Parse(name)
		assert.Error(t, err, name)
	}
}

// TestLongUnitsUseTheTarget runs units that are longer than a piece and that usually fit into the gaps. Most gaps are
// filled, at a delay below the target.
func TestLongUnitsUseTheTarget(t *testing.T) {
	for _, gap := range []time.Duration{ms, 10 * ms} {
		f := NewFill(Fill{Guard: noGuard})
		o := pair(f, 500, logNormal(2, gap, 0.3), append(repeat(10, 10*us), 400*us)...)
		greedy := pair(NewFill(Fill{Greedy: true, Guard: noGuard}), 500, logNormal(2, gap, 0.3), append(repeat(10, 10*us), 400*us)...)
		assert.Less(t, o.slower, 1.012, gap)
		assert.Greater(t, o.share, 0.8*greedy.share, gap)
		bound, oversize := f.Bound(o.serial.core)
		assert.LessOrEqual(t, o.worst, bound+oversize)
	}
}

// TestOnePieceIsInFlight checks that the second piece is granted just before the first ends.
func TestOnePieceIsInFlight(t *testing.T) {
	c := New(NewFill(Fill{Guard: 10 * us}))
	c.Add("high", 9, oneStage(us))
	low := c.Add("low", 0, oneStage(repeat(20, 20*us)...))
	c.Arrive(low, 0, 0)
	g, _ := c.Next(0)
	assert.Equal(t, 5, g.Units)
	g, wake := c.Next(0)
	assert.Zero(t, g.Units)
	assert.Equal(t, 90*us, wake)
	g, _ = c.Next(wake)
	assert.Equal(t, 5, g.Units)
	g, wake = c.Next(wake)
	assert.Zero(t, g.Units)
	assert.Equal(t, Never, wake, "two are in flight")
}

// BenchmarkSynchronousIssue measures what the decisions of Fill cost for each grant where the important program waits for each
// kernel, so that most decisions grant nothing. Metrics are the time of Next for each grant, and its calls.
func BenchmarkSynchronousIssue(b *testing.B) {
	p := &timed{Policy: NewFill(Fill{})}
	for b.Loop() {
		s := newSerial(p)
		var stages []Stage
		for range 40 {
			stages = append(stages, oneStage(20*us)...)
		}
		high := s.client("high", 9, stages, 200, logNormal(1, 25*us, 0.25))
		s.run(high, s.client("low", 0, oneStage(append(repeat(50, 20*us), 1200*us)...), 0, always(0)))
		p.grants += s.grants
	}
	b.ReportMetric(float64(p.took.Nanoseconds())/float64(p.grants), "ns/grant")
	b.ReportMetric(float64(p.calls)/float64(p.grants), "calls/grant")
}

// timed is a policy whose decisions are timed.
type timed struct {
	Policy
	calls, grants int
	took          time.Duration
}

func (t *timed) Next(c *Core, now time.Duration) (Grant, time.Duration) {
	began := time.Now()
	g, wake := t.Policy.Next(c, now)
	t.took += time.Since(began)
	t.calls++
	return g, wake
}

// ended hands the end of a stage on.
func (t *timed) ended(p *Program) { t.Policy.(follower).ended(p) }
