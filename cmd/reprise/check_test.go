package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/bench"
)

// TestPlansOfWorkloadsAreOrdered proves the plans of all workloads, by all strategies, for both back ends. Long searches
// take seconds for the two workloads with many operations; those get a short one, and auto may choose any of the others.
func TestPlansOfWorkloadsAreOrdered(t *testing.T) {
	for _, w := range bench.Workloads() {
		strategies := strategyNames()
		if w.Name == "bs" || w.Name == "hits" {
			strategies = slices.DeleteFunc(strategies, func(s string) bool { return s == "auto" || s == "search" })
			strategies = append(strategies, "search(200)")
		}
		var out, stderr bytes.Buffer
		status := run([]string{"check", w.Name + ":tiny", "--strategy", strings.Join(strategies, ","), "--json", "-"}, nil, &out, &stderr)
		require.Equal(t, exitOK, status, "%s: %s", w.Name, stderr.String())
		var all []checked
		require.NoError(t, json.Unmarshal(out.Bytes(), &all))
		assert.Len(t, all, 2*len(strategies), w.Name)
		for _, p := range all {
			assert.Positive(t, p.Conflicts, w.Name)
			assert.Empty(t, p.Races, w.Name)
		}
	}
}

// TestCheckProvesTheScheduleOfAFile expects rows for the schedule that opt has written, beside those of a fresh plan.
func TestCheckProvesTheScheduleOfAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "planned.rir")
	_, stderr, status := reprise("opt", "img", "--strategy", "roundrobin(3)", "-o", file)
	require.Zero(t, status, stderr)
	out, stderr, status := reprise("check", file, "--strategy", "serial", "--mutate")
	require.Zero(t, status, stderr)
	for _, row := range []string{"the file/graph", "the file/streams", "serial/graph", "serial/streams"} {
		assert.Contains(t, out, row)
	}
}
