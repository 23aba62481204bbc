package reprise_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProgramOfAnotherModule runs the example as the program of a module that is not in this tree, with nothing from the
// network.
func TestProgramOfAnotherModule(t *testing.T) {
	root, err := os.Getwd()
	require.NoError(t, err)
	source, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	program := strings.NewReplacer("package reprise_test", "package main", "func Example()", "func main()").Replace(string(source))
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	write("main.go", program)
	write("go.mod", "module first\n\ngo 1.26\n\nrequire github.com/reprise-gpu/reprise v0.0.0\n\nreplace github.com/reprise-gpu/reprise => "+root+"\n")
	sums, err := os.ReadFile("go.sum")
	require.NoError(t, err)
	write("go.sum", string(sums))
	run := exec.Command("go", "run", "-mod=mod", ".")
	run.Dir = dir
	run.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "CGO_ENABLED=0")
	out, err := run.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "x is 1.000 again\n", string(out))
}
