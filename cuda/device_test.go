//go:build cuda && cgo

package cuda

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

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

// again runs a test in a new process with a variable of the environment.
func again(t *testing.T, name, variable string) string {
	t.Helper()
	c := exec.Command(os.Args[0], "-test.v", "-test.run", "^"+name+"$")
	c.Env = append(os.Environ(), variable)
	out, err := c.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// TestPeerCopiesTakeTheTimeOfTheLink copies between GPUs of a simulated machine, through the driver.
func TestPeerCopiesTakeTheTimeOfTheLink(t *testing.T) {
	if !simulated() {
		t.Skip("the time is that of the simulator")
	}
	if n, _ := count(); n != 4 {
		again(t, t.Name(), "REPRISE_SIM_MACHINE=h200-4")
		return
	}
	const bytes = 64 << 20
	a := open(t)
	b, err := openGPU(3)
	require.NoError(t, err)
	require.NoError(t, a.EnablePeer(b))
	p, err := a.Alloc(bytes)
	require.NoError(t, err)
	q, err := b.Alloc(bytes)
	require.NoError(t, err)
	s, err := a.CreateStream(0)
	require.NoError(t, err)
	var e [2]device.Event
	for i := range e {
		e[i], err = a.CreateEvent()
		require.NoError(t, err)
	}
	require.NoError(t, a.Submit(s, &device.Memset{Dst: p, Width: 4, Count: bytes / 4})) // longer than the calls that follow
	require.NoError(t, a.Record(e[0], s))
	require.NoError(t, a.Submit(s, &device.Copy{Dst: q, Src: p, Bytes: bytes}))
	require.NoError(t, a.Record(e[1], s))
	require.NoError(t, a.Synchronize(s))
	took, err := a.Elapsed(e[0], e[1])
	require.NoError(t, err)
	require.InDelta(t, 2000+bytes/376.0, took, 3000, "376 GB/s after 2 us, and a gap of the stream")
	require.NoError(t, a.Close())
	require.NoError(t, b.Close())
}

// TestPeersCallEachOther waits on two goroutines for events of the device of the other: no call locks both devices.
func TestPeersCallEachOther(t *testing.T) {
	if n, err := count(); err != nil || n < 2 {
		if simulated() {
			again(t, t.Name(), "REPRISE_SIM=h200,h200")
		}
		return
	}
	a := open(t)
	b, err := openGPU(1)
	require.NoError(t, err)
	ended := make(chan error, 2)
	use := func(d, other *gpuDevice) {
		ended <- func() error {
			s, err := d.CreateStream(0)
			if err != nil {
				return err
			}
			for range 300 {
				e, err := other.CreateEvent()
				if err != nil {
					return err
				}
				l, err := d.CompileCommands([]device.Command{{Kind: device.AwaitPeer, Stream: s, Event: e, Peer: other}})
				errs := []error{err, d.WaitPeer(s, other, e), d.SubmitCommands(l, 0, 1), d.EnablePeer(other), d.DestroyCommandList(l), other.DestroyEvent(e), d.Synchronize(s)}
				if err := errors.Join(errs...); err != nil {
					return err
				}
			}
			return nil
		}()
	}
	go use(a, b)
	go use(b, a)
	for range 2 {
		select {
		case err := <-ended:
			require.NoError(t, err)
		case <-time.After(time.Minute):
			t.Fatal("the devices wait for each other")
		}
	}
	require.NoError(t, a.Close())
	require.NoError(t, b.Close())
}

// TestConformanceOfPeers runs on two GPUs of the driver. Those of the simulated driver are in $REPRISE_SIM, which the
// driver reads once: the test starts this binary again with two.
func TestConformanceOfPeers(t *testing.T) {
	if n, err := count(); err != nil || n < 2 {
		if !simulated() {
			t.Skip("the driver has one GPU")
		}
		for _, gpus := range []string{"REPRISE_SIM=h200,a100", "REPRISE_SIM_MACHINE=h200-4"} {
			out := again(t, "TestConformanceOfPeers", gpus)
			require.Contains(t, out, "--- PASS: TestConformanceOfPeers/peers/lists_submitted_in_parts")
		}
		return
	}
	list := map[string]string{}
	if !simulated() {
		list["peers/a fault stays on its device"] = "after a fault, a GPU's driver may fail the calls of all devices"
	}
	devicetest.RunPeers(t, func() (device.Device, device.Device) {
		b, err := openGPU(1)
		require.NoError(t, err)
		return open(t), b
	}, list)
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
