package graphexec_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/graphexectest"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/wrap"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

func TestChangesLeaveTheBytesOfChangedPrograms(t *testing.T) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 15
	}
	graphexectest.Changes(t, func() device.Device {
		dev, err := sim.New(sim.Options{Memo: sim.MemoOff, Race: sim.RaceOn})
		require.NoError(t, err)
		return dev
	}, seeds)
}

const pingPong = `
graph relay {
  module m "m.ptx"
  param $alpha f32 = 0.5
  buffer @a f32[64] device(0) inout
  buffer @b f32[64] device(0) inout
  buffer @c f32[32] device(0) inout
  buffer @h f32[64] pinned output
  buffer @k f32[64] pinned output
  buffer @unused f32[64] device(0) inout
  %0 = launch m.step grid(2) block(32) args(@a, @b, $alpha) uses(read @a, write @b)
  %1 = launch m.step grid(2) block(32) args(@b, @a, $alpha) uses(read @b, write @a)
  %2 = launch m.norm grid(1) block(32) args(@a, @c) uses(read @a, write @c)
  %3 = copy @a[0:256] -> @h[0:256]
  %4 = copy @b[0:256] -> @k[0:256]
  %5 = host "look" uses(read @k)
}
`

func relayed(t *testing.T, form graphexec.Backend) (*graphexec.Exec, *null.Device, *bound) {
	return instantiateRelay(t, plan(t, pingPong, "serial"), form)
}

func instantiateRelay(t *testing.T, s *ir.Schedule, form graphexec.Backend) (*graphexec.Exec, *null.Device, *bound) {
	dev := null.New()
	b := bind(t, dev, s.Graph)
	for i := range b.buffers {
		if s.Graph.Buffers[i].Place.Kind == ir.PinnedHost {
			p, _, err := dev.AllocHost(256)
			require.NoError(t, err)
			b.buffers[i] = p
		}
	}
	x, err := graphexec.Instantiate(dev, s, b, form)
	require.NoError(t, err)
	return x, dev, b
}

func TestChangesThatAreNotPossibleSayWhy(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		x, dev, b := relayed(t, form)
		small, err := dev.Alloc(128)
		require.NoError(t, err)
		large, err := dev.Alloc(1024)
		require.NoError(t, err)
		pinned, _, err := dev.AllocHost(256)
		require.NoError(t, err)
		for _, c := range []struct {
			change graphexec.Change
			why    string
		}{
			{graphexec.Param("beta", 1), "no parameter $beta: the trace declares $alpha"},
			{graphexec.Swap("a", "z"), "no buffer @z in relay: it has @a, @b, @c, @h, @k, @unused"},
			{graphexec.Swap("a", "c"), "buffers @a and @c cannot change places: they have 256 and 128 bytes"},
			{graphexec.Swap("a", "unused"), "buffer @unused is used by no operation"},
			{graphexec.Swap("h", "k"), `buffer @k is used by host call look, which would go on with the memory that it has`},
			{graphexec.Rebind("a", large+4), "buffer @a cannot begin at"},
			{graphexec.Rebind("a", small), "buffer @a needs 256 bytes: "},
			{graphexec.Rebind("a", b.buffers[1]), "buffer @a would share memory with @b, and the plan does not order them: use other memory, or trace again"},
			{graphexec.Rebind("a", pinned), "buffer @a is in device memory and cannot be in pinned memory, for step#1 uses it"},
			{graphexec.Enable("step", false), "2 operations are called step: use the name of one of step#1, step#2"},
			{graphexec.Enable("%9", false), "no operation %9 in relay: use its label, its kernel or its number, as in %0"},
			{graphexec.Grid("%3", ir.Dim3{X: 1, Y: 1, Z: 1}), "copy:h: it is no launch and has no grid"},
			{graphexec.Grid("norm", ir.Dim3{X: 2, Y: 1, Z: 1}), "norm: what it would touch with another grid is not known: the trace was read from a file"},
		} {
			_, err := x.Preflight(c.change)
			assert.ErrorContains(t, err, c.why)
			assert.ErrorContains(t, x.Apply(graphexec.Param("alpha", 2), c.change), c.why)
		}
		assert.Equal(t, graphexec.Stats{}, x.Stats(), "nothing was changed")
		require.NoError(t, x.Apply(graphexec.Rebind("a", large), graphexec.Rebind("b", large+256), graphexec.Swap("a", "b")), "parts of one allocation")
		require.NoError(t, x.Apply(graphexec.Rebind("b", b.buffers[0]), graphexec.Rebind("a", b.buffers[1])), "where the other was in the trace")
		const shares = "would share memory with"
		assert.ErrorContains(t, x.Apply(graphexec.Rebind("a", b.buffers[0])), shares)
		assert.ErrorContains(t, x.Apply(graphexec.Swap("a", "b"), graphexec.Rebind("a", b.buffers[1])), shares)
		assert.ErrorContains(t, x.Apply(graphexec.Rebind("a", large), graphexec.Rebind("b", large)), shares)
		assert.ErrorContains(t, x.Apply(graphexec.Swap("a", "b"), graphexec.Rebind("c", b.buffers[0])), shares, "where one of those that change places is put")
		require.NoError(t, x.Apply(graphexec.Rebind("a", large), graphexec.Rebind("b", b.buffers[1])), "where it is no more")
		require.NoError(t, x.Close())
	})
}

func TestFreedBuffersDoNotChangePlaces(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		s := plan(t, pingPong, "serial")
		dev := &reborn{Device: null.New()}
		b := bind(t, dev.Device, s.Graph)
		dev.at = b.buffers[0]
		x, err := graphexec.Instantiate(dev, s, b, form)
		require.NoError(t, err)
		dev.times++ // @a was freed, and somebody else has memory at its address
		assert.ErrorContains(t, x.Apply(graphexec.Swap("a", "b")), "buffer @a was freed")
		assert.ErrorContains(t, x.Replay(context.Background()), "buffer @a was freed")
	})
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		x, dev, b := relayed(t, form)
		require.NoError(t, dev.Free(b.buffers[0]))
		assert.ErrorContains(t, x.Apply(graphexec.Swap("b", "a")), "buffer @a was freed")
	})
}

func TestPreflightSaysWhatChangesInPlace(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		x, dev, _ := relayed(t, form)
		p, err := dev.Alloc(256)
		require.NoError(t, err)
		verdicts, err := x.Preflight(graphexec.Swap("a", "b"), graphexec.Rebind("h", p), graphexec.Enable("norm", false))
		require.NoError(t, err)
		require.Len(t, verdicts, 3)
		assert.Equal(t, "swap @a and @b: 5 operations in place", verdicts[0].String())
		assert.Equal(t, "disable norm: one operation in place", verdicts[2].String())
		want := graphexec.Stats{Updates: 5}
		if form == graphexec.Graph {
			want = graphexec.Stats{Rebuilds: 1}
			assert.Equal(t, "copy:h would move from pinned memory to device memory, and a node keeps the kind of its ends", verdicts[1].Rebuild)
		}
		assert.Equal(t, graphexec.Stats{}, x.Stats(), "it did nothing")
		require.NoError(t, x.Apply(graphexec.Swap("a", "b"), graphexec.Rebind("h", p), graphexec.Enable("norm", false)))
		assert.Equal(t, want, x.Stats())
		require.NoError(t, x.Replay(context.Background()))
		require.NoError(t, x.Close())
	})
}

// TestAGroupKeepsTheKindsOfItsCopies is about streams, whose list is changed in place but for the nodes of its groups.
func TestAGroupKeepsTheKindsOfItsCopies(t *testing.T) {
	file, err := ir.Parse("test.rir", pingPong)
	require.NoError(t, err)
	res, err := optimizer.Plan(file.Graph, optimizer.Options{Strategy: "serial", Streams: true, Also: []string{"group"}})
	require.NoError(t, err)
	require.NotNil(t, res.Schedule.Joined)
	x, dev, _ := instantiateRelay(t, res.Schedule, graphexec.Streams)
	p, err := dev.Alloc(256)
	require.NoError(t, err)
	verdicts, err := x.Preflight(graphexec.Rebind("h", p))
	require.NoError(t, err)
	assert.Equal(t, "copy:h would move from pinned memory to device memory, and a node keeps the kind of its ends", verdicts[0].Rebuild)
	first, live := x.Stream(), dev.Live()
	require.NoError(t, x.Replay(context.Background()))
	require.NoError(t, x.Apply(graphexec.Rebind("h", p)))
	require.NoError(t, x.Replay(context.Background()))
	assert.Equal(t, graphexec.Stats{Replays: 2, Rebuilds: 1}, x.Stats())
	assert.Equal(t, first, x.Stream(), "a rebuild keeps the first stream")
	assert.Equal(t, live, dev.Live(), "and what it had is gone")
	require.NoError(t, x.Close())
}

// TestAChangeTakesNoMoreInALargerProgram counts the bytes that changes of one and of two buffers allocate.
func TestAChangeTakesNoMoreInALargerProgram(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		small, large := changeBytes(t, form, 2), changeBytes(t, form, 2000)
		assert.Less(t, large, 2*small)
	})
}

// changeBytes returns the bytes that a Set and a Swap allocate in a program with the given number of buffers.
func changeBytes(t *testing.T, form graphexec.Backend, buffers int) uint64 {
	var text strings.Builder
	fmt.Fprintln(&text, "graph pairs {\n  module m \"m.ptx\"\n  param $alpha f32 = 0.5")
	for i := range buffers {
		fmt.Fprintf(&text, "  buffer @b%d f32[64] device(0) inout\n", i)
	}
	fmt.Fprintln(&text, "  %0 = launch m.step grid(2) block(32) args(@b0, @b1, $alpha) uses(read @b0, write @b1)")
	for i := 2; i < buffers; i += 2 {
		fmt.Fprintf(&text, "  %%%d = launch m.step grid(2) block(32) args(@b%d, @b%d) uses(read @b%d, write @b%d)\n", i/2, i, i+1, i, i+1)
	}
	s := plan(t, text.String()+"}\n", "serial")
	dev := null.New()
	x, err := graphexec.Instantiate(dev, s, bind(t, dev, s.Graph), form)
	require.NoError(t, err)
	change := func() {
		require.NoError(t, x.Set("alpha", 2))
		require.NoError(t, x.Apply(graphexec.Swap("b0", "b1")))
	}
	change()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 100 {
		change()
	}
	runtime.ReadMemStats(&after)
	require.NoError(t, x.Close())
	return (after.TotalAlloc - before.TotalAlloc) / 100
}

// mark writes the number of each thread where its number says.
const mark = `
.version 6.0
.target sm_52
.address_size 64
.visible .entry mark(.param .u64 out)
{
	.reg .b32 %r<5>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [out];
	cvta.to.global.u64 %rd1, %rd1;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.s32 %r4, %r1, %r2, %r3;
	mul.wide.s32 %rd2, %r4, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r4;
	ret;
}
`

func TestAGridMayNotReachFartherThanThatOfTheTrace(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		dev, err := sim.New(sim.Options{})
		require.NoError(t, err)
		tr := tracer.New(dev, "mark", tracer.Deferred)
		out := tr.Alloc("out", ir.U32, 128, ir.InOut)
		tr.Launch(tr.Module("mark.ptx", mark).Kernel("mark"), tracer.Linear(2, 32), out)
		trace, err := tr.Finish()
		require.NoError(t, err)
		x := instantiate(t, dev, trace, form)
		assert.ErrorContains(t, x.Apply(graphexec.Grid("mark", ir.Dim3{X: 3, Y: 1, Z: 1})),
			"with a grid of (3,1,1) it would touch @out[0:384], which is more than the plan contains: trace it with the largest grid")
		assert.ErrorContains(t, x.Apply(graphexec.Grid("mark", ir.Dim3{X: 0, Y: 1, Z: 1})), "every extent is at least 1")
		require.NoError(t, x.Apply(graphexec.Grid("mark", ir.Dim3{X: 1, Y: 1, Z: 1})))
		require.NoError(t, x.Replay(context.Background()))
		require.NoError(t, x.Wait(context.Background()))
		got := make([]uint32, 128)
		require.NoError(t, tracer.Read(got, out))
		assert.EqualValues(t, 31, got[31])
		assert.Zero(t, got[63], "a second block")
		require.NoError(t, x.Close())
		require.NoError(t, trace.Close())
		require.NoError(t, dev.Close())
	})
}

func TestMemoryThatWasFreedIsRefusedByName(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		x, dev, b := relayed(t, form)
		ctx := context.Background()
		require.NoError(t, dev.Free(b.buffers[5]), "@unused")
		require.NoError(t, x.Replay(ctx))
		require.NoError(t, dev.Free(b.buffers[1]))
		assert.EqualError(t, x.Replay(ctx), "buffer @b was freed, or moved, after it was bound: close its trace after the Exec, bind it to other memory with Rebind, or instantiate again")
		p, err := dev.Alloc(256)
		require.NoError(t, err)
		require.NoError(t, x.Apply(graphexec.Rebind("b", p)))
		require.NoError(t, x.Replay(ctx))
		assert.Equal(t, 2, x.Stats().Replays)
		require.NoError(t, x.Close())
	})
}

// reborn is a device on which one address has come again: what lies there is another allocation.
type reborn struct {
	*null.Device
	at    device.Ptr
	times uint64
}

func (d *reborn) Freed() uint64 { return d.times }

func (d *reborn) Allocation(p device.Ptr, bytes int64) (device.Allocation, error) {
	a, err := d.Device.Allocation(p, bytes)
	if p == d.at {
		a.Serial += 1000 * d.times
	}
	return a, err
}

// TestAnAddressMayComeAgain binds a buffer to the address that it had, where a driver has put other memory since.
func TestAnAddressMayComeAgain(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		const gone = "buffer @b was freed, or moved, after it was bound: close its trace after the Exec, bind it to other memory with Rebind, or instantiate again"
		s := plan(t, pingPong, "serial")
		dev := &reborn{Device: null.New()}
		b := bind(t, dev.Device, s.Graph)
		dev.at = b.buffers[1]
		x, err := graphexec.Instantiate(dev, s, b, form)
		require.NoError(t, err)
		dev.times++
		assert.EqualError(t, x.Replay(context.Background()), gone)
		assert.EqualError(t, x.Set("alpha", 2), gone, "an update would be of operations that use it")
		_, err = x.Preflight(graphexec.Param("alpha", 2))
		assert.EqualError(t, err, gone)
		require.NoError(t, x.Apply(graphexec.Rebind("b", dev.at), graphexec.Param("alpha", 2)))
		require.NoError(t, x.Replay(context.Background()))
		require.NoError(t, x.Close())
	})
}

// TestManagedMemoryThatWasFreedCanBeReplaced by memory of the kind that it had.
func TestManagedMemoryThatWasFreedCanBeReplaced(t *testing.T) {
	forEachBackend(t, func(t *testing.T, form graphexec.Backend) {
		s := plan(t, strings.Replace(pingPong, "@b f32[64] device(0)", "@b f32[64] managed", 1), "serial")
		dev := null.New()
		b := bind(t, dev, s.Graph)
		x, err := graphexec.Instantiate(dev, s, b, form)
		require.NoError(t, err)
		require.NoError(t, dev.Free(b.buffers[1]))
		at, err := dev.Alloc(256)
		require.NoError(t, err)
		assert.ErrorContains(t, x.Apply(graphexec.Rebind("b", at)), "buffer @b is in managed memory and cannot be in device memory")
		at, _, err = dev.AllocManaged(256)
		require.NoError(t, err)
		require.NoError(t, x.Apply(graphexec.Rebind("b", at)))
		require.NoError(t, x.Replay(context.Background()))
		require.NoError(t, x.Close())
	})
}

// TestAFailedRebuildLeavesTheInstanceAsItWas has a device refuse one update and the instance that is to replace it.
func TestAFailedRebuildLeavesTheInstanceAsItWas(t *testing.T) {
	s := plan(t, pingPong, "serial")
	plain := null.New()
	var last string // work of the first node
	armed, updates := false, 0
	dev := wrap.Intercept(plain, func(c *wrap.Call, next func() error) error {
		switch {
		case armed && c.Method == "UpdateNodes" && len(c.Args[1].([]device.NodeWork)) == 2 && updates == 0:
			return &device.Error{Call: c.Method, Code: device.GraphUpdateForbidden}
		case armed && c.Method == "UpdateNode":
			if updates++; updates == 2 {
				return &device.Error{Call: c.Method, Code: device.GraphUpdateForbidden}
			}
			last = fmt.Sprint(c.Args[2].(*device.Launch).Params)
		case armed && c.Method == "UpdateNodes":
			last = fmt.Sprint(c.Args[1].([]device.NodeWork)[0].Work.(*device.Launch).Params)
		case armed && c.Method == "Instantiate":
			return &device.Error{Call: c.Method, Code: device.OutOfMemory}
		case c.Method == "AddNode" && last == "":
			last = fmt.Sprint(c.Args[2].(*device.Launch).Params)
		}
		return next()
	})
	x, err := graphexec.Instantiate(dev, s, bind(t, plain, s.Graph), graphexec.Graph)
	require.NoError(t, err)
	was := last
	armed = true
	assert.ErrorContains(t, x.Set("alpha", 2), "instantiate relay again: Instantiate: CUDA_ERROR_OUT_OF_MEMORY")
	assert.Equal(t, 2, updates)
	assert.Equal(t, was, last, "what was updated before the one that was refused")
	armed = false
	require.NoError(t, x.Close())
}
