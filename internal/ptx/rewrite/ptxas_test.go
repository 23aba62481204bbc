package rewrite

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// TestAssembles assembles the rewrites of a part of the corpus, of kernels that ptxas 11.8 can
// assemble.
func TestAssembles(t *testing.T) {
	assembler, err := exec.LookPath("ptxas")
	if err != nil {
		t.Skip("ptxas is not installed: ", err)
	}
	dir := t.TempDir()
	assemble := func(m *ptx.Module, text string) ([]byte, error) {
		file := filepath.Join(dir, "kernel.ptx")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o666))
		return exec.Command(assembler, "-arch="+m.Target, "-o", os.DevNull, file).CombinedOutput()
	}
	step, count := 71, 0
	if testing.Short() {
		step = 16 // of a ninth of the kernels
	}
	for i, k := range corpus(t) {
		if i%step != 5 {
			continue
		}
		if _, err := assemble(k.module, k.module.String()); err != nil {
			continue
		}
		for _, r := range k.rewrites() {
			if r.err == nil {
				out, err := assemble(r.result.Module, r.result.Text)
				require.NoError(t, err, "%s of %s: %s\n%s", r.name, k, out, r.result.Text)
				count++
			}
		}
	}
	require.Greater(t, count, 20)
}
