package tenant_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/kernels"
	"github.com/reprise-gpu/reprise/internal/sim"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tenant"
	"github.com/reprise-gpu/reprise/tracer"
)

const elements = 500

// squares traces a program that squares elements twice.
func squares(t testing.TB, dev device.Device) (_ *tracer.Trace, in, out tracer.Buffer) {
	tr := tracer.New(dev, "squares", tracer.Deferred)
	square, _ := kernels.Lookup("square")
	k := tr.Module(square.File, square.PTX).Kernel("square")
	in, out = tr.Alloc("in", ir.F32, elements, ir.Input), tr.Alloc("out", ir.F32, elements, ir.Output)
	temp := tr.Alloc("temp", ir.F32, elements, ir.Temporary)
	tr.Launch(k, tracer.Linear(4, 128), in, temp, elements)
	tr.Launch(k, tracer.Linear(4, 128), temp, out, elements)
	trace, err := tr.Finish()
	require.NoError(t, err)
	return trace, in, out
}

// Every caller gets the result of its own tenant, from any number of goroutines.
func TestCallersGetTheirOwnResults(t *testing.T) {
	const tenants, runs = 9, 20
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	pool, err := tenant.NewPool(dev, tenant.Options{MaxMembers: 4})
	require.NoError(t, err)
	var callers sync.WaitGroup
	for i := range tenants {
		var trace *tracer.Trace
		var in, out tracer.Buffer
		require.NoError(t, pool.Use(func(dev device.Device) error {
			trace, in, out = squares(t, dev)
			return nil
		}))
		one, err := pool.Add(trace)
		require.NoError(t, err)
		callers.Go(func() {
			for run := range runs {
				x := float32(i + run)
				err := one.Do(context.Background(), tenant.Request{
					Before: func(*tracer.Trace) error {
						data := make([]float32, elements)
						for k := range data {
							data[k] = x
						}
						return tracer.Write(in, data)
					},
					After: func(*tracer.Trace) error {
						data := make([]float32, elements)
						if err := tracer.Read(data, out); err != nil {
							return err
						}
						if data[7] != x*x*x*x {
							return fmt.Errorf("%g gave %g", x, data[7])
						}
						return nil
					},
				})
				assert.NoError(t, err)
			}
		})
	}
	callers.Wait()
	stats := pool.Stats()
	assert.Equal(t, tenants*runs, stats.Requests)
	assert.Less(t, stats.Rounds, tenants*runs)
	require.NoError(t, pool.Close())
	require.NoError(t, pool.Close())
	assert.Zero(t, pool.Stats())
	require.NoError(t, dev.Close())
}

func TestErrorsOfRequests(t *testing.T) {
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	pool, err := tenant.NewPool(dev, tenant.Options{})
	require.NoError(t, err)
	trace, _, _ := squares(t, dev)
	one, err := pool.Add(trace)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	require.NoError(t, one.Submit(ctx, 0))
	require.NoError(t, one.Submit(ctx, time.Second))
	var late *tenant.DeadlineError
	require.ErrorAs(t, one.Submit(ctx, time.Nanosecond), &late)

	wrong := errors.New("wrong")
	var fault *tenant.FaultError
	err = one.Do(ctx, tenant.Request{Before: func(*tracer.Trace) error { return wrong }})
	require.ErrorAs(t, err, &fault)
	require.ErrorIs(t, err, wrong)
	require.ErrorIs(t, one.Do(ctx, tenant.Request{After: func(*tracer.Trace) error { return wrong }}), wrong)

	cancel()
	require.ErrorIs(t, one.Submit(ctx, 0), context.Canceled)
	require.NoError(t, one.Remove())
	require.ErrorIs(t, one.Remove(), tenant.ErrRemoved)
	require.ErrorIs(t, one.Submit(context.Background(), 0), tenant.ErrRemoved)
	_, err = pool.Add(nil)
	require.Error(t, err)
	require.NoError(t, pool.Close())
	require.ErrorIs(t, one.Submit(context.Background(), 0), tenant.ErrClosed)
	_, err = pool.Add(trace)
	require.ErrorIs(t, err, tenant.ErrClosed)
	require.NoError(t, dev.Close())
}
