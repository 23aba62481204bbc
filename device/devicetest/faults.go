package devicetest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

var faultBehaviours = []behaviour{
	{"faults/surface at the next wait", faultAtSync},
	{"faults/poison the device", faultPoisons},
	{"faults/are described", faultDescribed},
	{"faults/kernels cannot reach pinned memory", faultPinned},
}

// stray submits a kernel that stores far outside of p and returns the error of the next wait.
func (b *bench) stray() error {
	b.t.Helper()
	s, p := b.stream(), b.alloc(64)
	b.submit(s, &device.Launch{
		Function: b.function("stray"), Label: "astray",
		Grid: device.Dim3{X: 4, Y: 1, Z: 1}, Block: device.Dim3{X: 32, Y: 1, Z: 1},
		Params: params(p, uint64(1)<<40),
	})
	b.poisoned = true
	return b.Synchronize(s)
}

func faultAtSync(t *testing.T, b *bench) {
	assert.Equal(t, device.IllegalAddress, device.CodeOf(b.stray()))
}

func faultPoisons(t *testing.T, b *bench) {
	p := b.alloc(16)
	require.Error(t, b.stray())
	s, err := b.CreateStream(0)
	assert.Equal(t, device.IllegalAddress, device.CodeOf(err), "every later call answers the same: %v", err)
	assert.Equal(t, device.IllegalAddress, device.CodeOf(b.Submit(s, device.Nothing{})))
	assert.Equal(t, device.IllegalAddress, device.CodeOf(b.SynchronizeAll()))
	assert.Equal(t, device.IllegalAddress, device.CodeOf(b.Read(make([]byte, 16), p)))
	assert.Equal(t, device.IllegalAddress, device.CodeOf(b.Free(p)))
}

func faultDescribed(t *testing.T, b *bench) {
	err := b.stray()
	var e *device.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, "Synchronize", e.Call)
	require.NotNil(t, e.Fault)
	f := *e.Fault
	assert.Equal(t, "stray", f.Kernel)
	assert.Equal(t, "astray", f.Label)
	assert.Equal(t, [3]uint32{2, 0, 0}, f.Block)
	assert.Equal(t, [3]uint32{3, 0, 0}, f.Thread)
	assert.Equal(t, "kernels.ptx", f.File)
	assert.Positive(t, f.Line)
	assert.NotZero(t, f.Address)
	assert.NotEmpty(t, f.Reason)
}

func faultPinned(t *testing.T, b *bench) {
	h, _ := b.allocHost(4 * n)
	s := b.stream()
	b.submit(s, affine(b.function("affine"), h, h, 1, 1, n))
	b.poisoned = true
	assert.Equal(t, device.IllegalAddress, device.CodeOf(b.Synchronize(s)))
}
