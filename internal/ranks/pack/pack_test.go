package pack_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/ranks/pack"
	"github.com/reprise-gpu/reprise/internal/sim"
)

const memory = 4096

// Kernels copy exactly the rows of a box, in elements of each size.
func TestKernelsCopyRows(t *testing.T) {
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	defer dev.Close()
	m, err := dev.LoadModule("pack", pack.PTX)
	require.NoError(t, err)
	here, err := dev.Alloc(memory)
	require.NoError(t, err)
	there, err := dev.Alloc(memory)
	require.NoError(t, err)
	s, err := dev.CreateStream(0)
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(22, 6))
	sizes := map[int64]int{}
	for range 60 {
		unit := uint64(1) << r.IntN(4)
		run, rows := unit*(1+r.Uint64N(9)), 1+r.Uint64N(20)
		srcPitch, dstPitch := run+unit*r.Uint64N(9), run+unit*r.Uint64N(9)
		src, dst := unit*r.Uint64N(8), unit*r.Uint64N(8)
		size := pack.Element(src, dst, run, srcPitch, dstPitch)
		sizes[size]++
		from, want := make([]byte, memory), make([]byte, memory)
		for i := range from {
			from[i], want[i] = byte(r.Uint32()), byte(i)
		}
		require.NoError(t, dev.Write(there, want))
		for row := range rows {
			copy(want[dst+row*dstPitch:], from[src+row*srcPitch:][:run])
		}
		require.NoError(t, dev.Write(here, from))
		f, err := dev.Function(m, fmt.Sprintf("pack%d", 8*size))
		require.NoError(t, err)
		n := int64(run*rows) / size
		blocks, err := pack.Blocks(n)
		require.NoError(t, err)
		params := binary.LittleEndian.AppendUint64(nil, uint64(there)+dst)
		params = binary.LittleEndian.AppendUint64(params, uint64(here)+src)
		params = binary.LittleEndian.AppendUint64(params, dstPitch)
		params = binary.LittleEndian.AppendUint64(params, srcPitch)
		params = binary.LittleEndian.AppendUint32(params, uint32(int64(run)/size))
		params = binary.LittleEndian.AppendUint32(params, uint32(n))
		launch := &device.Launch{Function: f, Grid: device.Dim3{X: blocks, Y: 1, Z: 1}, Block: device.Dim3{X: pack.Threads, Y: 1, Z: 1}, Params: params}
		require.NoError(t, dev.Submit(s, launch))
		require.NoError(t, dev.SynchronizeAll())
		got := make([]byte, memory)
		require.NoError(t, dev.Read(got, there))
		require.Equal(t, want, got, "%d rows of %d bytes", rows, run)
	}
	assert.Len(t, sizes, 4, "all sizes of elements occur")
}

func TestElement(t *testing.T) {
	assert.EqualValues(t, 8, pack.Element(0, 64, 1<<40))
	assert.EqualValues(t, 4, pack.Element(8, 12))
	assert.EqualValues(t, 1, pack.Element(16, 3))
	_, err := pack.Blocks(1 << 32)
	assert.ErrorContains(t, err, "at most 4294967295")
}
