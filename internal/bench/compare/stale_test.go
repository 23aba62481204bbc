package compare

import (
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/sim"
)

// TestAStaleDriverIsRefused uses the test's own program, a Go program without a hash.
func TestAStaleDriverIsRefused(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	assert.NoError(t, staleLibrary(self), "this program has no hash")

	sim.Sources = "64d9"
	defer func() { sim.Sources = "" }()
	assert.EqualError(t, staleLibrary(self), self+" was built from other files than the simulator of this program, so its times differ: `make build libcudasim` builds both")

	own := filepath.Join(t.TempDir(), "driver.so")
	require.NoError(t, os.WriteFile(own, []byte("\x7fELF and no Go"), 0o600))
	assert.NoError(t, staleLibrary(own), "a driver of somebody's own")
}

func TestAStaleProgramIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vec")
	built := func(text string) error {
		require.NoError(t, os.WriteFile(path, []byte("\x7fELF"+text), 0o600))
		return staleProgram(path)
	}
	assert.NoError(t, built("\x00reprise baseline sources 64d9\x00"), "this program has no hash")

	Sources = "64d9"
	defer func() { Sources = "" }()
	assert.NoError(t, built("\x00reprise baseline sources 64d9\x00"))
	assert.NoError(t, built(""), "a program of somebody's own")
	assert.EqualError(t, built("\x00reprise baseline sources 64d8\x00"), path+" was built from other C++ files than those present when this program was built: `make build baseline` builds both")
}

func TestSourcesOf(t *testing.T) {
	makefile, err := os.ReadFile("../../../Makefile")
	require.NoError(t, err)
	require.True(t, strings.Contains(string(makefile), sourcesFlag+"$(SOURCES)"), "the Makefile sets another variable than the one that is read")

	noted := "-extldflags=-Wl,-soname,libcuda.so.1 " + sourcesFlag + "64d9"
	for want, settings := range map[string][]debug.BuildSetting{
		"64d9": {{Key: "-buildmode", Value: "c-shared"}, {Key: "-ldflags", Value: noted}},
		"":     {{Key: "-ldflags", Value: "-s"}, {Key: "-tags", Value: noted}},
	} {
		assert.Equal(t, want, sourcesOf(&debug.BuildInfo{Settings: settings}))
	}
}
