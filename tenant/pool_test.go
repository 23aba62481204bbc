package tenant_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
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
	require.ErrorAs(t, one.Submit(ctx, -time.Second), &late, "a deadline in the past")
	require.Negative(t, late.Left)
	require.NoError(t, one.Submit(ctx, math.MaxInt64))

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

// TestACallerWhoseContextEndsDoesNotWait submits while the goroutine of the pool is busy.
func TestACallerWhoseContextEndsDoesNotWait(t *testing.T) {
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	defer dev.Close()
	pool, err := tenant.NewPool(dev, tenant.Options{})
	require.NoError(t, err)
	defer pool.Close()
	trace, _, _ := squares(t, dev)
	one, err := pool.Add(trace)
	require.NoError(t, err)
	require.NoError(t, pool.Use(func(device.Device) error {
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		ended := make(chan error)
		go func() { ended <- one.Submit(ctx, 0) }()
		require.ErrorIs(t, <-ended, context.DeadlineExceeded)
		return nil
	}))
}

// TestTenantsCannotShareMemoryThatOneWrites adds a trace twice, and programs that share what they read or write.
func TestTenantsCannotShareMemoryThatOneWrites(t *testing.T) {
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	defer dev.Close()
	pool, err := tenant.NewPool(dev, tenant.Options{})
	require.NoError(t, err)
	defer pool.Close()
	at, err := dev.Alloc(3 * 4 * elements)
	require.NoError(t, err)
	square, _ := kernels.Lookup("square")
	program := func(from, to int64) *tracer.Trace { // between thirds of one allocation
		tr := tracer.New(dev, fmt.Sprint("from ", from, " to ", to), tracer.Deferred)
		in, out := tr.Alloc("in", ir.F32, elements, ir.Input), tr.Alloc("out", ir.F32, elements, ir.Output)
		tr.Launch(tr.Module(square.File, square.PTX).Kernel("square"), tracer.Linear(4, 128), in, out, elements)
		trace, err := tr.Finish()
		require.NoError(t, err)
		trace.Bind(in.ID(), at+device.Ptr(4*elements*from))
		trace.Bind(out.ID(), at+device.Ptr(4*elements*to))
		return trace
	}
	trace := program(0, 1)
	one, err := pool.Add(trace)
	require.NoError(t, err)
	for _, other := range []*tracer.Trace{trace, program(2, 1), program(1, 2), program(2, 0)} {
		_, err := pool.Add(other)
		require.ErrorContains(t, err, "is also used by tenant from 0 to 1", other.Graph.Name)
	}
	_, err = pool.Add(program(0, 2))
	require.NoError(t, err, "both read the same")
	require.NoError(t, one.Remove())
	_, err = pool.Add(program(0, 1))
	require.NoError(t, err)
}

// TestEveryCallReturns submits from many goroutines, some of which give up, while tenants are removed and then the pool is
// closed. Every call returns, and nothing is left on the device.
func TestEveryCallReturns(t *testing.T) {
	for seed := range uint64(5) {
		dev, err := sim.New(sim.Options{})
		require.NoError(t, err)
		pool, err := tenant.NewPool(dev, tenant.Options{MaxMembers: 4, CacheBytes: 1})
		require.NoError(t, err)
		var callers sync.WaitGroup
		var traces []*tracer.Trace
		for i := range 6 {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			var trace *tracer.Trace
			require.NoError(t, pool.Use(func(dev device.Device) error { trace, _, _ = squares(t, dev); return nil }))
			one, err := pool.Add(trace)
			require.NoError(t, err)
			traces = append(traces, trace)
			for range 3 {
				limit, deadline := time.Duration(rng.IntN(2000))*time.Microsecond, time.Duration(rng.IntN(100))*time.Microsecond
				callers.Go(func() {
					for {
						ctx, cancel := context.WithTimeout(context.Background(), limit)
						err := one.Submit(ctx, deadline)
						cancel()
						if errors.Is(err, tenant.ErrClosed) || errors.Is(err, tenant.ErrRemoved) {
							return
						}
						if err != nil && !errors.Is(err, context.DeadlineExceeded) {
							assert.ErrorAs(t, err, new(*tenant.DeadlineError))
						}
					}
				})
			}
			if i%3 == 0 {
				callers.Go(func() {
					time.Sleep(time.Duration(rng.IntN(10)) * time.Millisecond)
					if err := one.Remove(); err != nil {
						assert.ErrorIs(t, err, tenant.ErrClosed)
					}
				})
			}
		}
		time.Sleep(20 * time.Millisecond)
		assert.NoError(t, pool.Close())
		callers.Wait()
		for _, trace := range traces {
			require.NoError(t, trace.Close())
		}
		live := dev.Live()
		require.Zero(t, live.Allocations+live.Graphs+live.Execs+live.Modules+live.Streams+live.Events, "%+v", live)
		require.NoError(t, dev.Close())
	}
}
