//go:build cuda && cgo

package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// library returns the folder of libcudasim.so, which is built once.
var library = sync.OnceValues(func() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "libcudasim"); err != nil {
		return "", err
	}
	out, err := exec.Command("make", "-C", "../..", "libcudasim", "LIBCUDASIM="+filepath.Join(dir, "libcudasim.so")).CombinedOutput()
	if err != nil {
		return dir, fmt.Errorf("%w\n%s", err, out)
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, _ := library(); dir != "" {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// buildLibrary builds libcudasim.so as the Makefile does, and returns the folder.
func buildLibrary(t *testing.T) string {
	dir, err := library()
	require.NoError(t, err)
	return dir
}

// directives are the settings in the comments at the start of a program.
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

// TestToolkitHeader compiles a program with the header of NVIDIA's toolkit instead of ours.
func TestToolkitHeader(t *testing.T) {
	for _, header := range []string{os.Getenv("CUDA_HOME") + "/include", "/usr/local/cuda/include", "/usr/include"} {
		if _, err := os.Stat(filepath.Join(header, "cuda.h")); err == nil {
			lib := buildLibrary(t)
			run(t, lib, compileWith(t, header, lib, "testdata/capture_fork_join.c"), nil)
			return
		}
	}
	t.Skip("no CUDA toolkit here: set CUDA_HOME if there is one")
}

// compileProgram compiles a program of testdata with our header.
func compileProgram(t *testing.T, lib, source string, flags ...string) string {
	return compileWith(t, "../include", lib, source, flags...)
}

// compileWith compiles a program of testdata with the cuda.h of a folder.
func compileWith(t *testing.T, header, lib, source string, flags ...string) string {
	program := filepath.Join(t.TempDir(), "program")
	args := append([]string{"-std=c11", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-I" + header,
		source, "-o", program, filepath.Join(lib, "libcudasim.so"), "-lm"}, flags...)
	out, err := exec.Command("gcc", args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

// run runs a compiled program on the simulator and returns what it printed.
func run(t *testing.T, lib, program string, env []string, args ...string) string {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, program, args...)
	c.Env = append(append(os.Environ(), "LD_LIBRARY_PATH="+lib, "REPRISE_SIM=h200"), env...)
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

func runProgram(t *testing.T, lib, source string, d directives, flags ...string) {
	run(t, lib, compileProgram(t, lib, source, flags...), d.env)
}
