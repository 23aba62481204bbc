package sim

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/des"
)

// What the kernel affine asks of the device for 300 words in 5 blocks of 64
// threads: four blocks of 8 sectors and one of 6, read and written.
func TestDemandOfAKernel(t *testing.T) {
	for _, c := range []struct {
		l2    int64
		bytes float64
		why   string
	}{
		{1 << 20, 2 * 4 * rigWords, "what fits in L2 reaches DRAM once, and no more than the allocations hold"},
		{0, 2 * 38 * 32, "what does not, sector by sector"},
	} {
		p := *handy()
		p.L2Bytes = c.l2
		r := newRig(t, Options{Custom: &p})
		j, bad := r.lower(r.launchAffine(r.buffers[1], r.buffers[0], 2, 1))
		require.Nil(t, bad)
		d := r.startLaunch(j)
		assert.Equal(t, des.Kernel, d.Kind)
		assert.EqualValues(t, 5, d.Blocks)
		assert.EqualValues(t, 32, d.PerSM, "2048 threads by 64")
		assert.Equal(t, c.bytes, d.Bytes, c.why)
		assert.Greater(t, d.Issue, 100.0, "ten warps of at least ten instructions")
		assert.Greater(t, d.BlockCycles, 100.0, "one trip to memory at least")
	}
}

func TestDemandOfCopiesAndMemsets(t *testing.T) {
	x := newTimeline(t)
	other, err := x.Alloc(1000)
	require.NoError(t, err)
	for _, c := range []struct {
		work device.Work
		want des.Demand
	}{
		{&device.Copy{Dst: x.dev, Src: x.host, Bytes: 1000}, des.Demand{Kind: des.CopyIn, Bytes: 1000}},
		{&device.Copy{Dst: x.host, Src: x.dev, Bytes: 1000}, des.Demand{Kind: des.CopyOut, Bytes: 1000}},
		{&device.Copy{Dst: other, Src: x.dev, Bytes: 1000}, des.Demand{Kind: des.CopyOn, Bytes: 2000}},
		{&device.Memset{Dst: other, Width: 4, Count: 250}, des.Demand{Kind: des.CopyOn, Bytes: 1000}},
		{&device.Copy{Dst: other, Src: x.dev}, des.Demand{}},
		{&device.HostCall{Func: func() {}}, des.Demand{Kind: des.Host}},
		{device.Nothing{}, des.Demand{}},
	} {
		j, bad := x.lower(c.work)
		require.Nil(t, bad)
		assert.Equal(t, c.want, x.start(0, j), "%v", c.work)
	}
}
