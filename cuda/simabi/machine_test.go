//go:build cuda && cgo

package simabi

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// machineFile writes a machine of two ranks: one GPU, and two with little memory at a switch.
func machineFile(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "m.json")
	require.NoError(t, os.WriteFile(path, []byte(`{"format": "reprise-machine", "version": 1, "ranks": [
		{"devices": [{"profile": "h200"}]},
		{"devices": [{"count": 2, "profile": "v100", "memory_bytes": {"value": 4096, "from": "a test"}}],
		 "links": [{"kind": "switch", "peers": false, "gbps": {"value": 12, "from": "estimate"}}]}]}`), 0o644))
	return path
}

func TestGPUsOfAMachine(t *testing.T) {
	t.Setenv("REPRISE_SIM", "ignored")
	t.Setenv("REPRISE_SIM_MACHINE", machineFile(t))
	for _, name := range rankVariables {
		t.Setenv(name, "")
	}
	gpus, err := plug()
	require.NoError(t, err)
	require.Len(t, gpus, 1)
	for _, name := range []string{"PMI_RANK", "REPRISE_SIM_RANK"} {
		t.Setenv(name, "1")
		gpus, err = plug()
		require.NoError(t, err)
		require.Len(t, gpus, 2)
		assert.Equal(t, "v100", gpus[1].profile.ID)
		assert.EqualValues(t, 4096, gpus[1].memory)
		_, total := gpus[1].sim.Memory()
		assert.EqualValues(t, 4096, total)
		assert.False(t, gpus[0].sim.CanPeer(gpus[1].sim))
	}
	t.Setenv("REPRISE_SIM_RANK", "2")
	_, err = plug()
	assert.ErrorContains(t, err, "REPRISE_SIM_RANK=2: the machine has ranks 0 to 1; start as many processes as it has ranks")
	t.Setenv("REPRISE_SIM_MACHINE", "h200-4")
	t.Setenv("REPRISE_SIM_RANK", "")
	t.Setenv("PMI_RANK", "")
	gpus, err = plug()
	require.NoError(t, err)
	require.Len(t, gpus, 4)
	assert.True(t, gpus[3].sim.CanPeer(gpus[0].sim))
	t.Setenv("CUDA_VISIBLE_DEVICES", "9")
	_, err = plug()
	assert.EqualError(t, err, "CUDA_VISIBLE_DEVICES=9 leaves none of the GPUs of REPRISE_SIM_MACHINE=h200-4 visible")
	t.Setenv("REPRISE_SIM_MACHINE", "h200-5")
	_, err = plug()
	assert.ErrorContains(t, err, `REPRISE_SIM_MACHINE=h200-5: no machine is called "h200-5"`)
}
