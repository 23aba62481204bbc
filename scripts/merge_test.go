package scripts

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The table of merge.sh has a row for each program, and a program that is slower with merge fails the script.
func TestMergeTable(t *testing.T) {
	for _, c := range []struct {
		name, merged, stdout, stderr string
		status                       int
	}{
		{"quicker", "4.002 8", "| resnet18, 32 pixels | 8.00 | 4.00 | 2.00x | 8.00 | 8.00 | 1.00x |\n", "", 0},
		{"equal but for the clock", "8.001 8", "| resnet18, 32 pixels | 8.00 | 8.00 | 1.00x | 8.00 | 8.00 | 1.00x |\n", "", 0},
		{"slower graph", "8.002 8", "| resnet18, 32 pixels | 8.00 | 8.00 | 1.00x |", "merge.sh: resnet18, 32 pixels is slower with merge\n", 1},
		{"slower streams", "8 9", "| resnet18, 32 pixels | 8.00 | 8.00 | 1.00x | 8.00 | 9.00 | 0.89x |\n", "merge.sh: resnet18, 32 pixels is slower with merge\n", 1},
		{"failed", "", "", "merge.sh: resnet18, 32 pixels was not measured: no device\n", 1},
	} {
		stdout, stderr, status := mergeTable(t, c.merged, "networks")
		assert.Equal(t, c.status, status, c.name)
		assert.Contains(t, stdout, c.stdout, c.name)
		assert.Contains(t, stderr, c.stderr, c.name)
	}
	_, stderr, status := mergeTable(t, "8 8", "nonsense")
	assert.Equal(t, 2, status)
	assert.Contains(t, stderr, "merge.sh: nonsense is not workloads, networks or solvers")
}

// mergeTable runs merge.sh with a program that measures 8 us, and with merge the times given.
func mergeTable(t *testing.T, merged string, args ...string) (stdout, stderr string, status int) {
	program := filepath.Join(t.TempDir(), "reprise")
	require.NoError(t, os.WriteFile(program, []byte(`#!/bin/sh
times='8 8'
case "$*" in *"--also merge"*) times='`+merged+`' ;; esac
test -n "$times" || echo 'no device' >&2
for t in $times; do echo "\"replay_us\": $t,"; done
`), 0o755))
	cmd := exec.Command("./merge.sh", args...)
	var out, errs bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), "REPRISE="+program), &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}
