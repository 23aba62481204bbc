package sim

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

const graphBytes = 1024

// memoryRig makes graphs that allocate, and copies what they computed to out.
type memoryRig struct {
	*timeline
	p, out device.Ptr
}

func newMemoryRig(t *testing.T) *memoryRig {
	x := &memoryRig{timeline: racing(t)}
	var err error
	x.p, err = x.ReserveGraphMemory(graphBytes)
	require.NoError(t, err)
	x.out = x.dev
	return x
}

func (x *memoryRig) instance(nodes ...GraphNode) device.GraphExec {
	x.t.Helper()
	e, err := x.InstantiateNodes(nodes)
	require.NoError(x.t, err)
	return e
}

func (x *memoryRig) run(e device.GraphExec) {
	x.t.Helper()
	require.NoError(x.t, x.LaunchGraph(e, x.s1))
	require.NoError(x.t, x.Synchronize(x.s1))
}

func (x *memoryRig) alloc() GraphNode { return GraphNode{Alloc: x.p} }

// fill and fetch use the memory.
func (x *memoryRig) fill(value uint32, deps ...int32) GraphNode {
	return GraphNode{Work: &device.Memset{Dst: x.p, Value: value, Width: 1, Count: graphBytes, Label: "fill"}, Deps: deps}
}

func (x *memoryRig) fetch(deps ...int32) GraphNode {
	return GraphNode{Work: &device.Copy{Dst: x.out, Src: x.p, Bytes: graphBytes, Label: "fetch"}, Deps: deps}
}

func (x *memoryRig) free(deps ...int32) GraphNode { return GraphNode{Free: x.p, Deps: deps} }

func (x *memoryRig) fetched() byte {
	b := make([]byte, graphBytes)
	require.NoError(x.t, x.Read(b, x.out))
	assert.Equal(x.t, b[0], b[graphBytes-1])
	return b[0]
}

func TestGraphMemoryLivesWithinALaunch(t *testing.T) {
	x := newMemoryRig(t)
	e := x.instance(x.alloc(), x.fill(7, 0), x.fetch(1), x.free(2))
	live := x.Live()
	for range 3 {
		x.run(e)
		assert.EqualValues(t, 7, x.fetched())
		assert.Equal(t, live.Bytes, x.Live().Bytes)
		assert.Equal(t, GraphMemory{UsedHigh: graphBytes, Reserved: graphBytes, ReservedHigh: graphBytes}, x.GraphMemory())
	}
	x.TrimGraphMemory()
	x.ResetGraphMemoryHighs(true, true)
	assert.Equal(t, GraphMemory{}, x.GraphMemory())
	assert.Equal(t, device.InvalidValue, device.CodeOf(x.Free(x.p)), "its own graph frees it")
	require.NoError(t, x.DestroyGraphExec(e))
	require.NoError(t, x.DropGraphMemory(x.p))
	require.NoError(t, x.SynchronizeAll())
	assert.Equal(t, device.InvalidValue, device.CodeOf(x.Submit(x.s1, x.fill(0).Work)), "the address is nobody's")
}

// What a launch leaves can be used behind it, and must be freed before the next.
func TestGraphMemoryOutlivesALaunch(t *testing.T) {
	frees := map[string]func(x *memoryRig) error{
		"by the host":        func(x *memoryRig) error { return x.Free(x.p) },
		"in a stream":        func(x *memoryRig) error { return x.Submit(x.s1, &Release{At: x.p}) },
		"by another graph":   func(x *memoryRig) error { return x.LaunchGraph(x.instance(x.free()), x.s1) },
		"by its next launch": nil,
	}
	for name, free := range frees {
		t.Run(name, func(t *testing.T) {
			x := newMemoryRig(t)
			e := x.instance(x.alloc(), x.fill(3, 0))
			if free == nil {
				require.NoError(t, x.FreeOnLaunch(e))
			}
			for range 3 {
				require.NoError(t, x.LaunchGraph(e, x.s1))
				require.NoError(t, x.Submit(x.s1, x.fetch().Work))
				assert.EqualValues(t, 3, x.fetched())
				assert.EqualValues(t, graphBytes, x.GraphMemory().Used)
				if free != nil {
					err := x.LaunchGraph(e, x.s1)
					assert.Equal(t, device.InvalidValue, device.CodeOf(err), "%v", err)
					require.NoError(t, free(x))
					require.Error(t, free(x), "freed twice")
					require.NoError(t, x.SynchronizeAll())
					assert.Zero(t, x.GraphMemory().Used)
				}
			}
		})
	}
}

func TestGraphMemoryIsNotThereOutsideItsLife(t *testing.T) {
	for name, nodes := range map[string]func(x *memoryRig) []GraphNode{
		"after the free":         func(x *memoryRig) []GraphNode { return []GraphNode{x.alloc(), x.free(0), x.fill(1, 1)} },
		"without an allocation":  func(x *memoryRig) []GraphNode { return []GraphNode{x.fill(1)} },
		"before the allocation":  func(x *memoryRig) []GraphNode { return []GraphNode{x.fill(1), x.alloc(), x.free(1)} },
		"allocated in two nodes": func(x *memoryRig) []GraphNode { return []GraphNode{x.alloc(), {Alloc: x.p, Deps: []int32{0}}} },
	} {
		x := newMemoryRig(t)
		require.NoError(t, x.LaunchGraph(x.instance(nodes(x)...), x.s1), name)
		err := x.Synchronize(x.s1)
		assert.ErrorContains(t, err, "graph memory 1", name)
		assert.Error(t, x.SynchronizeAll(), "%s: the fault stays", name)
	}
}

// That a use happened to come before the free, or after the allocation, is no order.
func TestRacesForGraphMemory(t *testing.T) {
	x := newMemoryRig(t)
	require.NoError(t, x.LaunchGraph(x.instance(x.alloc(), x.fill(1, 0), x.fetch(1), x.free(1)), x.s1))
	var found *RaceError
	require.ErrorAs(t, x.Synchronize(x.s1), &found)
	require.Len(t, found.Findings, 1)
	assert.Equal(t, []string{"fetch, node 3 of graph instance 1 in stream 1", "free, node 4 of graph instance 1 in stream 1"}, works(found.Findings[0]))
}

func TestGraphMemoryRunsOut(t *testing.T) {
	d := open(t, Options{Memory: 1 << 20})
	p, err := d.ReserveGraphMemory(1 << 21)
	require.NoError(t, err, "an address is no memory")
	e, err := d.InstantiateNodes([]GraphNode{{Alloc: p}})
	require.NoError(t, err)
	s, err := d.CreateStream(0)
	require.NoError(t, err)
	require.NoError(t, d.LaunchGraph(e, s))
	assert.Equal(t, device.OutOfMemory, device.CodeOf(d.Synchronize(s)))
}
