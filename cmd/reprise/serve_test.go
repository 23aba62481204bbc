package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/browser"
	"github.com/reprise-gpu/reprise/internal/viewer"
)

// TestServedPages makes the pages of serve for a workload, for a saved program and for text that is none.
func TestServedPages(t *testing.T) {
	s := served(t)
	require.Contains(t, s.Names(), "vec")
	page, err := s.Program(context.Background(), "vec")
	require.NoError(t, err)
	assert.Contains(t, string(page), "<title>vec ")
	_, err = s.Program(context.Background(), "none")
	assert.ErrorContains(t, err, "unknown workload")

	text := savedVec(t)
	page, err = s.File(context.Background(), "mine.rir", text)
	require.NoError(t, err)
	assert.Contains(t, string(page), "<title>vec ")
	_, err = s.File(context.Background(), "mine.rir", "no graph")
	assert.ErrorContains(t, err, "mine.rir:1")
}

// served returns the source of the pages of serve, each with one plan.
func served(t *testing.T) *reportSource {
	f := &reportFlags{device: defaultDevice, strategies: []string{"nimble"}, backends: []string{"graph"}, data: dataFlags{memory: "pinned", seed: 1}}
	o, err := f.options()
	require.NoError(t, err)
	return &reportSource{f, o}
}

// savedVec returns the text of a saved program.
func savedVec(t *testing.T) string {
	file := filepath.Join(t.TempDir(), "vec.rir")
	_, stderr, status := reprise("trace", "vec", "--size", "tiny", "-o", file)
	require.Zero(t, status, stderr)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}

// TestFilesAreChosenInABrowser chooses files in the picker of serve, in a headless Chromium. A broken file shows one sentence and
// the place, and the same file shows its program after it was corrected.
func TestFilesAreChosenInABrowser(t *testing.T) {
	path := browser.Find()
	if path == "" {
		t.Skip("no Chromium on this machine: install the package chromium")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	server := viewer.New(served(t), l.Addr())
	go func() { ended <- server.Serve(ctx, l) }()
	b, err := browser.Start(ctx, path, t.TempDir())
	require.NoError(t, err)
	p, err := b.Open(ctx, "http://"+l.Addr().String()+"/", 900, 700, "document.getElementById('file')")
	require.NoError(t, err)

	file := filepath.Join(t.TempDir(), "mine.rir")
	choose := func(text string) {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		require.NoError(t, p.Choose("document.getElementById('file')", file))
	}
	require.ErrorContains(t, p.Choose("document.getElementById('none')", file), "is no element")
	choose("graph g {\n  %0 = emty\n}\n")
	require.NoError(t, p.Until("document.querySelector('#state.bad')"))
	var message string
	require.NoError(t, p.Eval("document.getElementById('state').textContent", &message))
	assert.Equal(t, "mine.rir:2:8: \"emty\" is not an operation; did you mean empty?\n      %0 = emty\n           ^", message)

	choose(savedVec(t))
	require.NoError(t, p.Until("document.title.startsWith('vec ')"))
	require.NoError(t, b.Close())
	cancel()
	require.NoError(t, <-ended)
}
