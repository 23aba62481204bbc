package tenancy

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/tracer"
)

// instant is a device in real time whose work ends at once.
type instant struct{ *null.Device }

func (d instant) Submit(s device.Stream, w device.Work) error {
	if c, ok := w.(*device.HostCall); ok {
		return c.Func()
	}
	return d.Device.Submit(s, w)
}

// crowd returns a server with tenants of a small program on a device that runs nothing, and a request of each.
func crowd(t testing.TB, n int) (*Server, []Request) {
	dev := instant{null.New()}
	s := NewServer(dev, Options{})
	requests := make([]Request, n)
	for i := range requests {
		tr := tracer.New(dev, "small", tracer.Deferred)
		x, y := tr.Alloc("x", ir.F32, 64, ir.Input), tr.Alloc("y", ir.F32, 64, ir.Output)
		add := tr.Module("add.ptx", addPTX).Kernel("add")
		tr.Launch(add, tracer.Linear(1, 64), y, x, x, 64)
		trace, err := tr.Finish()
		require.NoError(t, err)
		one, err := s.Add(fmt.Sprint(i), trace)
		require.NoError(t, err)
		requests[i] = Request{Tenant: one}
	}
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s, requests
}

// turn runs every request once.
func turn(s *Server, requests []Request) error {
	for i := range requests {
		requests[i].Arrived = s.Now()
		s.Enqueue(&requests[i])
	}
	for s.Busy() {
		next, err := s.Launch()
		if err != nil {
			return err
		}
		if err := s.Await(context.Background(), next); err != nil {
			return err
		}
	}
	return nil
}

// In the steady state, requests allocate nothing.
func TestRequestsAllocateNothing(t *testing.T) {
	s, requests := crowd(t, 16)
	run := func() { require.NoError(t, turn(s, requests)) }
	for range 10 {
		run()
	}
	assert.Zero(t, testing.AllocsPerRun(100, run))
	stats := s.Stats()
	assert.Equal(t, 1, stats.Misses)
	assert.Greater(t, stats.Hits, 100)
}

// BenchmarkRequest reports the host's time of a request in a full round, without that of a driver.
func BenchmarkRequest(b *testing.B) {
	const members = 16
	s, requests := crowd(b, members)
	require.NoError(b, turn(s, requests))
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		if err := turn(s, requests); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*members), "ns/request")
	stats := s.Stats()
	b.ReportMetric(100*float64(stats.Hits)/float64(stats.Hits+stats.Misses), "%hits")
}
