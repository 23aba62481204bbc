package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/bench/strategies"
)

// TestStrategiesComparesFiles compares traces and imported graphs. The JSON must hold the figures of the tables.
func TestStrategiesComparesFiles(t *testing.T) {
	dir := t.TempDir()
	paths := []string{filepath.Join(dir, "vec.rir"), filepath.Join(dir, "darts.rir")}
	_, stderr, status := reprise("trace", "vec", "--size", "1024", "-o", paths[0])
	require.Zero(t, status, stderr)
	_, stderr, status = reprise("import", "--network", "darts", "-o", paths[1])
	require.Zero(t, status, stderr)

	out := filepath.Join(dir, "out.json")
	stdout, stderr, status := reprise("strategies", paths[0], paths[1], "--strategy", "serial,nimble", "--json", out, "--plot", filepath.Join(dir, "figures"))
	require.Zero(t, status, stderr)
	assert.FileExists(t, filepath.Join(dir, "figures", "strategies.svg"))
	data, err := os.ReadFile(out)
	require.NoError(t, err)
	var all []strategies.Comparison
	require.NoError(t, json.Unmarshal(data, &all))
	require.Len(t, all, 2)
	assert.Equal(t, []int{549, 649, 623}, []int{all[1].Ops, all[1].Edges, all[1].ReducedEdges})
	nimble := all[1].Rows[1]
	assert.Equal(t, []int{7, 134}, []int{nimble.Lanes, nimble.Waits})
	assert.Less(t, nimble.PredictedUS, all[1].Rows[0].PredictedUS)
	var table strings.Builder
	require.NoError(t, strategies.WriteTable(&table, []*strategies.Comparison{&all[0], &all[1]}))
	assert.Equal(t, table.String(), stdout)
}
