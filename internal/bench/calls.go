package bench

import (
	"context"
	"sync/atomic"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/wrap"
	"github.com/reprise-gpu/reprise/ir"
)

// driverCalls counts the driver calls of a replay, including the wait for it. It instantiates the schedule again,
// because counting would distort measured times.
func driverCalls(ctx context.Context, dev device.Device, in *Instance, s *ir.Schedule, backend graphexec.Backend) (n int, err error) {
	var calls atomic.Int64
	exec, err := graphexec.Instantiate(wrap.Counting(dev, &calls), s, in.Trace, backend)
	if err != nil {
		return 0, err
	}
	defer func() { err = device.Join(err, exec.Close()) }()
	if err := in.Reset(); err != nil {
		return 0, err
	}
	calls.Store(0)
	err = replay(ctx, exec)
	return int(calls.Load()), err
}
