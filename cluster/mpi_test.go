//go:build cuda || mpi

package cluster_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/bench/scale/programs"
	"github.com/reprise-gpu/reprise/internal/transport/mpi/mpitest"
)

// TestMain removes the library that the tests share.
func TestMain(m *testing.M) {
	status := m.Run()
	mpitest.Clean()
	os.Exit(status)
}

// TestWithMPIRun runs the example with a process for each rank, and compares its last line with that of one process.
func TestWithMPIRun(t *testing.T) {
	program := filepath.Join(t.TempDir(), "example")
	text, err := exec.Command("go", "build", "-tags", "mpi", "-o", program, "../examples/cluster").CombinedOutput()
	require.NoError(t, err, "%s", text)
	for ranks, machine := range map[int]string{1: "1x4:v100", 2: "2x2:v100", 4: "4x1:v100"} {
		expected, err := exec.Command(program, "-machine", machine).Output()
		require.NoError(t, err)
		text, err := mpitest.Command(t, ranks, program, "-machine", machine).CombinedOutput()
		assert.NoError(t, err, "%s: %s", machine, text)
		assert.Contains(t, string(text), last(string(expected)), machine)
	}
}

// The programs print the same results, checked on the CPU, and the same virtual times with a process for each rank as in one
// process.
func TestProgramsWithMPIRun(t *testing.T) {
	program := filepath.Join(t.TempDir(), "reprise")
	text, err := exec.Command("go", "build", "-tags", "mpi", "-o", program, "../cmd/reprise").CombinedOutput()
	require.NoError(t, err, "%s", text)
	for _, kind := range programs.Kinds() {
		for ranks, machine := range map[int]string{1: "1x4", 2: "2x2", 4: "4x1"} {
			args := []string{"run", kind.Name + ":" + kind.Tiny, "--machine", machine, "--replays", "4", "--json", "-"}
			expected, err := exec.Command(program, args...).Output()
			require.NoError(t, err)
			var stderr strings.Builder
			c := mpitest.Command(t, ranks, program, args...)
			c.Stderr = &stderr
			got, err := c.Output()
			assert.NoError(t, err, "%s on %s: %s", kind.Name, machine, &stderr)
			assert.Equal(t, string(expected), string(got))
			assert.Contains(t, string(got), `"ok": true`)
		}
	}
}

// last returns the last line.
func last(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}
