//go:build cuda && cgo

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProgramOfAnotherModule builds the first example with the tag cuda, in a module outside of this tree. It runs it
// on GPU 0 of libcudasim.so, and without a driver.
func TestProgramOfAnotherModule(t *testing.T) {
	lib, dir := buildLibrary(t), t.TempDir()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		return string(text)
	}
	for name, text := range map[string]string{
		"main.go":  strings.Replace(read("examples/first/main.go"), `Open("sim")`, `Open("gpu0")`, 1),
		"axpy.ptx": read("examples/first/axpy.ptx"),
		"go.sum":   read("go.sum"),
		"go.mod":   "module first\n\ngo 1.26\n\nrequire github.com/reprise-gpu/reprise v0.0.0\n\nreplace github.com/reprise-gpu/reprise => " + root + "\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	build := exec.Command("go", "build", "-mod=mod", "-tags", "cuda", "-o", "first", ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOPROXY=off", "GOFLAGS=")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)

	first := exec.Command(filepath.Join(dir, "first"))
	first.Env = append(os.Environ(), "REPRISE_LIBCUDA="+filepath.Join(lib, "libcudasim.so"))
	out, err = first.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "x is 1.000 again\n", string(out))

	first = exec.Command(filepath.Join(dir, "first"))
	first.Env = append(os.Environ(), "REPRISE_LIBCUDA=/nowhere")
	out, err = first.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "/nowhere")
}
