package sim_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sim"
)

// loadPrinting loads print.ptx on a device that prints to out.
func loadPrinting(t *testing.T, out *bytes.Buffer) *gpu {
	text, err := os.ReadFile("testdata/kernels/print.ptx")
	require.NoError(t, err)
	return loadWith(t, sim.Options{Race: sim.RaceOn, Stdout: out}, "print.ptx", string(text))
}

func TestPrintf(t *testing.T) {
	var out bytes.Buffer
	g := loadPrinting(t, &out)
	g.launch("hello", line(3, 32), int32(3), float32(1.25))
	require.NoError(t, g.SynchronizeAll())
	// What printf of C prints for the same.
	assert.Equal(t, `block 0 of 3
[ 0] even  | 0.00|-1|0xff|1.250000e+00|a|%|4294967296|-001.250
[ 1] odd   | 1.25|+0|0x1fe|1.250000e+00|b|%|8589934592|-001.250
[ 2] even  | 2.50|+1|0x3fc|1.250000e+00|c|%|17179869184|-001.250
block 1 of 3
block 2 of 3
`, out.String())
}

// On a device, printf returns the number of its arguments.
func TestPrintfReturnsTheNumberOfArguments(t *testing.T) {
	var out bytes.Buffer
	g := loadPrinting(t, &out)
	counts := zeros[int32](g, 2)
	g.launch("printed", line(1, 1), counts)
	assert.Equal(t, []int32{0, 3}, counts.down())
	assert.Equal(t, "no arguments\n1 2 3\n", out.String())
}

func TestFailedAssertion(t *testing.T) {
	g := loadPrinting(t, new(bytes.Buffer))
	x := up(g, []int32{1, 2, 3, 9})
	g.launch("checked", line(1, 4), x, int32(10))
	require.NoError(t, g.SynchronizeAll())
	err := g.fails("checked", line(1, 4), x, int32(9))
	assert.Equal(t, device.Assert, device.CodeOf(err))
	assert.ErrorContains(t, err, `x[threadIdx.x] < limit && "the input is in range"`)
	assert.ErrorContains(t, err, "thread (3,0,0)")
}

func TestTrap(t *testing.T) {
	g := loadPrinting(t, new(bytes.Buffer))
	g.launch("trapped", line(1, 4), int32(-1))
	require.NoError(t, g.SynchronizeAll())
	err := g.fails("trapped", line(1, 4), int32(2))
	assert.ErrorContains(t, err, "thread (2,0,0)")
}

func TestHeapOfTheDevice(t *testing.T) {
	g := loadPrinting(t, new(bytes.Buffer))
	const threads, n = 40, 20
	for range 3 { // what one launch frees the next may have
		sums := zeros[int32](g, threads)
		g.launch("heap", line(1, threads), sums, int32(n))
		for i, got := range sums.down() {
			require.EqualValues(t, n*(n-1)/2*(threads-i), got)
		}
	}
	null := zeros[int32](g, 1)
	g.launch("exhausted", line(1, 1), uint64(1000), null)
	assert.EqualValues(t, 0, null.down()[0])
	g.launch("exhausted", line(1, 1), uint64(1<<30), null)
	assert.EqualValues(t, 1, null.down()[0])
	g.LimitHeap(900)
	g.launch("exhausted", line(1, 1), uint64(1000), null)
	assert.EqualValues(t, 1, null.down()[0])
	g.LimitHeap(2 << 30)
	g.launch("exhausted", line(1, 1), uint64(1<<30), null)
	assert.EqualValues(t, 0, null.down()[0])
	hits := zeros[int32](g, 2)
	g.launch("objects", line(2, 33), hits)
	assert.Equal(t, []int32{66, 66}, hits.down())
}

func TestClocks(t *testing.T) {
	g := loadPrinting(t, new(bytes.Buffer))
	out, work := zeros[int64](g, 64), zeros[uint32](g, 32)
	g.launch("clocks", line(1, 32), out, work)
	v := uint32(5 + 1)
	for range 100 {
		v ^= v << 13
		v ^= v >> 17
		v ^= v << 5
	}
	require.Equal(t, v, work.down()[5])
	for _, cycles := range out.down() {
		require.Greater(t, cycles, int64(100), "six hundred dependent operations take cycles")
		require.Less(t, cycles, int64(1_000_000))
	}
	first, second := zeros[uint64](g, 1), zeros[uint64](g, 1)
	g.launch("globaltimer", line(1, 1), first)
	g.launch("globaltimer", line(1, 1), second)
	require.Less(t, first.down()[0], second.down()[0], "time passes between launches")
}
