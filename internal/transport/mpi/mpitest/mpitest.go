// Package mpitest starts programs with mpirun, for tests.
package mpitest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Command returns the command that starts a program on some ranks. The program uses MPI through a library that Command
// builds. The test is skipped if MPI is not installed. A command that runs for five minutes is killed.
func Command(t *testing.T, ranks int, program string, arguments ...string) *exec.Cmd {
	t.Helper()
	for _, tool := range []string{"mpirun", "mpicc"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed: apt-get install openmpi-bin libopenmpi-dev", tool)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, "mpirun", append([]string{"-np", fmt.Sprint(ranks), "--oversubscribe", program}, arguments...)...)
	c.Env = append(os.Environ(), "OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "REPRISE_MPI="+shim(t))
	return c
}

// Build builds a library from C files with mpicc.
func Build(path string, sources ...string) error {
	text, err := exec.Command("mpicc", append([]string{"-std=gnu11", "-O2", "-fPIC", "-shared", "-o", path}, sources...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("mpicc %v: %w\n%s", sources, err, text)
	}
	return nil
}

var (
	once   sync.Once
	folder string // of the library
	failed error
)

// shim returns the path of libreprise-mpi.so, which is built once and stays until Clean.
func shim(t *testing.T) string {
	t.Helper()
	once.Do(func() {
		_, file, _, _ := runtime.Caller(0)
		if folder, failed = os.MkdirTemp("", "reprise-mpi"); failed == nil {
			failed = Build(filepath.Join(folder, "libreprise-mpi.so"), filepath.Join(filepath.Dir(file), "..", "shim", "shim.c"))
		}
	})
	require.NoError(t, failed)
	return filepath.Join(folder, "libreprise-mpi.so")
}

// Clean removes what Command has built. TestMain calls it at the end.
func Clean() { os.RemoveAll(folder) }
