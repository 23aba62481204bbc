package sim

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

// A graph given whole runs as one that was built node by node: same bytes, same
// times on the host and the device.
func TestGraphsGivenWholeAreTheSame(t *testing.T) {
	for seed := range uint64(40) {
		piecemeal, whole := newUncheckedRig(t, Options{}), newUncheckedRig(t, Options{})
		rng := rand.New(rand.NewPCG(seed, 3))
		works, same := rand.New(rand.NewPCG(seed, 4)), rand.New(rand.NewPCG(seed, 4)) // by the addresses of each device
		g, err := piecemeal.CreateGraph()
		require.NoError(t, err)
		require.NoError(t, whole.EditGraph())
		var nodes []GraphNode
		for i := range 2 + rng.IntN(10) {
			var deps []device.Node
			var row []int32
			for k := 0; k < i; k++ {
				if rng.IntN(3) == 0 {
					deps, row = append(deps, device.Node(k+1)), append(row, int32(k))
				}
			}
			_, err := piecemeal.AddNode(g, deps, piecemeal.work(works))
			require.NoError(t, err)
			require.NoError(t, whole.EditGraph())
			nodes = append(nodes, GraphNode{Work: whole.work(same), Deps: row})
		}
		x, err := piecemeal.Instantiate(g)
		require.NoError(t, err)
		y, err := whole.InstantiateNodes(nodes)
		require.NoError(t, err)
		for range 3 {
			require.NoError(t, piecemeal.LaunchGraph(x, piecemeal.streams[0]))
			require.NoError(t, whole.LaunchGraph(y, whole.streams[0]))
			for i, p := range piecemeal.buffers {
				a, b := make([]byte, 4*rigWords), make([]byte, 4*rigWords)
				require.NoError(t, piecemeal.Read(a, p))
				require.NoError(t, whole.Read(b, whole.buffers[i]))
				require.Equal(t, a, b, "seed %d", seed)
			}
			require.Equal(t, piecemeal.Now(), whole.Now(), "seed %d", seed)
		}
	}
}

func launchNodes(x *timeline, nodes ...GraphNode) func() error {
	g, err := x.InstantiateNodes(nodes)
	require.NoError(x.t, err)
	return func() error { return x.LaunchGraph(g, x.s1) }
}

func TestJoinsTakeNoTime(t *testing.T) {
	x := newTimeline(t)
	w := device.Nothing{}
	chain := launchNodes(x, GraphNode{Work: w}, GraphNode{Join: true, Deps: []int32{0}},
		GraphNode{Join: true, Deps: []int32{1}}, GraphNode{Work: w, Deps: []int32{2}})
	x.takes(20+2, "LaunchGraph of a chain of two", chain)
	x.takes(10+1+4, "its run: one edge; an idle stream has no gap before the root", func() error { return x.Synchronize(x.s1) })
}

func TestDisabledNodesOnlyOrder(t *testing.T) {
	x := newTimeline(t)
	g, err := x.InstantiateNodes([]GraphNode{{Work: x.in}, {Work: x.out, Deps: []int32{0}}})
	require.NoError(t, err)
	replay := func() error {
		return first2(x.LaunchGraph(g, x.s1), x.Synchronize(x.s1))
	}
	x.takes(22+10+300+1+200+4, "both", replay)
	require.NoError(t, x.EnableNode(g, NodeAt{Node: 1}, false))
	x.takes(22+10+1+200+4, "without the first", replay)
	require.NoError(t, x.UpdateNode(g, 1, &device.Copy{Dst: x.dev, Src: x.host, Bytes: 100_000}))
	x.takes(22+10+1+200+4, "an update does not enable", replay)
	require.NoError(t, x.EnableNode(g, NodeAt{Node: 1}, true))
	x.takes(22+10+100+1+200+4, "enabled with its new parameters", replay)
	assert.Equal(t, device.InvalidHandle, device.CodeOf(x.EnableNode(g, NodeAt{Node: 3}, true)))
	assert.Equal(t, device.InvalidHandle, device.CodeOf(x.EnableNode(g+1, NodeAt{Node: 1}, true)))
}

func first2(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// A node records for waits outside the graph, and waits for records outside.
func TestEventNodes(t *testing.T) {
	x := newTimeline(t)
	record := launchNodes(x, GraphNode{Work: x.in}, GraphNode{Record: x.e1, Deps: []int32{0}}, GraphNode{Work: x.out, Deps: []int32{1}})
	require.NoError(t, record())
	require.NoError(t, x.Wait(x.s2, x.e1))
	require.NoError(t, x.Record(x.e2, x.s2))
	require.NoError(t, x.SynchronizeAll())
	between, err := x.Elapsed(x.e1, x.e2)
	require.NoError(t, err)
	assert.EqualValues(t, 3000, between.Nanoseconds(), "what a wait across streams takes longer, and not the copy after the record")

	wait, err := x.InstantiateNodes([]GraphNode{{Wait: x.e1}, {Record: x.e2, Deps: []int32{0}}})
	require.NoError(t, err)
	require.NoError(t, x.Submit(x.s2, x.in))
	require.NoError(t, x.Record(x.e1, x.s2))
	require.NoError(t, x.LaunchGraph(wait, x.s1))
	require.NoError(t, x.SynchronizeAll())
	between, err = x.Elapsed(x.e1, x.e2)
	require.NoError(t, err)
	assert.EqualValues(t, 1000, between.Nanoseconds(), "an edge after the copy in the other stream")

	never, err := x.CreateEvent()
	require.NoError(t, err)
	require.NoError(t, x.UpdateNodeEvent(wait, 1, never))
	x.takes(22+10+1+4, "a wait for what was never recorded", func() error {
		return first2(x.LaunchGraph(wait, x.s1), x.Synchronize(x.s1))
	})
	assert.Equal(t, device.GraphUpdateForbidden, device.CodeOf(x.UpdateNode(wait, 1, device.Nothing{})))
}

// A node's own priority decides which of two kernels gets the multiprocessors.
func TestNodePriorities(t *testing.T) {
	for _, urgent := range []int{0, 1} {
		r := newUncheckedRig(t, Options{})
		nodes := make([]GraphNode, 4)
		for i := range 2 {
			l := r.launchAffine(r.buffers[i], r.buffers[i], 2, 1)
			l.Grid.X = 40_000 // far more blocks than fit
			nodes[i].Work = l
			nodes[i].Priority = new(int)
			nodes[2+i] = GraphNode{Record: r.events[i], Deps: []int32{int32(i)}}
		}
		*nodes[urgent].Priority = -100
		x, err := r.InstantiateNodes(nodes)
		require.NoError(t, err)
		require.NoError(t, r.LaunchGraph(x, r.streams[0]))
		require.NoError(t, r.SynchronizeAll())
		ahead, err := r.Elapsed(r.events[urgent], r.events[1-urgent])
		require.NoError(t, err)
		assert.Positive(t, ahead, "node %d is urgent", urgent)
	}
}

// What a graph's work uses must outlast the work, and costs no time when it goes.
func TestWhatFollowsTheLastLaunch(t *testing.T) {
	x := newTimeline(t)
	g, err := x.InstantiateNodes([]GraphNode{{Work: x.in}})
	require.NoError(t, err)
	require.NoError(t, x.LaunchGraph(g, x.s1))
	done := false
	require.NoError(t, x.DestroyGraphExecThen(g, func() { done = true }))
	assert.False(t, done, "the launch is under way")
	x.takes(10+300+4, "Synchronize", func() error { return x.Synchronize(x.s1) })
	x.takes(4, "SynchronizeAll", x.SynchronizeAll)
	assert.True(t, done)

	g, err = x.InstantiateNodes([]GraphNode{{Work: x.in}})
	require.NoError(t, err)
	done = false
	require.NoError(t, x.DestroyGraphExecThen(g, func() { done = true }))
	assert.True(t, done, "it was never launched")
}
