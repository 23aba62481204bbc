package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// endless is a kernel with a loop that takes minutes on the host.
const endless = `.version 6.5
.target sm_52
.address_size 64
.visible .entry endless(.param .u32 n)
{
	.reg .b32 %r<2>;
	.reg .pred %p0;
	ld.param.u32 %r0, [n];
L:
	sub.u32 %r0, %r0, 1;
	setp.ne.u32 %p0, %r0, 0;
	@%p0 bra L;
	ret;
}
`

// wide returns a graph that takes seconds to plan.
func wide(ops int) string {
	var b strings.Builder
	b.WriteString("graph g {\n")
	for i := range ops {
		fmt.Fprintf(&b, "  %%%d = empty", i)
		if i > 40 {
			fmt.Fprintf(&b, " after(%%%d, %%%d)", i-1-i*7%40, i-2-i*13%37)
		}
		fmt.Fprintf(&b, " cost(%dns)\n", 100+i*i%977)
	}
	b.WriteString("}\n")
	return b.String()
}

// TestSignalsEndEveryCommand runs this binary as the program, and signals it in the middle of a long operation.
func TestSignalsEndEveryCommand(t *testing.T) {
	const child = "REPRISE_TEST_COMMAND"
	if args := os.Getenv(child); args != "" {
		var list []string
		require.NoError(t, json.Unmarshal([]byte(args), &list))
		endAtSignals(os.Stderr)
		ready := os.NewFile(3, "ready")
		_, err := ready.Write([]byte{1})
		require.NoError(t, err)
		os.Exit(run(list, os.Stdin, os.Stdout, os.Stderr))
	}
	dir := t.TempDir()
	kernel, graph, results := filepath.Join(dir, "endless.ptx"), filepath.Join(dir, "wide.rir"), filepath.Join(dir, "results.json")
	require.NoError(t, os.WriteFile(kernel, []byte(endless), 0o644))
	require.NoError(t, os.WriteFile(graph, []byte(wide(60000)), 0o644))
	require.NoError(t, os.WriteFile(results, []byte("{}"), 0o644))
	for _, c := range []struct {
		what string
		args []string
		by   syscall.Signal
	}{
		{"a long kernel", []string{"kernel", "run", kernel, "--arg", "u32=2000000000"}, syscall.SIGINT},
		{"standard input", []string{"opt", "-"}, syscall.SIGTERM},
		{"standard input of an import", []string{"import", "-", "--format", "dot"}, syscall.SIGINT},
		{"a plan", []string{"strategies", graph}, syscall.SIGTERM},
		{"replays", []string{"bench", "ml", "--size", "4000", "--iterations", "100000", "--json", results}, syscall.SIGINT},
		{"a solver", []string{"solve", "--matrix", "poisson2d:300", "--mode", "loop", "--tolerance", "1e-300", "--max-iterations", "1000000"}, syscall.SIGTERM},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			args, err := json.Marshal(c.args)
			require.NoError(t, err)
			cmd := exec.Command(os.Args[0], "-test.run", "^TestSignalsEndEveryCommand$")
			cmd.Env = append(os.Environ(), child+"="+string(args))
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			stdin, err := cmd.StdinPipe()
			require.NoError(t, err)
			defer stdin.Close()
			ready, begun, err := os.Pipe()
			require.NoError(t, err)
			cmd.ExtraFiles = []*os.File{begun}
			require.NoError(t, cmd.Start())
			_, err = ready.Read(make([]byte, 1))
			require.NoError(t, err)
			time.Sleep(300 * time.Millisecond)
			require.NoError(t, cmd.Process.Signal(c.by))
			start := time.Now()
			err = cmd.Wait()
			took := time.Since(start)
			require.Error(t, err, "it ended by itself: %s", out.String())
			assert.Equal(t, 128+int(c.by), cmd.ProcessState.ExitCode(), "%s", errs.String())
			assert.Contains(t, errs.String(), "reprise: interrupted")
			assert.NotContains(t, errs.String(), "goroutine")
			assert.Less(t, took, 5*endWithin)
		})
	}
	t.Cleanup(func() {
		data, err := os.ReadFile(results)
		require.NoError(t, err)
		assert.Equal(t, "{}", string(data), "results of an earlier run")
		left, err := filepath.Glob(filepath.Join(dir, "*.json.[0-9]*"))
		require.NoError(t, err)
		assert.Empty(t, left)
	})
}

// TestNoTemporaryFileIsLeft ends a process that is writing a file.
func TestNoTemporaryFileIsLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "half")
	require.NoError(t, os.WriteFile(path, nil, 0o644))
	files := temporaries{paths: map[string]bool{}}
	files.add(path)
	files.drop()
	assert.NoFileExists(t, path)
}
