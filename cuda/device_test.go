//go:build cuda && cgo

package cuda

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/reprise-gpu/reprise/cuda/simabi" // the driver, with REPRISE_LIBCUDA=sim
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/devicetest"
	"github.com/reprise-gpu/reprise/internal/instrtest"
)

// TestMain runs the tests on the driver of this machine. Without a driver it starts this binary again
// with the simulated one: gorgonia.org/cu calls the driver in its init function, before TestMain could select
// another.
func TestMain(m *testing.M) {
	_, err := count()
	if err == nil || os.Getenv("REPRISE_LIBCUDA") != "" {
		os.Exit(m.Run())
	}
	fmt.Println("no GPU, so on the simulated driver:", err)
	err = syscall.Exec("/proc/self/exe", os.Args, append(os.Environ(), "REPRISE_LIBCUDA=sim"))
	fmt.Fprintln(os.Stderr, "run the tests on the simulated driver:", err)
	os.Exit(1)
}

func open(t *testing.T) *gpuDevice {
	t.Helper()
	d, err := openGPU(0)
	require.NoError(t, err)
	return d
}

// unsupported lists behaviours that drivers do not have, or that this package does not implement, with the reason.
func unsupported() map[string]string {
	list := map[string]string{
		"faults/kernels cannot reach pinned memory": "with unified addressing a driver maps all pinned memory for kernels",
	}
	if !simulated() {
		list["faults/are described"] = "a GPU's driver names no kernel, thread or line"
	}
	for _, name := range devicetest.Names() {
		why := ""
		switch {
		case strings.HasPrefix(name, "faults/") && os.Getenv(alone) != name:
			why = "TestFaults runs it in a process of its own"
		case simulated():
		case strings.HasPrefix(name, "conditional/") && has(withConditionals, "") != nil:
			why = "the driver is older than conditional nodes"
		case (name == "conditional/if with an else" || name == "conditional/switch") && has(withSwitches, "") != nil:
			why = "the driver is older than switches and elses"
		}
		if _, ok := list[name]; why != "" && !ok {
			list[name] = why
		}
	}
	return list
}

// alone is the environment variable that selects the one behaviour that a process runs.
const alone = "CUDA_TEST_ALONE"

// TestFaults runs the behaviours that poison the device, each in a process of its own: after
// such a fault, a GPU's driver fails all calls until the process ends.
func TestFaults(t *testing.T) {
	left := unsupported()
	for _, name := range devicetest.Names() {
		if !strings.HasPrefix(name, "faults/") {
			continue
		}
		t.Run(strings.TrimPrefix(name, "faults/"), func(t *testing.T) {
			if why := left[name]; !strings.HasPrefix(why, "TestFaults") {
				t.Skip("unsupported: " + why)
			}
			pattern := "^TestConformance$/^faults$/^" + strings.ReplaceAll(strings.TrimPrefix(name, "faults/"), " ", "_") + "$"
			c := exec.Command(os.Args[0], "-test.v", "-test.run", pattern)
			c.Env = append(os.Environ(), alone+"="+name)
			out, err := c.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Contains(t, string(out), "--- PASS: TestConformance/faults/", "%s", out)
		})
	}
}

func TestConformance(t *testing.T) {
	devicetest.Run(t, func() device.Device { return open(t) }, unsupported())
}

// target matches the target of a PTX file if it has three digits, such as sm_100.
var target = regexp.MustCompile(`(?m)^\.target sm_(\d{3})`)

// TestInstructions runs the suite that has one file per instruction.
func TestInstructions(t *testing.T) {
	suite := os.DirFS("../internal/sim/testdata/instr")
	list := map[string]string{}
	files, err := fs.Glob(suite, "*.ptx")
	require.NoError(t, err)
	for _, file := range files {
		text, err := fs.ReadFile(suite, file)
		require.NoError(t, err)
		if t := target.FindSubmatch(text); t != nil && string(t[1]) >= "100" {
			list[strings.TrimSuffix(file, ".ptx")] = "it is for a newer GPU"
		}
		if strings.Contains(string(text), "\n//! texture") || strings.Contains(string(text), "\n//! surface") {
			list[strings.TrimSuffix(file, ".ptx")] = "package cuda has no textures yet"
		}
	}
	instrtest.Run(t, func() device.Device { return open(t) }, suite, instrtest.Options{Unsupported: list})
}
