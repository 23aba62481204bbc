//go:build cuda

package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// buildLibrary builds libcudasim.so as the Makefile does, and returns the folder.
func buildLibrary(t *testing.T) string {
	dir := t.TempDir()
	out, err := exec.Command("make", "-C", "../..", "libcudasim", "LIBCUDASIM="+filepath.Join(dir, "libcudasim.so")).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.NoError(t, os.Symlink("libcudasim.so", filepath.Join(dir, "libcuda.so.1")))
	return dir
}

// directives are the comments that a program begins with.
type directives struct {
	env       []string // "// env: NAME=VALUE", for the simulator
	perThread bool     // "// also with the per-thread default stream"
}

func readDirectives(t *testing.T, source string) (d directives) {
	f, err := os.Open(source)
	require.NoError(t, err)
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan() && strings.HasPrefix(lines.Text(), "//"); {
		text := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "//"))
		if env, ok := strings.CutPrefix(text, "env: "); ok {
			d.env = append(d.env, env)
		}
		d.perThread = d.perThread || text == "also with the per-thread default stream"
	}
	return d
}

// TestPrograms compiles each program of testdata with our header and runs it on the
// simulator. They check themselves.
func TestPrograms(t *testing.T) {
	lib := buildLibrary(t)
	sources, err := filepath.Glob("testdata/*.c")
	require.NoError(t, err)
	require.NotEmpty(t, sources)
	for _, source := range sources {
		name, d := strings.TrimSuffix(filepath.Base(source), ".c"), readDirectives(t, source)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runProgram(t, lib, source, d)
		})
		if d.perThread {
			t.Run(name+"/per-thread", func(t *testing.T) {
				t.Parallel()
				runProgram(t, lib, source, d, "-DCUDA_API_PER_THREAD_DEFAULT_STREAM")
			})
		}
	}
}

func runProgram(t *testing.T, lib, source string, d directives, flags ...string) {
	program := filepath.Join(t.TempDir(), "program")
	args := append([]string{"-std=c11", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-I../include",
		source, "-o", program, filepath.Join(lib, "libcudasim.so"), "-lm"}, flags...)
	out, err := exec.Command("gcc", args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	run := exec.CommandContext(ctx, program)
	run.Env = append(append(os.Environ(), "LD_LIBRARY_PATH="+lib, "REPRISE_SIM=h200"), d.env...)
	out, err = run.CombinedOutput()
	require.NoError(t, err, "%s", out)
}
