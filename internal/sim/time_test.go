package sim

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/profiles"
)

// handy is a device on which every call, gap and copy has a time of its own
// that a reader can add up: a digit of microseconds each.
func handy() *model.Profile {
	const us = model.Microsecond
	h200, err := profiles.Lookup("h200")
	if err != nil {
		panic("BUG: " + err.Error())
	}
	p := *h200
	p.LinkGBps = 1 // 1000 bytes take 1 us
	p.CopyInLatency, p.CopyOutLatency, p.CopyOnLatency, p.HostCallLatency = 0, 0, 0, 7*us
	p.ConditionLatency, p.GraphBodyGap = 8*us, 4*us
	p.SubmitLatency, p.StreamGap, p.EventGap, p.GraphEdgeGap, p.GraphRootGap = 10*us, 2*us, 5*us, 1*us, 3*us
	p.Host = model.HostCosts{Memcpy: 100 * us, EventRecord: 1 * us, EventWait: 1 * us, Synchronize: 4 * us,
		HostCall: 50 * us, GraphLaunch: 20 * us, GraphNode: 1 * us, GraphBranch: 6 * us}
	return &p
}

type timeline struct {
	*Device
	t         *testing.T
	s1, s2    device.Stream
	e1, e2    device.Event
	host, dev device.Ptr
	in, out   *device.Copy
}

func newTimeline(t *testing.T, trace ...func(Span)) *timeline {
	o := Options{Custom: handy()}
	for _, f := range trace {
		o.Trace = f
	}
	d := open(t, o)
	x := &timeline{Device: d, t: t}
	var err error
	x.s1, err = d.CreateStream(0)
	require.NoError(t, err)
	x.s2, err = d.CreateStream(0)
	require.NoError(t, err)
	x.e1, err = d.CreateEvent()
	require.NoError(t, err)
	x.e2, err = d.CreateEvent()
	require.NoError(t, err)
	x.dev, err = d.Alloc(1 << 20)
	require.NoError(t, err)
	x.host, _, err = d.AllocHost(1 << 20)
	require.NoError(t, err)
	x.in = &device.Copy{Dst: x.dev, Src: x.host, Bytes: 300_000}  // 300 us
	x.out = &device.Copy{Dst: x.host, Src: x.dev, Bytes: 200_000} // 200 us
	return x
}

// takes asserts how many microseconds of virtual time f takes the host.
func (x *timeline) takes(want int, what string, errs func() error) {
	x.t.Helper()
	start := x.Now()
	require.NoError(x.t, errs())
	assert.Equal(x.t, time.Duration(want)*time.Microsecond, x.Now()-start, what)
}

func TestSubmitReturnsAtOnceAndSynchronizeWaits(t *testing.T) {
	x := newTimeline(t)
	x.takes(100, "Submit", func() error { return x.Submit(x.s1, x.in) })
	x.takes(10+300+4, "Synchronize", func() error { return x.Synchronize(x.s1) })
	x.takes(4, "Synchronize when idle", func() error { return x.Synchronize(x.s1) })
}

func TestStreamGapSeparatesSuccessors(t *testing.T) {
	x := newTimeline(t)
	require.NoError(t, x.Submit(x.s1, x.in))
	require.NoError(t, x.Submit(x.s1, x.in)) // enqueued while the first runs
	x.takes(10+300-100+2+300+4, "Synchronize", func() error { return x.Synchronize(x.s1) })
}

func TestStreamsOverlap(t *testing.T) {
	x := newTimeline(t)
	require.NoError(t, x.Submit(x.s1, x.in))  // at 100: runs from 110 to 410
	require.NoError(t, x.Submit(x.s2, x.out)) // at 200: runs from 210 to 410
	x.takes(10+200+4, "SynchronizeAll", x.SynchronizeAll)
}

func TestEventGapSeparatesStreams(t *testing.T) {
	x := newTimeline(t)
	require.NoError(t, x.Submit(x.s1, x.in)) // at 100: from 110 to 410
	x.takes(2, "Record and Wait", func() error {
		require.NoError(t, x.Record(x.e1, x.s1))
		return x.Wait(x.s2, x.e1)
	})
	require.NoError(t, x.Submit(x.s2, x.out)) // at 202: from 415 to 615
	require.NoError(t, x.Record(x.e2, x.s2))
	require.NoError(t, x.Synchronize(x.s2))
	assert.Equal(t, 619*time.Microsecond, x.Now())
	span, err := x.Elapsed(x.e1, x.e2)
	require.NoError(t, err)
	assert.Equal(t, 205*time.Microsecond, span)
}

func TestElapsedOfWhatRunsIsNotReady(t *testing.T) {
	x := newTimeline(t)
	require.NoError(t, x.Record(x.e1, x.s1))
	require.NoError(t, x.Submit(x.s1, x.in))
	require.NoError(t, x.Record(x.e2, x.s1))
	_, err := x.Elapsed(x.e1, x.e2)
	assert.Equal(t, device.NotReady, device.CodeOf(err))
	require.NoError(t, x.Synchronize(x.s1))
	_, err = x.Elapsed(x.e1, x.e2)
	assert.NoError(t, err)
}

// in ─► call, in ─► out, (call, out) ─► nothing: three nodes do not simply
// continue a chain.
func TestGraphLaunchIsOneCall(t *testing.T) {
	x := newTimeline(t)
	g, err := x.CreateGraph()
	require.NoError(t, err)
	node := func(w device.Work, deps ...device.Node) device.Node {
		n, err := x.AddNode(g, deps, w)
		require.NoError(t, err)
		return n
	}
	in := node(x.in)
	call := node(&device.HostCall{Func: func() error { return nil }}, in)
	out := node(x.out, in)
	node(device.Nothing{}, call, out)
	exec, err := x.Instantiate(g)
	require.NoError(t, err)
	x.takes(20+4*1+3*6, "LaunchGraph", func() error { return x.LaunchGraph(exec, x.s1) })
	x.takes(10+300+1+200+1+4, "Synchronize", func() error { return x.Synchronize(x.s1) })
	require.NoError(t, x.LaunchGraph(exec, x.s1))
	require.NoError(t, x.LaunchGraph(exec, x.s1))
	x.takes(10+2*(300+1+200+1)+3-42+4, "Synchronize after two", func() error { return x.Synchronize(x.s1) })
}

func TestCommandListCostsWhatItsCallsWould(t *testing.T) {
	commands := func(x *timeline) []device.Command {
		return []device.Command{
			{Kind: device.Run, Stream: x.s1, Work: x.in},
			{Kind: device.Record, Stream: x.s1, Event: x.e1},
			{Kind: device.Await, Stream: x.s2, Event: x.e1},
			{Kind: device.Run, Stream: x.s2, Work: x.out},
		}
	}
	x := newTimeline(t)
	l, err := x.CompileCommands(commands(x))
	require.NoError(t, err)
	x.takes(100+1+1+100, "SubmitCommands", func() error { return x.SubmitCommands(l, 0, 4) })
	require.NoError(t, x.SynchronizeAll())
	assert.Equal(t, 619*time.Microsecond, x.Now(), "as in TestEventGapSeparatesStreams")
}

func TestHostCallTakesTheCallbackThread(t *testing.T) {
	x := newTimeline(t)
	for _, s := range []device.Stream{x.s1, x.s2} { // at 50 and 100
		require.NoError(t, x.Submit(s, &device.HostCall{Func: func() error { return nil }}))
	}
	x.takes(10+7+4, "Synchronize", func() error { return x.Synchronize(x.s2) })
}

func TestReadWaitsForAllWorkFirst(t *testing.T) {
	x := newTimeline(t)
	require.NoError(t, x.Submit(x.s1, x.in)) // at 100: until 410
	require.NoError(t, x.Read(make([]byte, 1000), x.dev))
	assert.Equal(t, (410+2+1+4)*time.Microsecond, x.Now(), "it is enqueued at 100, too, and follows as in a stream")
}

func TestWaitingForOnesOwnStreamIsFree(t *testing.T) {
	x := newTimeline(t)
	require.NoError(t, x.Submit(x.s1, x.in)) // at 100: until 410
	require.NoError(t, x.Record(x.e1, x.s1))
	require.NoError(t, x.Wait(x.s1, x.e1))
	require.NoError(t, x.Submit(x.s1, x.out))
	require.NoError(t, x.Synchronize(x.s1))
	assert.Equal(t, (410+2+200+4)*time.Microsecond, x.Now())
}

func TestRecordingAgainMovesTheMark(t *testing.T) {
	x := newTimeline(t)
	require.NoError(t, x.Record(x.e1, x.s1))
	require.NoError(t, x.Record(x.e2, x.s1))
	require.NoError(t, x.Submit(x.s1, x.in))
	require.NoError(t, x.Record(x.e2, x.s1))
	_, err := x.Elapsed(x.e1, x.e2)
	assert.Equal(t, device.NotReady, device.CodeOf(err), "the first record has completed, the last has not")
}

// A kernel that fills the device for many waves, then one of higher priority: its stream's,
// or its own on a stream that has less than the other.
func TestPrioritiesReachKernelsAndGraphs(t *testing.T) {
	for i := range 4 {
		graph, own := i%2 == 1, i/2 == 1
		var ends []string
		r := newRig(t, Options{Trace: func(s Span) { ends = append(ends, s.Label) }})
		submit := func(s device.Stream, w *device.Launch) {
			if !graph {
				r.ok(r.Submit(s, w))
				return
			}
			g, err := r.CreateGraph()
			r.ok(err)
			_, err = r.AddNode(g, nil, w)
			r.ok(err)
			x, err := r.Instantiate(g)
			r.ok(err)
			r.ok(r.LaunchGraph(x, s))
		}
		for _, p := range r.buffers[:2] {
			r.ok(r.Write(p, make([]byte, 4*rigWords)))
		}
		ends = nil
		long := r.launchAffine(r.buffers[0], r.buffers[0], 1, 1)
		long.Grid, long.Label = device.Dim3{X: 200_000, Y: 1, Z: 1}, "long"
		urgent := r.launchAffine(r.buffers[1], r.buffers[1], 1, 1)
		urgent.Grid, urgent.Label = device.Dim3{X: 10_000, Y: 1, Z: 1}, "urgent"
		if own {
			urgent.Priority = -100
			submit(r.streams[3], long)
			submit(r.streams[0], urgent)
		} else {
			submit(r.streams[0], long)
			submit(r.streams[3], urgent)
		}
		r.ok(r.SynchronizeAll())
		assert.Equal(t, []string{"urgent", "long"}, ends, "graph: %v, its own: %v", graph, own)
	}
}

func TestPrioritiesAreClamped(t *testing.T) {
	x := newTimeline(t)
	for given, want := range map[int]int32{-100: greatestPriority, -2: -2, 3: leastPriority} {
		h, err := x.CreateStream(given)
		require.NoError(t, err)
		s, _ := x.streams.Get(h)
		assert.Equal(t, want, s.priority)
	}
}

func TestWaitsAreForgottenOnceTheyHold(t *testing.T) {
	x := newTimeline(t)
	require.NoError(t, x.Record(x.e1, x.s1))
	require.NoError(t, x.Wait(x.s2, x.e1))
	s, _ := x.streams.Get(x.s2)
	assert.Len(t, s.waits, 1)
	require.NoError(t, x.Submit(x.s2, x.in))
	assert.Empty(t, s.waits)
}
