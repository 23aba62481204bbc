package sim

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/unit"
)

// What the kernel affine asks of the device for 300 words in 5 blocks of 64
// threads: four blocks of 8 sectors and one of 6, read and written.
func TestDemandOfAKernel(t *testing.T) {
	const sectors = 38 * 32
	for _, c := range []struct {
		l2         int64
		first, two float64
		why        string
	}{
		{1 << 20, sectors, 0, "nothing is in L2 at first, all stays there, and what is written does too"},
		{2 * sectors, sectors, 2 * sectors, "half of L2 holds what each multiprocessor reads: the result alone is left, and must make room for the input"},
		{0, 2 * sectors, 2 * sectors, "nothing stays"},
	} {
		p := *handy()
		p.L2Bytes = c.l2
		r := newUncheckedRig(t, Options{Custom: &p})
		j, bad := r.lower(r.launchAffine(r.buffers[1], r.buffers[0], 2, 1))
		require.Nil(t, bad)
		d := r.startLaunch(0, j)
		assert.Equal(t, model.Kernel, d.Kind)
		assert.EqualValues(t, 5, d.Blocks)
		assert.EqualValues(t, 32, d.PerSM, "2048 threads by 64")
		assert.Equal(t, c.first, d.Bytes, c.why)
		assert.EqualValues(t, 2*sectors, d.L2Bytes)
		assert.EqualValues(t, 10+10, d.Work[unit.Memory], "ten warps load and store a row")
		assert.Greater(t, d.Work.Total(), 100.0, "ten warps of at least ten instructions")
		assert.Greater(t, d.BlockCycles, p.L2Cycles, "one trip to memory at least")
		assert.Equal(t, c.two, r.startLaunch(0, j).Bytes, c.why)
	}
}

func TestDemandOfCopiesAndMemsets(t *testing.T) {
	x := newTimeline(t)
	other, err := x.Alloc(1000)
	require.NoError(t, err)
	for _, c := range []struct {
		work device.Work
		want model.Demand
	}{
		{&device.Copy{Dst: x.dev, Src: x.host, Bytes: 1000}, model.Demand{Kind: model.CopyIn, Bytes: 1000}},
		{&device.Copy{Dst: x.host, Src: x.dev, Bytes: 1000}, model.Demand{Kind: model.CopyOut, Bytes: 1000}},
		{&device.Copy{Dst: other, Src: x.dev, Bytes: 1000}, model.Demand{Kind: model.CopyOn, Bytes: 2000}},
		{&device.Memset{Dst: other, Width: 4, Count: 250}, model.Demand{Kind: model.CopyOn, Bytes: 1000}},
		{&device.Copy{Dst: other, Src: x.dev}, model.Demand{}},
		{&device.HostCall{Func: func() error { return nil }}, model.Demand{Kind: model.Host}},
		{device.Nothing{}, model.Demand{}},
	} {
		j, bad := x.lower(c.work)
		require.Nil(t, bad)
		assert.Equal(t, c.want, x.start(0, j), "%v", c.work)
	}
}
