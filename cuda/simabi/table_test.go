//go:build cuda

package simabi

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTableIsFresh fails when an export was added or taken away without go generate.
func TestTableIsFresh(t *testing.T) {
	dir := t.TempDir()
	gen := filepath.Join(dir, "gentable")
	out, err := exec.Command("go", "build", "-o", gen, "./internal/gentable").CombinedOutput()
	require.NoError(t, err, "%s", out)
	sources, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, f := range sources {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, f), text, 0o644))
	}
	run := exec.Command(gen)
	run.Dir = dir
	out, err = run.CombinedOutput()
	require.NoError(t, err, "%s", out)
	want, err := os.ReadFile(filepath.Join(dir, "table.c"))
	require.NoError(t, err)
	have, err := os.ReadFile("table.c")
	require.NoError(t, err)
	require.Equal(t, string(want), string(have), "run go generate ./cuda/simabi")
}
