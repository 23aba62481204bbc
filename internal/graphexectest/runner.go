package graphexectest

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/segments"
)

// Runners replays random programs by pieces on the device, and stops them at random moments, with random changes and
// replays of other kinds in between. It makes the same calls one by one on another device, and requires that both leave
// the same bytes. cases is the least number of stops. open returns a new device. The device must not report the write of
// the flag as a race.
func Runners(t *testing.T, open func() device.Device, cases int) {
	total := stopped{}
	for seed := uint64(0); total.stops < cases; seed++ {
		total.program(t, open, seed)
	}
	t.Logf("%+v, %+v", total, total.tally)
	require.Positive(t, total.inside)
	require.Positive(t, total.late)
	require.Positive(t, total.queued)
	require.Positive(t, total.rebuilds)
	require.Positive(t, total.updates)
	require.Greater(t, total.replays, cases/4)
}

// stopped counts what Runners has done.
type stopped struct {
	tally
	stops             int
	inside            int // that ended a launch before its last unit
	late              int // after which all units had run
	queued            int // that ended two launches, the second before its first unit
	updates, rebuilds int
}

// launched is a program that is replayed by a Runner.
type launched struct {
	*cutProgram
	runner segments.Runner
	clock  device.Stream // that lets time pass
	word   device.Ptr
	ended  int // replays of the runner that were compared
}

func (c *stopped) program(t *testing.T, open func() device.Device, seed uint64) {
	plain, replayed := open(), open()
	r := rand.New(rand.NewPCG(seed, 7))
	x := &launched{cutProgram: c.cut(t, plain, replayed, seed, r, true)}
	var err error
	x.runner, err = x.pieces.Runner()
	require.NoError(t, err, x.what)
	_, err = x.pieces.Runner()
	require.ErrorContains(t, err, "already has a Runner", x.what)
	x.clock, err = replayed.CreateStream(0)
	require.NoError(t, err)
	x.word, err = replayed.Alloc(4)
	require.NoError(t, err)
	for range 24 {
		c.turn(x)
	}
	x.finish()
	c.replays += x.ended
	require.Equal(t, x.m.want.read(), x.m.read(), x.what)
	stats := x.exec.Stats()
	c.updates, c.rebuilds = c.updates+stats.Updates, c.rebuilds+stats.Rebuilds
	if r.IntN(2) == 0 {
		require.NoError(t, x.runner.Close(), x.what)
		require.ErrorContains(t, x.runner.Launch(x.stream, 1), "closed segments.Program", x.what)
	}
	require.NoError(t, replayed.Free(x.word))
	require.NoError(t, replayed.DestroyStream(x.clock))
	x.close()
	require.NoError(t, x.runner.Close(), x.what)
	require.NoError(t, plain.Close())
	require.NoError(t, replayed.Close())
}

// turn makes one or two launches and stops them after a while. Between replays, it may change the program, or replay it in
// other ways.
func (c *stopped) turn(x *launched) {
	if x.rest() > 0 {
		require.ErrorContains(x.t, x.exec.Replay(context.Background()), "has stopped on the device after", x.what)
		require.ErrorContains(x.t, x.exec.Set("amount", 0.5), "has stopped on the device after", x.what)
		require.ErrorContains(x.t, x.pieces.Submit(x.stream, 0, 1), "has stopped on the device after", x.what)
		if x.r.IntN(2) == 0 {
			x.finish()
		}
	}
	if x.rest() == 0 && x.r.IntN(2) == 0 {
		x.m.step(x.exec, x.what)
		c.whole(x)
	}
	before, launches := x.at(), 1+x.r.IntN(2)
	units := 1 + x.r.IntN(3*len(x.pieces.Units()))
	for range launches {
		require.NoError(x.t, x.runner.Launch(x.stream, units), x.what)
	}
	require.ErrorContains(x.t, x.exec.Set("amount", 0.5), "has not ended", x.what)
	require.ErrorContains(x.t, x.runner.Reset(), "has not ended", x.what)
	x.pass()
	require.NoError(x.t, x.runner.Stop(), x.what)
	require.NoError(x.t, x.m.dev.Synchronize(x.stream), x.what)
	c.stops++
	x.rest()
	ran := x.at() - before
	switch {
	case ran == launches*units:
		c.late++
	case ran < units && launches == 2:
		c.queued++
	default:
		c.inside++
	}
	require.LessOrEqual(x.t, ran, launches*units, x.what)
}

// at returns the number of units that have run.
func (x *launched) at() int {
	replays, unit := x.runner.Progress()
	return replays*len(x.pieces.Units()) + unit
}

// finish launches what is left of a replay.
func (x *launched) finish() {
	if unit := x.rest(); unit > 0 {
		require.NoError(x.t, x.runner.Launch(x.stream, len(x.pieces.Units())-unit), x.what)
		require.NoError(x.t, x.m.dev.Synchronize(x.stream), x.what)
		require.Zero(x.t, x.rest(), x.what)
	}
}

// whole replays the program as a whole, and by pieces without the runner.
func (c *stopped) whole(x *launched) {
	if x.r.IntN(2) == 0 {
		require.NoError(x.t, x.exec.Replay(context.Background()), x.what)
		x.ran()
		require.NoError(x.t, x.m.dev.SynchronizeAll())
	}
	if x.r.IntN(2) == 0 {
		c.submit(x.cutProgram, len(x.pieces.Units()))
		require.NoError(x.t, x.m.dev.SynchronizeAll())
	}
	require.Equal(x.t, x.m.want.read(), x.m.read(), x.what)
	x.m.input()
}

// pass lets some time pass on the device.
func (x *launched) pass() {
	for range x.r.IntN(60) {
		require.NoError(x.t, x.m.dev.Submit(x.clock, &device.Memset{Dst: x.word, Width: 4, Count: 1}))
	}
	require.NoError(x.t, x.m.dev.Synchronize(x.clock), x.what)
}

// rest makes the calls of the replays that have ended since the last time. It returns the unit that is next.
func (x *launched) rest() int {
	replays, unit := x.runner.Progress()
	for ; x.ended < replays; x.ended++ {
		x.ran()
	}
	return unit
}
