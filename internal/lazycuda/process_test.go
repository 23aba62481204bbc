//go:build cuda && cgo

package lazycuda_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
	"gorgonia.org/cu"

	_ "github.com/reprise-gpu/reprise/cuda/simabi" // REPRISE_LIBCUDA=sim
	"github.com/reprise-gpu/reprise/internal/lazycuda"
)

// TestMain runs this binary again for each case. The provider is chosen once in a process, and gorgonia.org/cu calls
// cuInit before any test starts.
func TestMain(m *testing.M) {
	if os.Getenv("LAZYCUDA_TEST_REPORT") == "" {
		os.Exit(m.Run())
	}
	devices, err := cu.NumDevices()
	fmt.Printf("provider %q problem %q\n", lazycuda.Provider(), lazycuda.Problem())
	fmt.Printf("init %d version %d devices %d %v\n", lazycuda.InitResult(), cu.Version(), devices, err)
	_, err = cu.GetDevice(0)
	fmt.Printf("first device %v\n", err)
}

func report(t *testing.T, libcuda string) string {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "LAZYCUDA_TEST_REPORT=1", "REPRISE_LIBCUDA="+libcuda)
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

func TestNoDriver(t *testing.T) {
	require.Equal(t, `provider "" problem "/nowhere/libcuda.so: cannot open shared object file: No such file or directory"
init 100 version 0 devices 0 <nil>
first device NoDevice
`, report(t, "/nowhere/libcuda.so"))
}

func TestSimulator(t *testing.T) {
	t.Setenv("REPRISE_SIM", "h200,a100")
	require.Equal(t, `provider "sim" problem ""
init 0 version 12040 devices 2 <nil>
first device <nil>
`, report(t, "sim"))
}
