package compare

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/sim"
)

// The test itself is a Go program that nobody noted the sources in.
func TestAStaleDriverIsRefused(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	p := Programs{Library: self}
	assert.NoError(t, p.stale(), "this program does not tell what it was built from")

	sim.Sources = "64d9"
	defer func() { sim.Sources = "" }()
	assert.EqualError(t, p.stale(), self+" simulates otherwise than this program does, for it was built from other files: `make build libcudasim` builds both")

	p.Library = filepath.Join(t.TempDir(), "driver.so")
	require.NoError(t, os.WriteFile(p.Library, []byte("\x7fELF and no Go"), 0o600))
	assert.NoError(t, p.stale(), "a driver of somebody's own")
}

func TestSourcesOf(t *testing.T) {
	const noted = "-extldflags=-Wl,-soname,libcuda.so.1 -X=github.com/reprise-gpu/reprise/sim.Sources=64d9"
	for want, settings := range map[string][]debug.BuildSetting{
		"64d9": {{Key: "-buildmode", Value: "c-shared"}, {Key: "-ldflags", Value: noted}},
		"":     {{Key: "-ldflags", Value: "-s"}, {Key: "-tags", Value: noted}},
	} {
		assert.Equal(t, want, sourcesOf(&debug.BuildInfo{Settings: settings}))
	}
}
