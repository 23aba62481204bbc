package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/bench/scale"
)

// Rows up to --execute are executed and compared with the reference; the others are timed. Both have the same time.
func TestScaleExecutesAndTimes(t *testing.T) {
	dir := t.TempDir()
	rows := func(execute string) (list []scale.Record) {
		stdout, stderr, status := reprise("scale", "wave:32x64", "--devices", "1,2..4", "--execute", execute, "--json", "-", "--plot", dir)
		require.Zero(t, status, stderr)
		require.NoError(t, json.Unmarshal([]byte(stdout), &list))
		require.Len(t, list, 3)
		return list
	}
	executed, timed := rows("4"), rows("1")
	for i := range executed {
		a, b := &executed[i], &timed[i]
		assert.Equal(t, []int{1, 2, 4}[i], a.Devices)
		assert.True(t, a.Executed && a.OK && a.MaxError != nil, "%+v", a)
		assert.Equal(t, i == 0, b.Executed)
		assert.InEpsilon(t, a.StepUS, b.StepUS, 0.01)
		assert.Positive(t, a.PlanMS)
	}
	assert.FileExists(t, filepath.Join(dir, "scaling.svg"))

	stdout, _, status := reprise("scale", "wave:32x64", "--devices", "2", "--execute", "0", "--json", filepath.Join(dir, "rows.json"))
	require.Zero(t, status)
	assert.Contains(t, stdout, "efficiency")
	assert.Contains(t, stdout, "19 to 250 us")
	text, err := os.ReadFile(filepath.Join(dir, "rows.json"))
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(text), "["))
}
