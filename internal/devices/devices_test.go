package devices

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/internal/sim"
)

func TestOrdinal(t *testing.T) {
	for id, want := range map[string]int{"gpu0": 0, "gpu12": 12, "gpu": -1, "gpu-1": -1, "gpu99999": -1, "sim": -1, "": -1} {
		n, ok := Ordinal(id)
		if assert.Equal(t, want >= 0, ok, id) && ok {
			assert.Equal(t, want, n)
		}
	}
}

func TestOpenSimulated(t *testing.T) {
	for id, want := range map[string]string{"sim": "sim:h200", "sim:": "sim:h200", "sim:a100": "sim:a100"} {
		dev, err := Open(id, sim.Options{})
		require.NoError(t, err, id)
		assert.Equal(t, want, dev.Info().ID)
		require.NoError(t, dev.Close())
	}
	for _, id := range []string{"", "h200", "sim:none", "gpux"} {
		_, err := Open(id, sim.Options{})
		assert.ErrorAs(t, err, new(IDError), id)
	}
	_, err := Open("sim:none.json", sim.Options{})
	assert.ErrorContains(t, err, "none.json")
}

func TestOpenRank(t *testing.T) {
	m, err := machine.Uniform(2, 3, "v100")
	require.NoError(t, err)
	list, err := OpenRank(m, 1, sim.Options{})
	require.NoError(t, err)
	require.Len(t, list, 3)
	assert.Equal(t, "sim:v100", list[2].Info().ID)
	assert.True(t, list[0].(device.Peer).CanPeer(list[2]))
	list[0].(interface{ WaitUntil(time.Duration) }).WaitUntil(time.Second)
	assert.Equal(t, time.Second, list[2].Now(), "the devices share a clock")
	for _, d := range list {
		assert.NoError(t, d.Close())
	}
	_, err = OpenRank(m, 2, sim.Options{})
	assert.EqualError(t, err, "rank 2 of machine 2x3 v100, which has ranks 0 to 1")
	_, err = OpenRank(m, 0, sim.Options{Race: sim.RaceOn, Sample: 1})
	assert.Error(t, err)
}
