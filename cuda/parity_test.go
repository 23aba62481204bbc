//go:build cuda && cgo

package cuda

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// run holds the results of a workload and the durations of its replays.
type run struct {
	replays []time.Duration
	whole   time.Duration // from the first Reset to the end of the last replay
	buffers [][]byte
}

// TestSameAsTheSimulator runs the benchmarks on the simulated device and on the same
// device behind the driver's interface. They must leave the same bytes and take the
// same virtual time, because each call is passed on exactly once.
//
// Each case is a process of its own. Contexts that exist at the same time have different
// addresses, and the estimate of the bytes that a launch accesses depends on a hash of the addresses. A
// second context in the same process would therefore differ by nanoseconds.
func TestSameAsTheSimulator(t *testing.T) {
	if !simulated() {
		t.Skip("a GPU answers, and it keeps its own time")
	}
	const variable = "REPRISE_TEST_CASE"
	for _, w := range bench.Workloads() {
		for _, backend := range graphexec.Backends() {
			for _, strategy := range []string{"serial", "nimble"} {
				name := fmt.Sprintf("%s/%v/%s", w.Name, backend, strategy)
				switch os.Getenv(variable) {
				case name:
					compare(t, w, strategy, backend)
				case "":
					t.Run(name, func(t *testing.T) {
						t.Parallel()
						c := exec.Command("/proc/self/exe", "-test.run=^TestSameAsTheSimulator$")
						c.Env = append(os.Environ(), variable+"="+name)
						out, err := c.CombinedOutput()
						require.NoError(t, err, "%s", out)
					})
				}
			}
		}
	}
}

// TestAddressesOfADeviceAlone expects the addresses of the simulator, also after another device
// was closed, because times depend on addresses.
func TestAddressesOfADeviceAlone(t *testing.T) {
	if !simulated() {
		t.Skip("a GPU answers, and its driver chooses addresses of its own")
	}
	plain, err := sim.New(sim.Options{})
	require.NoError(t, err)
	want := allocTwo(t, plain)
	for range 3 {
		assert.Equal(t, want, allocTwo(t, open(t)))
	}
}

func allocTwo(t *testing.T, d device.Device) (p [2]device.Ptr) {
	for i := range p {
		var err error
		p[i], err = d.Alloc(1 << 20)
		require.NoError(t, err)
	}
	require.NoError(t, d.Close())
	return p
}

func compare(t *testing.T, w *bench.Workload, strategy string, backend graphexec.Backend) {
	size := w.Tiny
	plain, err := sim.New(sim.Options{})
	require.NoError(t, err)
	want := measure(t, plain, w, size, strategy, backend)
	got := measure(t, open(t), w, size, strategy, backend)
	assert.Equal(t, want.replays, got.replays)
	assert.Equal(t, want.whole, got.whole)
	assert.True(t, assert.ObjectsAreEqual(want.buffers, got.buffers), "the bytes of all buffers")
}

func measure(t *testing.T, d device.Device, w *bench.Workload, size int, strategy string, backend graphexec.Backend) (r run) {
	defer func() { require.NoError(t, d.Close()) }()
	in, err := w.New(d, bench.Params{Size: size})
	require.NoError(t, err)
	defer func() { require.NoError(t, in.Close()) }()
	plan, err := optimizer.Plan(in.Trace.Graph, optimizer.Options{Strategy: strategy})
	require.NoError(t, err)
	x, err := graphexec.Instantiate(d, plan.Schedule, in.Trace, backend)
	require.NoError(t, err)
	defer func() { require.NoError(t, x.Close()) }()
	begin := d.Now()
	for range 3 {
		require.NoError(t, in.Reset())
		start := d.Now()
		require.NoError(t, x.Replay(t.Context()))
		require.NoError(t, x.Wait(context.Background()))
		r.replays = append(r.replays, d.Now()-start)
	}
	r.whole = d.Now() - begin
	for i := range in.Trace.Graph.Buffers {
		b := &in.Trace.Graph.Buffers[i]
		bytes := make([]byte, b.Size())
		require.NoError(t, d.Read(bytes, in.Trace.Pointer(ir.BufferID(i))))
		r.buffers = append(r.buffers, bytes)
	}
	return r
}
