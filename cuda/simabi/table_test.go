//go:build cuda && cgo

package simabi

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTablesAreFresh fails if an export was added or removed without go generate.
func TestTablesAreFresh(t *testing.T) {
	dir := t.TempDir()
	gen, sources := filepath.Join(dir, "gentable"), filepath.Join(dir, "cuda", "simabi")
	out, err := exec.Command("go", "build", "-o", gen, "./internal/gentable").CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "cuda", "libcudasim"), 0o755))
	require.NoError(t, os.CopyFS(sources, os.DirFS(".")))
	require.NoError(t, os.CopyFS(filepath.Join(dir, "cuda", "include"), os.DirFS("../include")))
	require.NoError(t, os.CopyFS(filepath.Join(dir, "internal", "lazycuda"), os.DirFS("../../internal/lazycuda")))
	run := exec.Command(gen)
	run.Dir = sources
	out, err = run.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, f := range []string{"../simabi/table.c", "../simabi/forms.S", "../simabi/gates.S", "../libcudasim/exports.S"} {
		want, err := os.ReadFile(filepath.Join(sources, f))
		require.NoError(t, err)
		have, err := os.ReadFile(f)
		require.NoError(t, err)
		require.Equal(t, string(want), string(have), "run go generate -tags cuda ./cuda/simabi")
	}
}
