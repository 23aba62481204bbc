package capture

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/graph"
	"github.com/reprise-gpu/reprise/device"
)

// before is the set of the numbers of pieces of work that precede a position in a program.
type before map[int]bool

func (b before) and(o before) before {
	sum := before{}
	for _, set := range []before{b, o} {
		for n := range set {
			sum[n] = true
		}
	}
	return sum
}

// program is a random program of streams and events, with a model of the order that it defines.
type program struct {
	t       *testing.T
	rng     *rand.Rand
	session Session
	thread  Thread
	streams [4]Stream
	events  [3]Event

	at     [4]before // by stream: the work before its end; nil if the stream is not in the capture
	marks  [3]before // by event: the work before its record; nil without a record
	follow []before  // by piece of work: the work before it
	nodes  []*graph.Node
}

func (p *program) step() {
	s, e := p.rng.IntN(len(p.streams)), p.rng.IntN(len(p.events))
	st, ev := &p.streams[s], &p.events[e]
	switch p.rng.IntN(3) {
	case 0:
		if p.at[s] == nil {
			return
		}
		n, err := st.Add(graph.Empty{})
		require.NoError(p.t, err)
		p.follow = append(p.follow, p.at[s])
		p.at[s] = p.at[s].and(before{len(p.nodes): true})
		p.nodes = append(p.nodes, n)
	case 1:
		if p.at[s] == nil {
			return
		}
		require.NoError(p.t, ev.Record(st))
		p.marks[e] = p.at[s]
	case 2:
		require.NoError(p.t, ev.Wait(st, false))
		switch {
		case p.marks[e] == nil:
		case p.at[s] == nil:
			p.at[s] = p.marks[e]
		default:
			p.at[s] = p.at[s].and(p.marks[e])
		}
	}
	require.Equal(p.t, p.at[s] != nil, st.Capturing())
}

// joined reports whether all work of other streams precedes the end of the first stream.
func (p *program) joined() bool {
	for _, at := range p.at {
		for n := range at {
			if !p.at[0][n] {
				return false
			}
		}
	}
	return true
}

// TestGraphsOrderWhatProgramsOrder captures random programs and compares reachability
// in the graph with a model that uses sets and no graph.
func TestGraphsOrderWhatProgramsOrder(t *testing.T) {
	ends := map[bool]int{}
	for seed := range uint64(500) {
		p := &program{t: t, rng: rand.New(rand.NewPCG(seed, 1))}
		g := graph.New()
		require.NoError(t, p.session.Begin(&p.thread, &p.streams[0], Global, g, nil))
		p.at[0] = before{}
		for range 5 + p.rng.IntN(40) {
			p.step()
		}
		joined := p.joined()
		ends[joined]++
		made, err := p.session.End(&p.thread, &p.streams[0])
		for i := range p.streams {
			require.Equal(t, None, p.streams[i].Status())
		}
		if !joined {
			require.Nil(t, made)
			require.Equal(t, Unjoined, device.CodeOf(err), "seed %d", seed)
			continue
		}
		require.NoError(t, err, "seed %d", seed)
		require.Same(t, g, made)
		for i, n := range p.nodes {
			require.Equal(t, p.follow[i], p.ancestors(n), "seed %d, node %d", seed, i)
		}
	}
	require.Greater(t, ends[true], 50)
	require.Greater(t, ends[false], 50)
}

func (p *program) ancestors(n *graph.Node) before {
	all := before{}
	for _, dep := range n.Deps() {
		for i, o := range p.nodes {
			if o == dep {
				all[i] = true
			}
		}
		all = all.and(p.ancestors(dep))
	}
	return all
}

// TestThreadsMayBeUnsafe checks the documented table: the thread that has begun a capture, the mode of the capture, and
// the mode of the caller.
func TestThreadsMayBeUnsafe(t *testing.T) {
	for _, c := range []struct {
		own     bool
		capture Mode
		thread  Mode
		allowed bool
	}{
		{true, Global, Global, false}, {true, Global, ThreadLocal, false}, {true, Global, Relaxed, true},
		{true, ThreadLocal, Global, false}, {true, ThreadLocal, ThreadLocal, false}, {true, ThreadLocal, Relaxed, true},
		{true, Relaxed, Global, true}, {true, Relaxed, ThreadLocal, true}, {true, Relaxed, Relaxed, true},
		{false, Global, Global, false}, {false, Global, ThreadLocal, true}, {false, Global, Relaxed, true},
		{false, ThreadLocal, Global, true}, {false, ThreadLocal, ThreadLocal, true}, {false, ThreadLocal, Relaxed, true},
		{false, Relaxed, Global, true}, {false, Relaxed, ThreadLocal, true}, {false, Relaxed, Relaxed, true},
	} {
		var s Session
		var st Stream
		a, b := Thread{c.thread}, Thread{}
		by := &b
		if c.own {
			by = &a
		}
		require.NoError(t, s.Begin(by, &st, c.capture, graph.New(), nil))
		err := s.Unsafe(&a)
		if c.allowed {
			assert.NoError(t, err, "%+v", c)
			assert.Equal(t, Active, st.Status(), "%+v", c)
		} else {
			assert.Equal(t, Unsupported, device.CodeOf(err), "%+v", c)
			assert.Equal(t, Invalidated, st.Status(), "%+v", c)
		}
	}
}

func TestLegacyStreamIsOfItsOwner(t *testing.T) {
	var s Session
	blocking, free := Stream{Owner: 1, Blocking: true}, Stream{Owner: 1}
	here, there := Stream{Owner: 1, Legacy: true}, Stream{Owner: 2, Legacy: true}
	require.NoError(t, s.Begin(&Thread{}, &free, Global, graph.New(), nil))
	require.NoError(t, s.Use(&here))
	require.NoError(t, s.Begin(&Thread{}, &blocking, Global, graph.New(), nil))
	require.NoError(t, s.Use(&there))
	require.NoError(t, s.Use(&free))
	require.Equal(t, Implicit, device.CodeOf(s.Use(&here)))
	require.Equal(t, Invalidated, blocking.Status())
	require.Equal(t, Active, free.Status())
	// The captures of an owner end with it.
	s.Forget(1)
	require.Equal(t, None, blocking.Status())
	require.NoError(t, s.Use(&here))
}

// TestDestroyedStreams destroys streams during captures. Their work must still be joined, and the destruction of the
// first stream ends the capture.
func TestDestroyedStreams(t *testing.T) {
	var s Session
	var thread Thread
	var origin, other Stream
	var e Event
	require.NoError(t, s.Begin(&thread, &origin, Global, graph.New(), nil))
	require.NoError(t, e.Record(&origin))
	require.NoError(t, e.Wait(&other, false))
	_, err := other.Add(graph.Empty{})
	require.NoError(t, err)
	s.Destroyed(&other)
	_, err = s.End(&thread, &origin)
	require.Equal(t, Unjoined, device.CodeOf(err))

	require.NoError(t, s.Begin(&thread, &origin, Global, graph.New(), nil))
	s.Destroyed(&origin)
	require.NoError(t, s.Unsafe(&thread))
}
