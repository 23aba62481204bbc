//go:build cuda && cgo

package gorgonia

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var only = flag.String("only", "", "run those of gorgonia's tests that match this, and compare these")

// link is a file that is added to the tests. It links the simulator for REPRISE_LIBCUDA=sim, and defines keepThread.
const link = `package cu

import (
	"runtime"

	_ "github.com/reprise-gpu/reprise/cuda/simabi"
)

func keepThread() { runtime.LockOSThread() }
`

// testFunc matches the start of a test, after which keepThread is inserted. A context is current in one OS thread,
// and most of gorgonia's tests do not lock theirs: in 9 of 100 runs a test continued in a thread in which an earlier
// test had left its context. With keepThread none of 100 runs failed.
var testFunc = regexp.MustCompile(`(?m)^func Test\w+\(t \*testing\.T\) \{$`)

// polling matches the default case of a select in TestLargeBatch. The test polls for work in a loop that never waits,
// which takes most of the processor's time. Without the default case the select waits, and the test takes a fifth of
// the time.
var polling = regexp.MustCompile(`\n\t\tdefault:\n\t\t\}`)

// TestGorgonia compares the result of each test with testdata/expected.txt.
func TestGorgonia(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles gorgonia.org/cu anew")
	}
	expected := readExpected(t)
	results, output := runTests(t, copyModule(t))
	for name, want := range expected {
		if *only == "" || results[name] != "" {
			require.Equal(t, want, results[name], "%s: what it printed:\n%s", name, output[name])
		}
	}
	for name := range results {
		require.Contains(t, expected, name, "a test that testdata/expected.txt does not list")
	}
}

// readExpected reads lines of the forms "pass TestName", "fail TestName: reason" and "skip TestName: reason".
func readExpected(t *testing.T) map[string]string {
	text, err := os.ReadFile("testdata/expected.txt")
	require.NoError(t, err)
	expected := map[string]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		result, rest, _ := strings.Cut(line, " ")
		name, reason, _ := strings.Cut(rest, ": ")
		require.Contains(t, []string{"pass", "fail", "skip"}, result, "expected.txt: %s", line)
		require.Equal(t, result == "pass", reason == "", "expected.txt: what does not pass has a reason: %s", line)
		require.NotContains(t, expected, name)
		expected[name] = result
	}
	return expected
}

// copyModule copies the root package of the module, because the folder in the module cache is read-only and cannot be
// overlaid. It adds the simulator to the tests, and returns a go.mod that replaces the module by the copy.
func copyModule(t *testing.T) (gomod string) {
	dir := t.TempDir()
	source := strings.TrimSpace(goCommand(t, "list", "-m", "-f", "{{.Dir}}", "gorgonia.org/cu"))
	module := filepath.Join(dir, "cu")
	copyFiles(t, source, module)
	copyFiles(t, filepath.Join(source, "testdata"), filepath.Join(module, "testdata"))
	require.NoError(t, os.WriteFile(filepath.Join(module, "simulator_test.go"), []byte(link), 0o644))

	ours := filepath.Dir(strings.TrimSpace(goCommand(t, "env", "GOMOD")))
	text, err := os.ReadFile(filepath.Join(ours, "go.mod"))
	require.NoError(t, err)
	gomod = filepath.Join(dir, "go.mod")
	require.NoError(t, os.WriteFile(gomod, fmt.Appendf(text, "\nreplace gorgonia.org/cu => %s\n", module), 0o644))
	sums, err := os.ReadFile(filepath.Join(ours, "go.sum"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o644))
	return gomod
}

// copyFiles copies the files of a folder, without the folders in it.
func copyFiles(t *testing.T, from, to string) {
	require.NoError(t, os.MkdirAll(to, 0o755))
	entries, err := os.ReadDir(from)
	require.NoError(t, err)
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		text, err := os.ReadFile(filepath.Join(from, e.Name()))
		require.NoError(t, err)
		if strings.HasSuffix(e.Name(), "_test.go") {
			text = testFunc.ReplaceAll(text, []byte("$0 keepThread()"))
			text = polling.ReplaceAll(text, []byte("\n\t\t}"))
		}
		require.NoError(t, os.WriteFile(filepath.Join(to, e.Name()), text, 0o644))
	}
}

// runTests returns the result and the output of each test.
func runTests(t *testing.T, gomod string) (results, output map[string]string) {
	args := []string{"test", "-modfile=" + gomod, "-tags=cuda", "-json", "-timeout=30m", "-run=" + *only, "gorgonia.org/cu"}
	c := exec.Command("go", args...)
	c.Env = append(os.Environ(), "REPRISE_LIBCUDA=sim", "REPRISE_SIM=h200")
	var stderr bytes.Buffer
	c.Stderr = &stderr
	stdout, err := c.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, c.Start())
	results, output = map[string]string{}, map[string]string{}
	events := json.NewDecoder(bufio.NewReader(stdout))
	for {
		var event struct{ Action, Test, Output string }
		err := events.Decode(&event)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		output[event.Test] += event.Output
		switch event.Action {
		case "pass", "fail", "skip":
			if event.Test != "" {
				results[event.Test] = event.Action
			}
		}
	}
	err = c.Wait() // an error if a test fails, which may be expected
	require.NotEmpty(t, results, "no test ran: %v\n%s%s", err, stderr.String(), output[""])
	return results, output
}

func goCommand(t *testing.T, args ...string) string {
	out, err := exec.Command("go", args...).CombinedOutput()
	require.NoError(t, err, "go %s: %s", args, out)
	return string(out)
}
