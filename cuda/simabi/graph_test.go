//go:build cuda && cgo

package simabi_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/client"
)

// TestGraphLaunchesFromCAllocateNothing counts the allocations of the whole process during launches, after the device
// has run as many. The only permitted ones are pages of tasks, one for dozens of nodes.
func TestGraphLaunchesFromCAllocateNothing(t *testing.T) {
	const launches, nodes = 200, 10
	x, answer := client.Chain(nodes, kernel(t, open(t, saxpy), "saxpy"), oneBlock, saxpyArguments(t))
	require.Equal(t, success, answer)
	var before, after runtime.MemStats
	for range 3 {
		require.Equal(t, success, client.LaunchGraph(launches, x))
		require.Equal(t, success, client.Synchronize())
	}
	runtime.GC()
	runtime.ReadMemStats(&before)
	require.Equal(t, success, client.LaunchGraph(launches, x))
	runtime.ReadMemStats(&after)
	require.Less(t, after.Mallocs-before.Mallocs, uint64(launches*nodes/20), "of %d launches of %d nodes", launches, nodes)
	require.Equal(t, success, client.Synchronize())
}

func BenchmarkGraphLaunchFromC(b *testing.B) {
	x, answer := client.Chain(10, kernel(b, open(b, saxpy), "saxpy"), oneBlock, saxpyArguments(b))
	require.Equal(b, success, answer)
	const batch = 200
	for b.Loop() {
		require.Equal(b, success, client.LaunchGraph(batch, x))
		b.StopTimer() // what follows runs the kernels
		require.Equal(b, success, client.Synchronize())
		b.StartTimer()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch), "ns/launch")
}
