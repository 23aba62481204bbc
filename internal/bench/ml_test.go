package bench

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/ir"
)

// replayed returns an instance after one replay, and its device.
func replayed(t *testing.T, w *Workload, p Params) (device.Device, *Instance) {
	t.Helper()
	return replayedOnce(t, openSim(t), w, p)
}

func replayedOnce(t *testing.T, dev device.Device, w *Workload, p Params) (device.Device, *Instance) {
	t.Helper()
	in, err := w.New(dev, p)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, in.Close()) })
	exec, err := graphexec.Instantiate(dev, planned(t, in, "nimble").Schedule, in.Trace, graphexec.Graph)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, exec.Close()) })
	_, err = replayOnce(context.Background(), dev, in, exec)
	require.NoError(t, err)
	return dev, in
}

// checkAfter returns the error of Check after 4 bytes of a buffer were changed.
func checkAfter(t *testing.T, dev device.Device, in *Instance, buffer string, element int, bits uint32) error {
	t.Helper()
	id := slices.IndexFunc(in.Trace.Graph.Buffers, func(b ir.Buffer) bool { return b.Name == buffer })
	require.GreaterOrEqual(t, id, 0, buffer)
	at := in.Trace.Pointer(ir.BufferID(id)) + device.Ptr(4*element)
	old, word := make([]byte, 4), make([]byte, 4)
	require.NoError(t, dev.Read(old, at))
	binary.LittleEndian.PutUint32(word, bits)
	require.NoError(t, dev.Write(at, word))
	_, err := in.Check()
	require.NoError(t, dev.Write(at, old))
	return err
}

// TestMLAtOddSizes runs ml with one row and one block, with partly idle warps, with fewer threads than features, and
// with several seeds.
func TestMLAtOddSizes(t *testing.T) {
	for _, p := range []Params{
		{Size: 1}, {Size: 2, Threads: 32, Blocks: 1}, {Size: 31, Threads: 32, Blocks: 3},
		{Size: 257, Threads: 1024, Seed: 7}, {Size: 100, Threads: 128, Blocks: 2, Seed: 1 << 63},
	} {
		_, in := replayed(t, ml, p)
		_, err := in.Check()
		assert.NoError(t, err, fmt.Sprintf("%+v", p))
	}
}

func TestMLCheckNamesWhatIsWrong(t *testing.T) {
	dev, in := replayed(t, ml, Params{Size: 100})
	_, err := in.Check()
	require.NoError(t, err)
	assert.ErrorContains(t, checkAfter(t, dev, in, "r_host", 99, 10), "r differs from the CPU reference in 1 of 100 elements: first at [99], got class 10")
	assert.ErrorContains(t, checkAfter(t, dev, in, "r_host", 0, math.MaxUint32), "first at [0], got class -1")
	assert.ErrorContains(t, checkAfter(t, dev, in, "r1", 994, math.Float32bits(0.75)), "r1 differs from the CPU reference in 1 of 1000 elements: first at [99][4]")
	assert.ErrorContains(t, checkAfter(t, dev, in, "r2", 0, math.Float32bits(float32(math.NaN()))), "r2 differs from the CPU reference in 1 of 1000 elements: first at [0][0]")
	_, err = in.Check()
	assert.NoError(t, err)
}

// TestMLBlocks expects the grids of the suite: 32 blocks on its smaller devices, 64 on its larger one.
func TestMLBlocks(t *testing.T) {
	for sms, blocks := range map[int]int{8: 32, 22: 32, 56: 64, 132: 64} {
		assert.Equal(t, blocks, mlBlocks(sms), "%d multiprocessors", sms)
	}
}
