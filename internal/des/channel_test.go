package des

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
)

// links is several plain devices, each with a channel of 10 bytes/ns in each direction. Pairs have channels of their own
// if pair is not 0, in bytes/ns.
type links struct {
	clock   *Clock
	engines []*Engine
	in, out []*Channel
	pairs   map[[2]int]*Channel
}

const (
	linkRate    = 10 // bytes/ns
	linkLatency = 100 * ns
)

// peerCopy is a copy between two devices, in an engine of either.
type peerCopy struct {
	from, to int
	bytes    float64
}

// remote is a kernel that reads bytes of another device.
type remote struct {
	demand model.Demand
	from   int
	bytes  float64
}

func newLinks(n int, pair float64) *links {
	l := &links{clock: NewClock(), pairs: map[[2]int]*Channel{}}
	for i := range n {
		l.in, l.out = append(l.in, l.clock.Channel(linkRate)), append(l.out, l.clock.Channel(linkRate))
		var e *Engine
		e = l.clock.Engine(plain(), func(_ TaskID, data any) model.Demand {
			switch v := data.(type) {
			case peerCopy:
				l.cross(e, v.from, v.to, v.bytes, pair)
				return model.Demand{Kind: CopyPeer, Bytes: v.bytes, Duration: linkLatency}
			case remote:
				l.cross(e, v.from, i, v.bytes, 0)
				return v.demand
			}
			return data.(model.Demand)
		})
		l.engines = append(l.engines, e)
	}
	return l
}

func (l *links) cross(e *Engine, from, to int, bytes, pair float64) {
	e.Cross(Crossing{l.out[from], bytes}, Crossing{l.in[to], bytes})
	if pair == 0 {
		return
	}
	key := [2]int{from, to}
	if l.pairs[key] == nil {
		l.pairs[key] = l.clock.Channel(pair)
	}
	e.Cross(Crossing{l.pairs[key], bytes})
}

func (l *links) copyAt(at model.Time, from, to int, bytes float64) TaskID {
	return l.engines[from].Add(Task{Arrival: at, Data: peerCopy{from, to, bytes}})
}

// ends runs the clock and returns when the tasks end.
func (l *links) ends(ids ...TaskID) (list []model.Time) {
	for _, id := range ids {
		list = append(list, l.clock.Wait(id))
	}
	return list
}

// at returns the end of a copy that starts at 0 and whose bytes take the given time.
func at(bytes float64) model.Time { return linkLatency + model.Time(bytes/linkRate)*ns }

func TestOneCopyOverALink(t *testing.T) {
	l := newLinks(2, 0)
	id := l.copyAt(0, 0, 1, 5000)
	assert.Equal(t, []model.Time{at(5000)}, l.ends(id))
	assert.Equal(t, Span{0, at(5000)}, l.clock.Span(id))
}

func TestLinksAreFullDuplex(t *testing.T) {
	l := newLinks(2, 0)
	assert.Equal(t, []model.Time{at(5000), at(3000)}, l.ends(l.copyAt(0, 0, 1, 5000), l.copyAt(0, 1, 0, 3000)))
}

func TestRingOfCopies(t *testing.T) {
	for _, n := range []int{2, 4, 7} {
		l := newLinks(n, 0)
		var ids []TaskID
		for i := range n {
			ids = append(ids, l.copyAt(0, i, (i+1)%n, 5000))
		}
		for _, end := range l.ends(ids...) {
			assert.Equal(t, at(5000), end)
		}
	}
}

// In an all-to-all exchange each device sends n-1 times the bytes of a copy over one channel. With slow pairs, the pairs
// bound it instead.
func TestAllToAll(t *testing.T) {
	for _, n := range []int{2, 4, 8} {
		for pair, want := range map[float64]model.Time{0: at(float64(n-1) * 7000), 1: at(7000 * linkRate)} {
			l := newLinks(n, pair)
			var ids []TaskID
			for i := range n {
				for j := range n {
					if i != j {
						ids = append(ids, l.copyAt(0, i, j, 7000))
					}
				}
			}
			for _, end := range l.ends(ids...) {
				assert.InDelta(t, float64(want), float64(end), 5)
			}
		}
	}
}

// Two copies to one device share its channel until the shorter one ends.
func TestCopiesToOneDeviceShareItsLink(t *testing.T) {
	l := newLinks(3, 0)
	short, long := l.copyAt(0, 1, 0, 1000), l.copyAt(0, 2, 0, 3000)
	assert.Equal(t, []model.Time{at(2000), at(4000)}, l.ends(short, long))
	assert.Equal(t, SharedLink, l.engines[1].fluid.done[0].limit)
}

// A copy that starts later, on another engine, slows the first from then on: 1000 bytes alone, then both at half the rate.
func TestACopyOfAnotherEngineSlowsFromItsStart(t *testing.T) {
	l := newLinks(3, 0)
	first, second := l.copyAt(0, 1, 0, 3000), l.copyAt(100*ns, 2, 0, 2000)
	assert.Equal(t, []model.Time{at(5000), at(5000)}, l.ends(first, second))
	third := l.copyAt(l.clock.Now(), 1, 0, 1000)
	assert.Equal(t, at(5000)+at(1000), l.clock.Wait(third), "the channel is free again")
}

// A kernel that is bound by the bytes that it reads elsewhere shares the link with copies.
func TestKernelsShareLinks(t *testing.T) {
	k := kernel(16, 4, 1)
	alone := newLinks(2, 0)
	assert.InDelta(t, float64(1000*ns), float64(alone.clock.Wait(alone.engines[0].Add(Task{Data: remote{k, 1, 10000}}))), 100)
	both := newLinks(2, 0)
	id := both.engines[0].Add(Task{Data: remote{k, 1, 10000}})
	other := both.copyAt(0, 1, 0, 50000)
	assert.InDelta(t, float64(1900*ns), float64(both.clock.Wait(id)), 100, "100 ns alone, then half of the rate")
	assert.InDelta(t, float64(6000*ns), float64(both.clock.Wait(other)), 5, "the link is full from the start")
	local := newLinks(2, 0)
	id = local.engines[0].Add(Task{Data: k})
	local.copyAt(0, 1, 0, 50000)
	assert.Equal(t, spans(plain(), k)[0].End, local.clock.Wait(id))
}

// A device that uses no channel has the same times whatever its neighbours do.
func TestChannelsLeaveOtherDevicesAlone(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	alone, beside := newLinks(1, 0), newLinks(4, 0)
	for range 200 {
		arrival := model.Time(r.IntN(20000)) * ns
		var d model.Demand
		switch r.IntN(3) {
		case 0:
			d = kernel(float64(1+r.IntN(50)), 4, float64(1+r.IntN(300)))
			d.Bytes, d.L2Bytes = float64(r.IntN(100000)), float64(r.IntN(100000))
		case 1:
			d = model.Demand{Kind: model.CopyIn, Bytes: float64(r.IntN(2000))}
		default:
			d = model.Demand{Kind: model.CopyOn, Bytes: float64(r.IntN(20000))}
		}
		a := alone.engines[0].Add(Task{Arrival: arrival, Data: d})
		b := beside.engines[0].Add(Task{Arrival: arrival, Data: d})
		from := 1 + r.IntN(3)
		beside.copyAt(arrival, from, 1+from%3, float64(r.IntN(5000)))
		if r.IntN(10) == 0 {
			require.Equal(t, alone.clock.Wait(a), beside.clock.Wait(b))
			alone, beside = newLinks(1, 0), newLinks(4, 0)
		}
	}
}

// No channel carries more than its capacity, and some channel is full as long as there are copies.
func TestChannelsCarryTheirCapacity(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 50 {
		n := 2 + r.IntN(5)
		l := newLinks(n, 0)
		in, out, total := make([]float64, n), make([]float64, n), 0.0
		for range 1 + r.IntN(40) {
			from := r.IntN(n)
			to := (from + 1 + r.IntN(n-1)) % n
			bytes := float64(1 + r.IntN(100000))
			in[to] += bytes
			out[from] += bytes
			total += bytes
			l.copyAt(0, from, to, bytes)
		}
		last := model.Time(0)
		for _, e := range l.engines {
			last = max(last, e.Drain())
		}
		for i := range n {
			assert.GreaterOrEqual(t, last+10, linkLatency+model.Time(in[i]/linkRate*float64(ns)))
			assert.GreaterOrEqual(t, last+10, linkLatency+model.Time(out[i]/linkRate*float64(ns)))
		}
		assert.LessOrEqual(t, last, linkLatency+model.Time((total/linkRate+1)*float64(ns)), "some channel is full at any time")
		for _, e := range l.engines {
			assert.Zero(t, e.fluid.crossings)
		}
	}
}
