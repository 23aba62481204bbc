//go:build cuda && cgo

package lazycuda_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// compileC runs gcc and returns the path of its output.
func compileC(t testing.TB, name string, args ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), name)
	c := exec.Command("gcc", append([]string{"-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-I../../cuda/include", "-I.", "-o", out}, args...)...)
	text, err := c.CombinedOutput()
	require.NoError(t, err, "%s", text)
	return out
}

func compileCaller(t testing.TB) string {
	return compileC(t, "caller", "testdata/caller.c", "../../build/lib/libcuda.a", "-ldl", "-lpthread")
}

func compileDriver(t testing.TB) string {
	return compileC(t, "libdriver.so", "-shared", "-fPIC", "testdata/driver.c")
}

func call(t testing.TB, caller, way string, env ...string) string {
	t.Helper()
	c := exec.Command(caller, way)
	c.Env = append(os.Environ(), env...)
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s: %s", way, out)
	return string(out)
}

// TestCalls runs C programs on a driver that is a library of a few functions.
func TestCalls(t *testing.T) {
	caller, libcuda := compileCaller(t), "REPRISE_LIBCUDA="+compileDriver(t)
	call(t, caller, "arguments", libcuda)
	call(t, caller, "results", libcuda)
	call(t, caller, "old", libcuda)
	call(t, caller, "failing", libcuda, "DRIVER_INIT=999")
	for range 20 {
		call(t, caller, "threads", libcuda)
	}
}

// TestNoProvider checks the reason, one sentence, for each case in which there is no driver.
func TestNoProvider(t *testing.T) {
	caller := compileCaller(t)
	text := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(text, []byte("no library"), 0o644))
	other := compileC(t, "libother.so", "-shared", "-fPIC", "-x", "c", "/dev/null")
	for libcuda, reason := range map[string]string{
		"/nowhere/libcuda.so": "/nowhere/libcuda.so: cannot open shared object file: No such file or directory",
		text:                  text + ": file too short",
		filepath.Dir(text):    filepath.Dir(text) + ": cannot read file data: Is a directory",
		other:                 other + " is not a CUDA driver: it has no function cuInit",
		"sim": "REPRISE_LIBCUDA=sim, but this program contains no simulator: " +
			"import github.com/reprise-gpu/reprise/cuda/simabi, or set it to the path of libcudasim.so",
	} {
		require.Equal(t, reason+"\n", call(t, caller, "absent", "REPRISE_LIBCUDA="+libcuda))
	}
}

// TestArm64 runs the same programs on arm64, the other processor that trampoline.S supports.
func TestArm64(t *testing.T) {
	const gcc, qemu = "aarch64-linux-gnu-gcc", "qemu-aarch64"
	for _, tool := range []string{gcc, qemu} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("needs %s and %s (Debian: gcc-aarch64-linux-gnu, libc6-dev-arm64-cross, qemu-user)", gcc, qemu)
		}
	}
	dir := t.TempDir()
	build := func(args ...string) {
		out, err := exec.Command(gcc, append([]string{"-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-I../../cuda/include", "-I."}, args...)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	caller, driver := filepath.Join(dir, "caller"), filepath.Join(dir, "libdriver.so")
	build("-o", caller, "testdata/caller.c", "trampoline.S", "resolve.c", "provider.c", "absent.c", "-ldl", "-lpthread")
	build("-o", driver, "-shared", "-fPIC", "testdata/driver.c")
	for _, way := range []string{"arguments", "results", "threads"} {
		c := exec.Command(qemu, "-L", "/usr/aarch64-linux-gnu", caller, way)
		c.Env = append(os.Environ(), "REPRISE_LIBCUDA="+driver)
		out, err := c.CombinedOutput()
		require.NoError(t, err, "%s: %s", way, out)
	}
}

// BenchmarkTrampoline measures a call through a trampoline and a direct call.
func BenchmarkTrampoline(b *testing.B) {
	caller, libcuda := compileCaller(b), "REPRISE_LIBCUDA="+compileDriver(b)
	var through, direct float64
	for b.Loop() {
		_, err := fmt.Sscan(strings.TrimSpace(call(b, caller, "overhead", libcuda)), &through, &direct)
		require.NoError(b, err)
	}
	b.ReportMetric(through, "ns/trampoline")
	b.ReportMetric(direct, "ns/pointer")
}
