package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/sharing"
)

// TestShareServe starts a server in a process of its own, measures it, and ends it with a signal.
func TestShareServe(t *testing.T) {
	const child = "REPRISE_TEST_SHARE"
	if path := os.Getenv(child); path != "" {
		endAtSignals(os.Stderr)
		os.Exit(run([]string{"share", "serve", "--socket", path, "--config", path + ".classes"}, os.Stdin, os.Stdout, os.Stderr))
	}
	path := filepath.Join(t.TempDir(), "s")
	require.NoError(t, os.WriteFile(path+".classes", []byte("7 name=ping\n"), 0o644))
	for _, by := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestShareServe$")
		cmd.Env = append(os.Environ(), child+"="+path)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(out)
		require.True(t, lines.Scan())
		assert.Equal(t, "policy fill at "+path+" for at most 64 programs, lease 100ms", lines.Text())
		require.True(t, lines.Scan())
		assert.Contains(t, lines.Text(), "waits at most 220µs")

		stdout, stderr, status := reprise("share", "ping", "--socket", path, "-n", "100")
		assert.Zero(t, status, stderr)
		assert.Regexp(t, `^100 grants of policy fill to class 7: p50 [0-9.]+ us, p90 [0-9.]+ us, p99 [0-9.]+ us, greatest [0-9.]+ us\n$`, stdout)
		_, stderr, status = reprise("share", "serve", "--socket", path)
		assert.Equal(t, exitInput, status)
		assert.Equal(t, "reprise: a server listens at "+path+": stop it, or use another socket\n", stderr)

		require.NoError(t, cmd.Process.Signal(by))
		assert.NoError(t, cmd.Wait(), errs.String())
		assert.Contains(t, errs.String(), "registered with class 7 of 9")
		assert.NoFileExists(t, path)
	}
}

// TestParsePolicy parses each name that the help lists.
func TestParsePolicy(t *testing.T) {
	for _, name := range sharing.Names() {
		assert.Contains(t, policyHelp, "  "+name+" ")
		name = strings.NewReplacer(":DEPTH", ":4", ":TIME", ":1ms", ":TARGET", ":2%").Replace(name)
		p, err := parsePolicy(name)
		require.NoError(t, err)
		assert.Equal(t, name, p.Name())
	}
}
