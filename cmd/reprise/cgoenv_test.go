package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCgoEnvBuildsTheLibrary links a program with the library. It must start on a machine without a driver.
func TestCgoEnvBuildsTheLibrary(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("needs a C compiler")
	}
	dir := filepath.Join(t.TempDir(), "it's")
	stdout, stderr, status := reprise("cgo-env", dir)
	require.Zero(t, status, stderr)
	program := filepath.Join(t.TempDir(), "count")
	require.NoError(t, os.WriteFile(program+".c", []byte(`#include <cuda.h>
#include <stdio.h>
int main(void) {
	int n = -1;
	cuInit(0);
	cuDeviceGetCount(&n);
	printf("%d\n", n);
}`), 0o644))
	script := stdout + `cc $CGO_CFLAGS ` + program + `.c $CGO_LDFLAGS -lcuda -ldl -lpthread -o ` + program + ` && REPRISE_LIBCUDA=/nowhere ` + program
	out, err := exec.Command("sh", "-c", script).CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Equal(t, "0\n", string(out))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 3, "cuda.h, reprise.h and libcuda.a")
}

func TestCgoEnvMistakes(t *testing.T) {
	_, stderr, status := reprise("cgo-env", filepath.Join(t.TempDir(), "a b"))
	assert.Equal(t, exitUsage, status)
	assert.Contains(t, stderr, "has a space in its path")
	t.Setenv("CC", "no-such-compiler -m64")
	_, stderr, status = reprise("cgo-env", t.TempDir())
	assert.Equal(t, exitInput, status)
	assert.Contains(t, stderr, `"no-such-compiler": executable file not found in $PATH: cgo needs a C compiler and ar: install them, or name the compiler in CC`)
}
