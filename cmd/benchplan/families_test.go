package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/ir"
)

// TestFamiliesAreWhatTheySay checks that graphs are valid, have about the requested size, and the width of their shape.
func TestFamiliesAreWhatTheySay(t *testing.T) {
	width := map[string]int{"fans10": 10, "fans1000": 1000, "fanwide": 511, "outtree": 1024, "intree": 1024, "wavefront": 45, "butterfly": 128, "bipartite": 16}
	for _, f := range graphFamilies {
		g := f.planted(2048)
		require.NoError(t, ir.Verify(g), f.name)
		if f.name != "fans9000" { // a single fan has more operations than requested here
			assert.InDelta(t, 2048, g.Len(), 1024, f.name)
		}
		all, err := measureGrowth(f, 2048, []string{"serial", "mincover"})
		require.NoError(t, err, f.name)
		require.Len(t, all, 2)
		assert.Equal(t, 1, all[0].Lanes)
		m := all[1]
		assert.Equal(t, "mincover", m.Strategy)
		assert.Equal(t, g.Len(), m.Ops)
		assert.Positive(t, m.CPU)
		assert.Zero(t, m.Undecided, f.name)
		if want, ok := width[f.name]; ok {
			assert.Equal(t, want, m.Lanes, f.name)
		}
	}
	_, err := familyNamed("star")
	assert.ErrorContains(t, err, `unknown graph family "star"`)
}

func TestMissedGrowth(t *testing.T) {
	assert.NoError(t, missedGrowth("fans10", "nimble", 1.2))
	assert.ErrorContains(t, missedGrowth("fans10", "nimble", 1.9), "fans10 under nimble takes time that grows as ops^1.90, and the goal is 1.5")
}
