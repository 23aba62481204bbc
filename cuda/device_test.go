//go:build cuda

package cuda

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	_ "github.com/reprise-gpu/reprise/cuda/simabi" // the driver, with REPRISE_LIBCUDA=sim
)

// TestMain runs the tests on the driver that there is. Where there is none it runs
// them again on the simulated one: gorgonia.org/cu asks for the driver before any
// line here is reached.
func TestMain(m *testing.M) {
	_, err := Count()
	if err == nil || os.Getenv("REPRISE_LIBCUDA") != "" {
		os.Exit(m.Run())
	}
	fmt.Println("no GPU, so on the simulated driver:", err)
	err = syscall.Exec("/proc/self/exe", os.Args, append(os.Environ(), "REPRISE_LIBCUDA=sim"))
	fmt.Fprintln(os.Stderr, "run the tests on the simulated driver:", err)
	os.Exit(1)
}

func open(t *testing.T) *Device {
	t.Helper()
	d, err := Open(0, Options{})
	require.NoError(t, err)
	return d
}
