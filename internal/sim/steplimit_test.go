package sim

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

const countDown = `.version 7.8
.target sm_75
.address_size 64
.visible .entry spin(.param .u32 n)
{
.reg .pred %p; .reg .b32 %r;
ld.param.u32 %r, [n];
$again: sub.u32 %r, %r, 1; setp.ne.u32 %p, %r, 0; @%p bra $again;
ret;
}
`

// A long kernel can be allowed to be long.
func TestStepLimit(t *testing.T) {
	launch := func(limit int64) error {
		d, err := New(Options{StepLimit: limit})
		require.NoError(t, err)
		defer func() { _ = d.Close() }()
		m, err := d.LoadModule("spin", countDown)
		require.NoError(t, err)
		f, err := d.Function(m, "spin")
		require.NoError(t, err)
		s, err := d.CreateStream(0)
		require.NoError(t, err)
		require.NoError(t, d.Submit(s, &device.Launch{Function: f, Grid: device.Dim3{X: 1, Y: 1, Z: 1},
			Block: device.Dim3{X: 1, Y: 1, Z: 1}, Params: []byte{0xe8, 3, 0, 0}})) // 1 000 rounds of three
		return d.Synchronize(s)
	}
	require.NoError(t, launch(4_000))
	require.ErrorContains(t, launch(2_000), "the block issued more than 2000 warp instructions; raise StepLimit")
}
