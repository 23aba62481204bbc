//go:build cuda && cgo

package cuda

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/lazycuda"
)

// TestStretchesAreTheCommandsThatWereAskedFor checks that the steps passed to C contain exactly the given commands.
func TestStretchesAreTheCommandsThatWereAskedFor(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		cs := randomCommands(r, 1+r.IntN(12))
		at, steps, waits := places(cs)
		l := &list{steps: newSteps(steps), sources: at}
		var of [][]int // by step: its commands
		for i, c := range cs {
			if at[i].within == 0 {
				of = append(of, nil)
			} else {
				require.Equal(t, cs[i-1].Stream, c.Stream, "a step is of one stream")
				require.False(t, cs[i-1].Kind == device.Record, "a record is the last of its step")
				require.True(t, cs[i-1].Kind == device.Await || c.Kind == device.Record, "a wait comes before the work")
			}
			require.Len(t, of, at[i].step+1)
			of[at[i].step] = append(of[at[i].step], i)
			l.steps[at[i].step].raw.commands++
			if c.Kind == device.Await {
				waits--
			}
		}
		require.Len(t, of, steps)
		require.Zero(t, waits)
		from, n := r.IntN(len(cs)), r.IntN(3*len(cs))
		var want []int
		for i := range n {
			want = append(want, (from+i)%len(cs))
		}
		first, within, head, whole, tail := l.stretch(from, n)
		require.Equal(t, want, expand(of, first, within, head, whole, tail), "%d commands from %d on of %v", n, from, cs)
		freeSteps(l.steps)
	}
}

// expand returns the commands that driver_submit would enqueue for the same arguments.
func expand(steps [][]int, at, within, head, whole, tail int) (done []int) {
	next := func() { at = (at + 1) % len(steps) }
	if head > 0 {
		done = append(done, steps[at][within:within+head]...)
		next()
	}
	for range whole {
		done = append(done, steps[at]...)
		next()
	}
	return append(done, steps[at][:tail]...)
}

func randomCommands(r *rand.Rand, n int) (cs []device.Command) {
	for range n {
		cs = append(cs, device.Command{
			Kind:   []device.CommandKind{device.Run, device.Record, device.Await, device.RunGraph}[r.IntN(4)],
			Stream: device.Stream(1 + r.IntN(2)),
		})
	}
	return cs
}

// TestAFailedCommandIsNamed submits a list in which the module of one launch was unloaded, starting from each command.
func TestAFailedCommandIsNamed(t *testing.T) {
	d := open(t)
	defer func() { require.NoError(t, d.Close()) }()
	p, err := d.Alloc(4 * lanes)
	require.NoError(t, err)
	var streams [2]device.Stream
	var events [2]device.Event
	for i := range streams {
		streams[i], err = d.CreateStream(0)
		require.NoError(t, err)
		events[i], err = d.CreateEvent()
		require.NoError(t, err)
	}
	good := squares(loadSquare(t, d), p, p)
	m, err := d.LoadModule("gone.ptx", square)
	require.NoError(t, err)
	f, err := d.Function(m, "square")
	require.NoError(t, err)
	const failing = 5
	list, err := d.CompileCommands([]device.Command{
		{Kind: device.Record, Stream: streams[0], Event: events[0]},
		{Kind: device.Await, Stream: streams[1], Event: events[0]},
		{Kind: device.Run, Stream: streams[1], Work: good},
		{Kind: device.Record, Stream: streams[1], Event: events[1]},
		{Kind: device.Await, Stream: streams[0], Event: events[1]},
		{Kind: device.Run, Stream: streams[0], Work: squares(f, p, p)},
		{Kind: device.Record, Stream: streams[0], Event: events[0]},
		{Kind: device.Run, Stream: streams[0], Work: good},
	})
	require.NoError(t, err)
	require.NoError(t, d.SubmitCommands(list, 0, 8))
	require.NoError(t, d.UnloadModule(m))
	for from := range 8 {
		require.ErrorContains(t, d.SubmitCommands(list, from, 30), "command 5: ", "from %d", from)
		before := (failing - from + 8) % 8
		require.NoError(t, d.SubmitCommands(list, from, before), "from %d, up to it", from)
	}
}

// TestGraphsAreUploadedWhenTheirListIsCompiled counts four driver calls for each graph: an upload, a wait, and the two
// calls of the crossing.
func TestGraphsAreUploadedWhenTheirListIsCompiled(t *testing.T) {
	if !simulated() {
		t.Skip("a GPU answers, whose driver does not count")
	}
	r := newReplay(t)
	compiling := func(cs []device.Command) uint64 {
		before := lazycuda.Calls()
		_, err := r.CompileCommands(cs)
		require.NoError(t, err)
		return lazycuda.Calls() - before
	}
	run := device.Command{Kind: device.RunGraph, Stream: r.stream, Exec: r.exec}
	require.Zero(t, compiling([]device.Command{{Stream: r.stream, Work: r.launch}}))
	require.EqualValues(t, 8, compiling([]device.Command{run, {Stream: r.stream, Work: r.launch}, run}))
}
