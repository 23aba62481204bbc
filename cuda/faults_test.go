//go:build cuda && cgo

package cuda

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/bench"
	"github.com/reprise-gpu/reprise/internal/wrap"
)

// TestNothingIsLeftBehind traces, instantiates and replays a benchmark, with a failure injected into one call
// after the other, and counts the resources that stay allocated.
func TestNothingIsLeftBehind(t *testing.T) {
	for _, backend := range graphexec.Backends() {
		t.Run(backend.String(), func(t *testing.T) {
			d := open(t)
			defer d.Close()
			calls := 0
			count := wrap.Intercept(d, func(c *wrap.Call, next func() error) error { calls++; return next() })
			require.NoError(t, replayVec(t.Context(), count, backend))
			require.Zero(t, d.Live())
			for n := range calls - 1 { // the last is Close
				failing := wrap.Faults(d, wrap.FailCall(n, device.OutOfMemory))
				err := replayVec(t.Context(), failing, backend)
				if !assert.Error(t, err, "call %d", n) {
					continue
				}
				if frees := d.Live(); frees != (device.Live{}) && !freeing(err) {
					t.Errorf("call %d failed (%v) and left %+v", n, err, frees)
				}
				d.mu.Lock()
				d.freeThings()
				d.mu.Unlock()
			}
		})
	}
}

// freeing reports whether the failed call frees a resource, which then stays allocated.
func freeing(err error) bool {
	var e *device.Error
	if !assert.ErrorAs(new(testing.T), err, &e) {
		return false
	}
	switch e.Call {
	case "Free", "UnloadModule", "DestroyStream", "DestroyEvent", "DestroyGraph", "DestroyGraphExec", "DestroyCommandList":
		return true
	}
	return false
}

func replayVec(ctx context.Context, d device.Device, backend graphexec.Backend) error {
	vec, err := bench.LookupWorkload("vec")
	if err != nil {
		return err
	}
	records, err := bench.Run(ctx, bench.Config{
		Open:      func() (device.Device, error) { return stayOpen{d}, nil },
		Workloads: []*bench.Workload{vec}, Sizes: []int{8}, Strategies: []string{"nimble"},
		Backends: []graphexec.Backend{backend}, Iterations: 1,
	})
	for _, r := range records {
		if err == nil && !r.OK {
			err = fmt.Errorf("wrong: %s", r.Error)
		}
	}
	return err
}

// stayOpen is a device that its user cannot close.
type stayOpen struct{ device.Device }

func (stayOpen) Close() error { return nil }
