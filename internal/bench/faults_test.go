package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/internal/wrap"
)

// sweep runs a workload repeatedly, with a different fault each time. The device is an H200 with one multiprocessor,
// so that launches are small; the calls do not depend on the number of multiprocessors.
type sweep struct {
	workload *Workload
	backend  graphexec.Backend
	stride   int
}

func eachSweep(t *testing.T, f func(t *testing.T, s *sweep)) {
	// Every call of a small workload, and every ninth of a larger one, to save time: there, calls of the same kind follow
	// each other. The other workloads make the same kinds of calls.
	for _, w := range []struct {
		*Workload
		stride int
	}{{vec, 1}, {img, 9}} {
		for _, b := range graphexec.Backends() {
			t.Run(w.Name+"/"+b.String(), func(t *testing.T) { f(t, &sweep{w.Workload, b, w.stride}) })
		}
	}
}

func openSmall(t *testing.T) *sim.Device {
	profile, err := profiles.Lookup("h200")
	require.NoError(t, err)
	small := *profile
	small.SMs = 1
	dev, err := sim.New(sim.Options{Custom: &small, Race: sim.RaceOn})
	require.NoError(t, err)
	return dev
}

// run traces, plans, instantiates and replays on dev, which stays open.
func (s *sweep) run(ctx context.Context, dev device.Device) error {
	records, err := Run(ctx, Config{
		Open:      func() (device.Device, error) { return wrap.Intercept(dev, withoutClose), nil },
		Workloads: []*Workload{s.workload}, Sizes: []int{8}, Strategies: []string{"nimble"},
		Backends: []graphexec.Backend{s.backend}, Iterations: 1,
	})
	for _, r := range records {
		err = errors.Join(err, wrong(&r))
	}
	return err
}

func withoutClose(c *wrap.Call, next func() error) error {
	if c.Method == "Close" {
		return nil
	}
	return next()
}

func wrong(r *Record) error {
	if r.OK {
		return nil
	}
	return errors.New(r.Error)
}

// eachCall calls f with the calls of a run without faults: with each stride-th, and in a short test with each
// fifteenth.
func (s *sweep) eachCall(t *testing.T, f func(n int, method string)) {
	calls := s.calls(t)
	stride := s.stride
	if testing.Short() {
		stride = 15
	}
	for n := 0; n < len(calls); n += stride {
		f(n, calls[n])
	}
}

// calls returns the methods that a run without faults calls, in order.
func (s *sweep) calls(t *testing.T) (methods []string) {
	dev := openSmall(t)
	note := wrap.Intercept(dev, func(c *wrap.Call, next func() error) error {
		methods = append(methods, c.Method)
		return next()
	})
	require.NoError(t, s.run(context.Background(), note))
	require.Zero(t, dev.Live())
	return methods
}

// frees reports whether a call destroys a resource. If it fails, the resource stays allocated, which cannot be
// avoided.
func frees(method string) bool {
	return method == "Free" || strings.HasPrefix(method, "Destroy") || strings.HasPrefix(method, "Unload")
}

// count returns the number of live resources.
func count(l device.Live) int {
	return l.Allocations + l.Modules + l.Streams + l.Events + l.Graphs + l.Execs + l.Lists
}

// TestEveryCallFailsOnce makes each call in turn fail once, with the code for too little memory.
func TestEveryCallFailsOnce(t *testing.T) {
	eachSweep(t, func(t *testing.T, s *sweep) {
		s.eachCall(t, func(n int, method string) {
			dev := openSmall(t)
			err := s.run(context.Background(), wrap.Faults(dev, wrap.FailCall(n, device.OutOfMemory)))
			what := fmt.Sprintf("call %d, %s: %v", n, method, err)
			require.Equal(t, device.OutOfMemory, device.CodeOf(err), what)
			require.ErrorContains(t, err, fmt.Sprintf("%s: CUDA_ERROR_OUT_OF_MEMORY (2): injected fault at call %d", method, n))
			requireNamed(t, method, err)
			left := 0
			if frees(method) {
				left = 1
			}
			require.Equal(t, left, count(dev.Live()), what)
			require.NoError(t, s.run(context.Background(), dev), "the same device again after %s", what)
			require.NoError(t, dev.Close())
			require.Zero(t, dev.Live())
		})
	})
}

// requireNamed requires that an error names the purpose of the failed call: an
// operation, a buffer, a module, or the workload.
func requireNamed(t *testing.T, method string, err error) {
	t.Helper()
	require.Regexp(t, `%\d+ \w+ at |@\w+|unload \w+|instantiate \w+|replay \d|(trace|close|(reset|replay|events) of) (vec|img)`, err.Error(), method)
}

// TestEveryCallFailsForGood makes all calls fail from each call on in turn, as after a sticky error or the loss of the
// device.
func TestEveryCallFailsForGood(t *testing.T) {
	eachSweep(t, func(t *testing.T, s *sweep) {
		s.eachCall(t, func(n int, method string) {
			code := []device.Code{device.IllegalAddress, device.DeviceUnavailable}[n%2]
			s.broken(t, fmt.Sprintf("call %d, %s", n, method), method, wrap.FailFrom(n, code), code)
		})
	})
}

// TestAllWorkFails makes each piece of enqueued work fail in turn.
func TestAllWorkFails(t *testing.T) {
	eachSweep(t, func(t *testing.T, s *sweep) {
		replays := 0
		for n, method := range s.calls(t) {
			replay := method == "LaunchGraph" || method == "SubmitCommands"
			if replay || method == "Submit" {
				s.broken(t, fmt.Sprintf("work of call %d, %s", n, method), "Synchronize", wrap.FailWork(n, device.LaunchFailed), device.LaunchFailed)
			}
			if replay {
				replays++
			}
		}
		require.Equal(t, 2*3, replays, "of each strategy one that is checked, one between events and one whose calls are counted")
	})
}

// broken runs on a device that fails permanently, closes it, and runs on another device.
func (s *sweep) broken(t *testing.T, what, method string, fail func(int, string) device.Code, code device.Code) {
	t.Helper()
	dev := openSmall(t)
	faulty := wrap.Faults(dev, fail)
	err := s.run(context.Background(), faulty)
	require.Equal(t, code, device.CodeOf(err), what)
	require.ErrorContains(t, err, method+": "+code.String(), what)
	requireNamed(t, method, err)
	require.Equal(t, 1, strings.Count(err.Error(), code.String()), "%s: said once: %v", what, err)
	require.NoError(t, faulty.Close(), what)
	require.Zero(t, dev.Live(), what)

	fresh := openSmall(t)
	require.NoError(t, s.run(context.Background(), fresh), "a fresh device after %s", what)
	require.NoError(t, fresh.Close())
}

// TestInterruptAtEveryCall interrupts the run during each call in turn. The run must end after the current replay and
// leave no resources.
func TestInterruptAtEveryCall(t *testing.T) {
	eachSweep(t, func(t *testing.T, s *sweep) {
		s.eachCall(t, func(n int, method string) {
			dev := openSmall(t)
			ctx, interrupt := context.WithCancel(context.Background())
			i, launches := 0, 0
			err := s.run(ctx, wrap.Intercept(dev, func(c *wrap.Call, next func() error) error {
				if i++; i > n && (c.Method == "LaunchGraph" || c.Method == "SubmitCommands") {
					launches++
				}
				if i == n+1 {
					defer interrupt()
				}
				return next()
			}))
			if err != nil { // nil when there was nothing left to be interrupted
				require.ErrorIs(t, err, context.Canceled, "call %d, %s", n, method)
			}
			require.LessOrEqual(t, launches, 1, "call %d, %s", n, method)
			require.Zero(t, dev.Live(), "call %d, %s", n, method)
			require.NoError(t, s.run(context.Background(), dev), "the same device again")
			interrupt()
			require.NoError(t, dev.Close())
		})
	})
}
