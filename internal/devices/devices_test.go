package devices

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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
