package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The times of a saved graph are those of the workload that it was saved from: both are one program.
func TestMeasureAddsToAFile(t *testing.T) {
	dir := t.TempDir()
	path, graph := filepath.Join(dir, "times.json"), filepath.Join(dir, "vec.rir")
	for _, args := range [][]string{
		{"measure", "vec", "--replays", "3", "-o", path},
		{"trace", "vec", "--size", "tiny", "-o", graph},
		{"measure", graph, "--replays", "2", "-o", path},
		{"measure", "img", "--replays", "1", "-o", path},
	} {
		_, stderr, status := reprise(args...)
		require.Zero(t, status, stderr)
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var file struct {
		Device   struct{ ID, Name, Driver string }
		Date     string
		Programs []struct {
			Name    string
			Replays string `json:"replays_ns"`
			Nodes   []struct{ NS string }
		}
	}
	require.NoError(t, json.Unmarshal(text, &file))
	assert.Equal(t, []string{"sim:h200", "NVIDIA H200", "simulated"}, []string{file.Device.ID, file.Device.Name, file.Device.Driver})
	assert.Len(t, file.Date, len("2026-01-31"))
	require.Len(t, file.Programs, 2)
	assert.Equal(t, "img", file.Programs[0].Name)
	vec := file.Programs[1]
	assert.Equal(t, "vec", vec.Name)
	assert.Regexp(t, `^\d+\*5$`, vec.Replays)
	require.Len(t, vec.Nodes, 7)
	assert.Regexp(t, `^\d+\*5$`, vec.Nodes[6].NS)
}
