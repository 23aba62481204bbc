package machine

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFirstKeepsRanksAndLinks(t *testing.T) {
	m, err := Lookup("a100-32x4")
	require.NoError(t, err)
	part, err := m.First(6)
	require.NoError(t, err)
	require.Len(t, part.Ranks, 2)
	assert.Len(t, part.Ranks[0].Devices, 4)
	assert.Len(t, part.Ranks[1].Devices, 2)
	assert.NotNil(t, part.Ranks[1].Path(0, 1))
	assert.Equal(t, []int{0, 1}, part.Ranks[1].Links[0].Devices)
	assert.Equal(t, []int{0, 1, 2, 3}, m.Ranks[1].Links[0].Devices, "the machine itself stays")
	assert.Equal(t, m.Network, part.Network)

	all, err := m.First(m.Devices())
	require.NoError(t, err)
	assert.Equal(t, m.Ranks, all.Ranks)
	for _, n := range []int{0, -1, 129} {
		_, err := m.First(n)
		assert.ErrorContains(t, err, "use a number from 1 to 128")
	}
}
