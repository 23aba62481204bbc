package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestServedPages makes the pages of serve for a workload, for a saved program and for text that is none.
func TestServedPages(t *testing.T) {
	f := &reportFlags{device: defaultDevice, strategies: []string{"nimble"}, backends: []string{"graph"}, data: dataFlags{memory: "pinned", seed: 1}}
	o, err := f.options()
	require.NoError(t, err)
	s := &reportSource{f, o}
	require.Contains(t, s.Names(), "vec")
	page, err := s.Program(context.Background(), "vec")
	require.NoError(t, err)
	assert.Contains(t, string(page), "<title>vec ")
	_, err = s.Program(context.Background(), "none")
	assert.ErrorContains(t, err, "unknown workload")

	file := filepath.Join(t.TempDir(), "vec.rir")
	_, stderr, status := reprise("trace", "vec", "--size", "tiny", "-o", file)
	require.Zero(t, status, stderr)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	page, err = s.File(context.Background(), "mine.rir", string(text))
	require.NoError(t, err)
	assert.Contains(t, string(page), "<title>vec ")
	_, err = s.File(context.Background(), "mine.rir", "no graph")
	assert.ErrorContains(t, err, "mine.rir:1")
}
