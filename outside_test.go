package reprise_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProgramOfAnotherModule runs the example as the program of a module that is not in this tree, with nothing from the
// network.
func TestProgramOfAnotherModule(t *testing.T) {
	source, err := os.ReadFile("example_test.go")
	require.NoError(t, err)
	program := strings.NewReplacer("package reprise_test", "package main", "func Example()", "func main()").Replace(string(source))
	require.Equal(t, "x is 1.000 again\n", runOutside(t, program))
}

// TestProgramWithoutCgo runs a program that opens a GPU and contains the simulated driver, as on a machine without a
// C compiler. It must build with and without the tag, and return an error that states what is missing.
func TestProgramWithoutCgo(t *testing.T) {
	const program = `package main

import (
	"errors"
	"fmt"

	"github.com/reprise-gpu/reprise"
	_ "github.com/reprise-gpu/reprise/cuda/simabi"
	"github.com/reprise-gpu/reprise/device"
)

func main() {
	_, err := reprise.Open("gpu0")
	fmt.Println(errors.Is(err, device.ErrUnavailable), err)
}
`
	for _, tags := range []string{"", "cuda"} {
		out := runOutside(t, program, "-tags", tags)
		require.Contains(t, out, "true gpu0: ", tags)
		require.Contains(t, out, "need a C compiler", tags)
	}
}

// runOutside returns the output of a program of another module, built without cgo and without a network.
func runOutside(t *testing.T, program string, flags ...string) string {
	root, err := os.Getwd()
	require.NoError(t, err)
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	write("main.go", program)
	write("go.mod", "module first\n\ngo 1.26\n\nrequire github.com/reprise-gpu/reprise v0.0.0\n\nreplace github.com/reprise-gpu/reprise => "+root+"\n")
	sums, err := os.ReadFile("go.sum")
	require.NoError(t, err)
	write("go.sum", string(sums))
	run := exec.Command("go", append(append([]string{"run", "-mod=mod"}, flags...), ".")...)
	run.Dir = dir
	run.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=", "CGO_ENABLED=0")
	out, err := run.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}
