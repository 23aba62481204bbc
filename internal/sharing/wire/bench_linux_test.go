package wire

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/sharing"
)

func serve(t testing.TB, o Options) (*Server, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	s, err := Serve(path, o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s, path
}

func dial(t testing.TB, path, name string, class int, stages []sharing.Stage) *Client {
	t.Helper()
	c, err := Dial(path)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	_, err = c.Register(name, class, stages)
	require.NoError(t, err)
	return c
}

// round runs a stage of one grant, and returns the time from the arrival to the grant.
func round(t testing.TB, c *Client) time.Duration {
	start := time.Now()
	require.NoError(t, c.Arrive(0))
	e, err := c.Receive()
	took := time.Since(start)
	require.NoError(t, err)
	require.Equal(t, Granted, e.Kind)
	require.NoError(t, c.Completed())
	e, err = c.Receive()
	require.NoError(t, err)
	require.Equal(t, Ended, e.Kind)
	return took
}

// TestRoundTripsAllocateNothing counts the allocations of the server and of a client together.
func TestRoundTripsAllocateNothing(t *testing.T) {
	_, path := serve(t, Options{})
	c := dial(t, path, "p", 9, one(us))
	round(t, c)
	if n := testing.AllocsPerRun(200, func() { round(t, c) }); n > 0 {
		t.Errorf("%v allocations in a round trip", n)
	}
}

// BenchmarkRoundTrip measures the time from an arrival to its grant.
func BenchmarkRoundTrip(b *testing.B) {
	_, path := serve(b, Options{})
	c := dial(b, path, "p", 9, one(time.Microsecond))
	var times []time.Duration
	b.ReportAllocs()
	for b.Loop() {
		times = append(times, round(b, c))
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Nanoseconds()), "p50-ns")
	b.ReportMetric(float64(times[len(times)*99/100].Nanoseconds()), "p99-ns")
}
