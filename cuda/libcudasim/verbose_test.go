//go:build cuda && cgo

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVerboseExplainsEveryStatus calls every function with zeros as arguments, before cuInit and
// in a context. Every error that is returned must be explained with the same status.
func TestVerboseExplainsEveryStatus(t *testing.T) {
	lib, dir := buildLibrary(t), t.TempDir()
	text, err := os.ReadFile("../../internal/lazycuda/testdata/driver-12.4.txt")
	require.NoError(t, err)
	names := strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' })
	list := filepath.Join(dir, "names")
	require.NoError(t, os.WriteFile(list, []byte(strings.Join(names, "\n")+"\n"), 0o644))
	out := run(t, lib, compileProgram(t, lib, "testdata/verbose/zeros.c"), []string{"REPRISE_SIM_VERBOSE=1"}, list)
	require.Greater(t, explainedStatuses(t, out), 1000)
}

// TestVerboseExplainsStatusesOutsideGo checks the explanations of statuses that C code and cuInit return.
func TestVerboseExplainsStatusesOutsideGo(t *testing.T) {
	lib := buildLibrary(t)
	out := run(t, lib, compileProgram(t, lib, "testdata/verbose/outside.c"), []string{"REPRISE_SIM_VERBOSE=1"})
	require.Equal(t, 5, explainedStatuses(t, out))
}

// TestVerboseNamesTheOuterCall checks that the explanation of a failed call names that call, if a callback of the
// program has called the driver meanwhile.
func TestVerboseNamesTheOuterCall(t *testing.T) {
	lib := buildLibrary(t)
	out := run(t, lib, compileProgram(t, lib, "testdata/verbose/nested.c"), []string{"REPRISE_SIM_VERBOSE=1"})
	require.Equal(t, 1, explainedStatuses(t, out))
}

// explainedStatuses compares the explanations with the returned statuses, and returns the number of statuses
// other than success.
func explainedStatuses(t *testing.T, out string) (count int) {
	t.Helper()
	returned := regexp.MustCompile(`^returned (\w+) (\d+)$`)
	explained := regexp.MustCompile(`^libcudasim: (\w+): CUDA_ERROR_\w+ \((\d+)\): .{20,}`)
	last := [2]string{}
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		if m := explained.FindStringSubmatch(line); m != nil {
			last = [2]string{m[1], m[2]}
		} else if m := returned.FindStringSubmatch(line); m != nil {
			if m[2] != "0" {
				count++
				require.Equal(t, m[2], last[1], "%s returned it without an explanation; the last was of %s", m[1], last[0])
				if last[0] != m[1] {
					t.Errorf("the explanation of %s names %s", m[1], last[0])
				}
			}
			last = [2]string{}
		}
	}
	return count
}
