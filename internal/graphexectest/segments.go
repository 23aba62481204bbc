package graphexectest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/segments"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// Segments replays random programs piece by piece, two of which take turns at random on streams of different priorities,
// with random changes and whole replays in between. It makes the same calls one by one on another device, and requires
// that both leave the same bytes. cases is the least number of replays by pieces. open returns a new device.
func Segments(t *testing.T, open func() device.Device, cases int) {
	total := tally{}
	for seed := uint64(0); total.replays < cases; seed++ {
		total.pair(t, open, seed)
	}
	t.Logf("%+v", total)
	require.Greater(t, total.pieces, total.replays, "programs are cut")
	require.Positive(t, total.sliced)
	require.Positive(t, total.stops)
	require.Positive(t, total.coarse)
}

// tally counts what Segments has done.
type tally struct {
	replays, pieces int // by pieces, and units of these
	stops           int // replays that were stopped, with work of another program in between
	coarse          int // pieces of more than one unit
	sliced          int // programs with slices
}

// pair replays two programs by turns.
func (c *tally) pair(t *testing.T, open func() device.Device, seed uint64) {
	plain, replayed := open(), open()
	r := rand.New(rand.NewPCG(seed, 5))
	var both []*cutProgram
	for i := range uint64(2) {
		both = append(both, c.cut(t, plain, replayed, 2*seed+i, r, false))
	}
	last := both[0]
	for range 24 {
		p := both[r.IntN(2)]
		if p != last && last.cursor > 0 {
			c.stops++
		}
		c.turn(p)
		last = p
	}
	for _, p := range both {
		for p.cursor > 0 {
			c.submit(p, len(p.pieces.Units()))
		}
	}
	require.NoError(t, replayed.SynchronizeAll())
	for _, p := range both {
		require.Equal(t, p.m.want.read(), p.m.read(), p.what)
		p.close()
	}
	require.NoError(t, plain.Close())
	require.NoError(t, replayed.Close())
}

// cutProgram is a program that is replayed by pieces, and the same calls made one by one.
type cutProgram struct {
	t      *testing.T
	r      *rand.Rand
	what   string
	m      *mutator
	trace  *tracer.Trace
	exec   *graphexec.Exec
	pieces segments.Program
	stream device.Stream
	runs   int // of the program in one replay
	cursor int
}

// cut records, plans and instantiates the program of a seed. loop is program.loop.
func (c *tally) cut(t *testing.T, plain, replayed device.Device, seed uint64, r *rand.Rand, loop bool) *cutProgram {
	want, got := start(t, plain, tracer.Eager, seed), start(t, replayed, tracer.Deferred, seed)
	want.loop, got.loop = loop, loop
	got.run()
	trace, err := got.tr.Finish()
	require.NoError(t, err)
	strategies, with, form := optimizer.Strategies(), also[seed%uint64(len(also))], graphexec.Backends()[r.IntN(2)]
	passes := append([]string{fmt.Sprintf("segment(%dns)", []int{1, 1500, 2500, 5000, 20000}[r.IntN(5)])}, with.passes...)
	if r.IntN(4) == 0 {
		passes = append(passes, "merge")
	}
	strategy := strategies[r.IntN(len(strategies))].Name
	for strategy == "search" || strategy == "auto" {
		strategy = strategies[r.IntN(len(strategies))].Name
	}
	p := &cutProgram{t: t, r: r, what: fmt.Sprintf("seed %d, %s, %v, %v", seed, strategy, passes, form), trace: trace, runs: with.runs}
	plan, err := optimizer.Plan(withCosts(trace.Graph), optimizer.Options{Strategy: strategy, Streams: form == graphexec.Streams, Also: passes, Verify: true})
	require.NoError(t, err, p.what)
	p.exec, err = graphexec.Instantiate(replayed, plan.Schedule, trace, form)
	require.NoError(t, err, p.what)
	p.pieces, err = segments.Of(p.exec)
	require.NoError(t, err, p.what)
	p.stream, err = replayed.CreateStream(-r.IntN(2))
	require.NoError(t, err)
	fixed := with.relies || plan.Graph.Sliced != nil || plan.Graph.Merged != nil
	p.m = &mutator{r: r, want: want, got: got, dev: replayed, ops: trace.Graph.Ops, fixed: fixed, used: used(plan.Schedule.Graph), own: got.places(trace)}
	if plan.Graph.Sliced != nil {
		c.sliced++
	}
	return p
}

// withCosts returns g with a declared cost of 1 us for each block of a launch, so that launches of several blocks are cut.
func withCosts(g *ir.Graph) *ir.Graph {
	h := *g
	h.Ops = slices.Clone(g.Ops)
	for v := range h.Ops {
		if l := h.Ops[v].Launch; l != nil {
			h.Ops[v].Cost = 1000 * int64(l.Grid.Count())
		}
	}
	return &h
}

// turn submits some pieces of a program. Between replays, it may also change the program or replay it as a whole.
func (c *tally) turn(p *cutProgram) {
	if p.cursor > 0 {
		require.ErrorContains(p.t, p.exec.Replay(context.Background()), "a replay by segments has submitted", p.what)
		require.ErrorContains(p.t, p.exec.Set("amount", 0.5), "a replay by segments has submitted", p.what)
	} else if p.r.IntN(3) == 0 {
		require.NoError(p.t, p.m.dev.SynchronizeAll())
		p.m.step(p.exec, p.what)
		if p.r.IntN(2) == 0 {
			require.NoError(p.t, p.exec.Replay(context.Background()), p.what)
			p.ran()
			require.NoError(p.t, p.m.dev.SynchronizeAll())
			require.Equal(p.t, p.m.want.read(), p.m.read(), p.what)
			p.m.input()
		}
	}
	units := len(p.pieces.Units())
	c.submit(p, p.cursor+1+p.r.IntN(units-p.cursor))
	if p.r.IntN(4) == 0 {
		require.NoError(p.t, p.m.dev.Synchronize(p.stream), p.what)
	}
}

// submit submits the units up to one.
func (c *tally) submit(p *cutProgram, to int) {
	units := p.pieces.Units()
	require.LessOrEqual(p.t, p.pieces.Longest(p.cursor, p.pieces.Predicted(p.cursor, to)), len(units))
	require.NoError(p.t, p.pieces.Submit(p.stream, p.cursor, to), p.what)
	sum := int64(0)
	for _, u := range units[p.cursor:to] {
		sum += int64(u.Predicted)
	}
	if int64(p.pieces.Predicted(p.cursor, to)) != sum {
		c.coarse++
	}
	c.pieces += to - p.cursor
	p.cursor = to
	if to == len(units) {
		c.replays++
		p.cursor = 0
		p.ran()
	}
}

// ran makes the calls of one replay.
func (p *cutProgram) ran() {
	for range p.runs {
		p.m.want.run()
	}
}

func (p *cutProgram) close() {
	if p.r.IntN(2) == 0 {
		require.NoError(p.t, p.pieces.Close())
	}
	require.NoError(p.t, p.exec.Close())
	require.Error(p.t, p.pieces.Submit(p.stream, 0, 1))
	require.NoError(p.t, p.m.dev.DestroyStream(p.stream))
	for _, at := range p.m.fresh {
		require.NoError(p.t, p.m.dev.Free(at))
	}
	finished, err := p.m.want.tr.Finish()
	require.NoError(p.t, err)
	require.NoError(p.t, finished.Close())
	require.NoError(p.t, p.trace.Close())
}
