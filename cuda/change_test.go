//go:build cuda && cgo

package cuda

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/graphexectest"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/tracer"
)

// TestChangesLeaveTheBytesOfChangedPrograms runs graphexectest.Changes on this driver.
func TestChangesLeaveTheBytesOfChangedPrograms(t *testing.T) {
	seeds := uint64(20)
	if testing.Short() {
		seeds = 12
	}
	graphexectest.Changes(t, func() device.Device {
		dev, err := openGPU(0)
		require.NoError(t, err)
		return dev
	}, seeds)
}

// TestChangesOfLoopsLeaveTheBytesOfChangedPrograms runs graphexectest.Loops on this driver.
func TestChangesOfLoopsLeaveTheBytesOfChangedPrograms(t *testing.T) {
	seeds := uint64(12)
	if testing.Short() {
		seeds = 4
	}
	graphexectest.Loops(t, func() device.Device {
		dev, err := openGPU(0)
		require.NoError(t, err)
		return dev
	}, seeds)
}

// TestWhatWasOffWhenAGraphWasInstantiatedTakesAnother expects a rebuild if an operation is switched on that was off
// when the graph was instantiated: the driver cannot give work to an empty node.
func TestWhatWasOffWhenAGraphWasInstantiatedTakesAnother(t *testing.T) {
	d, err := openGPU(0)
	require.NoError(t, err)
	defer d.Close()
	tr := tracer.New(d, "off", tracer.Deferred)
	a, host := tr.Alloc("a", ir.F32, 64, ir.InOut), tr.AllocHost("host", ir.F32, 64, ir.InOut)
	tr.Memset(a, float32(1))
	tr.Copy(host, a)
	trace, err := tr.Finish()
	require.NoError(t, err)
	plan, err := optimizer.Plan(trace.Graph, optimizer.Options{})
	require.NoError(t, err)
	x, err := graphexec.Instantiate(d, plan.Schedule, trace, graphexec.Graph)
	require.NoError(t, err)
	elsewhere, err := d.Alloc(256)
	require.NoError(t, err)
	for i, c := range []struct {
		graphexec.Change
		why string
	}{
		{graphexec.Enable("%0", false), ""},
		{graphexec.Rebind("host", elsewhere), "from pinned memory to device memory"},
		{graphexec.Enable("%0", true), "was off when the graph was instantiated"},
		{graphexec.Enable("%0", false), ""},
		{graphexec.Enable("%0", true), ""},
	} {
		verdicts, err := x.Preflight(c.Change)
		require.NoError(t, err)
		assert.Equal(t, c.why == "", verdicts[0].Rebuild == "", "%d: %v", i, verdicts[0])
		assert.Contains(t, verdicts[0].Rebuild, c.why)
		before := x.Stats()
		require.NoError(t, x.Apply(c.Change))
		assert.Equal(t, c.why != "", x.Stats().Rebuilds > before.Rebuilds, "%d: %v", i, verdicts[0])
	}
	require.NoError(t, x.Replay(context.Background()))
	require.NoError(t, x.Wait(context.Background()))
	got := make([]byte, 4)
	require.NoError(t, d.Read(got, elsewhere))
	assert.Equal(t, []byte{0, 0, 0x80, 0x3f}, got)
	require.NoError(t, x.Close())
	require.NoError(t, trace.Close())
}
