//go:build cuda && cgo

package cuda

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

// TestPrioritiesOfLaunchesReachTheDriver enqueues a launch of many waves, and after it a short launch on a stream of
// lower priority. With a higher priority of its own the short launch must end first, on streams and in a graph.
func TestPrioritiesOfLaunchesReachTheDriver(t *testing.T) {
	if !simulated() {
		t.Skip("a GPU answers, to which priorities are a hint")
	}
	d := open(t)
	defer func() { require.NoError(t, d.Close()) }()
	f := loadSquare(t, d)
	var streams [2]device.Stream
	var ends [2]device.Event
	var launches [2]*device.Launch
	for i, blocks := range []uint32{400_000, 10_000} {
		var err error
		streams[i], err = d.CreateStream(i - 1)
		require.NoError(t, err)
		ends[i], err = d.CreateEvent()
		require.NoError(t, err)
		p, err := d.Alloc(4 * lanes)
		require.NoError(t, err)
		launches[i] = squares(f, p, p)
		launches[i].Grid.X = blocks
	}
	graphOf := func(l *device.Launch) device.GraphExec {
		g, err := d.CreateGraph()
		require.NoError(t, err)
		_, err = d.AddNode(g, nil, l)
		require.NoError(t, err)
		x, err := d.Instantiate(g)
		require.NoError(t, err)
		return x
	}
	for _, graphs := range []bool{false, true} {
		for _, priority := range []int{0, -3} {
			launches[1].Priority = priority
			enqueue := func(i int) error { return d.Submit(streams[i], launches[i]) }
			if graphs {
				x := []device.GraphExec{graphOf(launches[0]), graphOf(launches[1])}
				enqueue = func(i int) error { return d.LaunchGraph(x[i], streams[i]) }
			}
			for i := range streams {
				require.NoError(t, enqueue(i))
				require.NoError(t, d.Record(ends[i], streams[i]))
			}
			require.NoError(t, d.SynchronizeAll())
			ahead, err := d.Elapsed(ends[1], ends[0])
			require.NoError(t, err)
			assert.Equal(t, priority < 0, ahead > 0, "graphs: %v, priority %d: %v", graphs, priority, ahead)
		}
	}
}
