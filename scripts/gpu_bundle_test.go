//go:build cuda && cgo

package scripts

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTheBundleRunsOnTheSimulatedDriver builds a bundle and runs steps of it on the simulated driver: the tool
// starts, C programs compile and run, and the C++ programs are found and compared.
func TestTheBundleRunsOnTheSimulatedDriver(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the tool, the simulated driver and tests")
	}
	for _, tool := range []string{"gcc", "g++", "make", "git", "objdump"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("needs %s", tool)
		}
	}
	if err := exec.Command("git", "rev-parse").Run(); err != nil {
		t.Skip("needs a checkout: the bundle holds the files that git knows")
	}
	dir := t.TempDir()
	out, err := exec.Command("make", "-C", "..", "gpu-check-sim", "GPU_BUNDLE="+filepath.Join(dir, "gpu-bundle"),
		"GPU_CHECK_SIM="+filepath.Join(dir, "results"), "COMPARE_FLAGS=vec --size tiny --memory pinned --iterations 1", "GPU_CHECK_STEPS=-d sim:h200 machine programs validate compare").CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.FileExists(t, filepath.Join(dir, "gpu-bundle.tar.gz"))
	text, err := os.ReadFile(filepath.Join(dir, "results", "check.json"))
	require.NoError(t, err)
	var o outcome
	require.NoError(t, json.Unmarshal(text, &o))
	assert.Equal(t, map[string]string{"machine": "ok", "programs": "ok", "validate": "ok", "compare": "ok"}, o.statuses())
	assert.Contains(t, o.Name, "REPRISE_LIBCUDA=sim", "the report names the simulator")
	assert.Regexp(t, `^[0-9a-f]{12}(-dirty)?$`, o.Commit)
}
