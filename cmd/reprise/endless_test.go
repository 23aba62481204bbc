package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestEndlessInputIsRefused passes an endless file to every command that reads one.
func TestEndlessInputIsRefused(t *testing.T) {
	const zeros = "/dev/zero"
	if _, err := os.Stat(zeros); err != nil {
		t.Skip("there is no " + zeros)
	}
	dir := t.TempDir()
	graph, costs, profile := dir+"/g.rir", dir+"/zeros.json", dir+"/profile.json"
	require.NoError(t, os.WriteFile(graph, []byte("graph g {\n  %0 = empty\n}\n"), 0o644))
	for _, link := range []string{costs, profile} {
		require.NoError(t, os.Symlink(zeros, link))
	}
	for _, args := range [][]string{
		{"opt", zeros},
		{"opt", graph, "--cost", costs},
		{"opt", graph, "--device", "sim:" + profile},
		{"strategies", zeros},
		{"import", zeros, "--format", "dot"},
		{"import", zeros, "--format", "wfcommons"},
		{"solve", "--matrix", zeros},
		{"kernel", "inspect", zeros},
		{"kernel", "run", zeros},
		{"kernel", "run", "../../internal/kernels/square.ptx", "--arg", "buf:u8@" + zeros, "--arg", "zero:f32*1", "--arg", "i32=1"},
		{"profile", profile},
	} {
		_, stderr, status := reprise(args...)
		assert.Contains(t, []int{exitInput, exitUsage}, status, "%v: %s", args, stderr)
		assert.NotEmpty(t, stderr, "%v", args)

	}
}
