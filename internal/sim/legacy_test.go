package sim

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
)

// modelStream is what the rule goes by.
type modelStream struct {
	handle           device.Stream
	legacy, blocking bool
}

// must says whether b, enqueued later, may only start when a has ended, as CUDA
// documents the legacy default stream.
func must(a, b *modelStream) bool {
	return a == b || a.legacy && b.blocking || a.blocking && b.legacy
}

// TestLegacyStreamOrdersBlockingStreams runs random work in streams of every kind. What
// the rule orders, through whatever is between, must not overlap; what it leaves
// unordered must not be held back.
func TestLegacyStreamOrdersBlockingStreams(t *testing.T) {
	overlaps := 0
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 2))
		spans := map[string]Span{}
		d := open(t, Options{Trace: func(s Span) { spans[s.Label] = s }})
		streams := modelStreams(t, d)
		src, _, err := d.AllocHost(1 << 20)
		require.NoError(t, err)
		dst, err := d.Alloc(1 << 20)
		require.NoError(t, err)
		var ops []*modelStream
		before := [][]bool{} // the closure of the rule
		for i := range 24 {
			s := streams[rng.IntN(len(streams))]
			row := make([]bool, i)
			for j, o := range ops {
				if must(o, s) {
					row[j] = true
					for k := range before[j] {
						row[k] = row[k] || before[j][k]
					}
				}
			}
			ops, before = append(ops, s), append(before, row)
			label := fmt.Sprint(i)
			if rng.IntN(2) == 0 {
				require.NoError(t, d.Submit(s.handle, &device.HostCall{Label: label, Func: func() error { return nil }}))
			} else {
				require.NoError(t, d.Submit(s.handle, &device.Copy{Label: label, Dst: dst, Src: src, Bytes: int64(1 + rng.IntN(1<<20))}))
			}
		}
		require.NoError(t, d.SynchronizeAll())
		for i := range ops {
			for j, ordered := range before[i] {
				a, b := spans[fmt.Sprint(j)], spans[fmt.Sprint(i)]
				if ordered {
					require.LessOrEqual(t, a.End, b.Begin, "seed %d: %d and %d", seed, j, i)
				} else if b.Begin < a.End {
					overlaps++
				}
			}
		}
		require.NoError(t, d.Close())
	}
	require.Greater(t, overlaps, 1000)
}

func modelStreams(t *testing.T, d *Device) []*modelStream {
	streams := []*modelStream{{handle: d.LegacyStream(), legacy: true}}
	for range 2 {
		s, err := d.CreateBlockingStream(0)
		require.NoError(t, err)
		streams = append(streams, &modelStream{handle: s, blocking: true})
		s, err = d.CreateStream(0)
		require.NoError(t, err)
		streams = append(streams, &modelStream{handle: s})
	}
	return streams
}

// Waiting for the legacy stream is waiting for the blocking ones, and asking it is
// asking them.
func TestLegacyStreamStandsForBlockingStreams(t *testing.T) {
	d := open(t, Options{})
	streams := modelStreams(t, d)
	legacy, blocking, free := streams[0].handle, streams[1].handle, streams[2].handle
	require.NoError(t, d.Query(legacy))
	require.NoError(t, d.Submit(free, &device.HostCall{Func: func() error { return nil }}))
	require.NoError(t, d.Query(legacy))
	require.NoError(t, d.Submit(blocking, &device.HostCall{Func: func() error { return nil }}))
	require.Equal(t, device.NotReady, device.CodeOf(d.Query(legacy)))
	require.NoError(t, d.Synchronize(legacy))
	require.NoError(t, d.Query(blocking))
	// Also for those that are destroyed, and for what they wait for.
	e, err := d.CreateEvent()
	require.NoError(t, err)
	for range 20 { // it takes a while
		require.NoError(t, d.Submit(free, &device.HostCall{Func: func() error { return nil }}))
	}
	require.NoError(t, d.Record(e, free))
	require.NoError(t, d.Wait(blocking, e))
	require.NoError(t, d.DestroyStream(blocking))
	require.Equal(t, device.NotReady, device.CodeOf(d.Query(legacy)))
	require.NoError(t, d.Submit(legacy, device.Nothing{}))
	require.NoError(t, d.Synchronize(legacy))
	require.NoError(t, d.Query(free))
	require.Equal(t, 3, d.Live().Streams) // the legacy one is not the program's
}

// A program without blocking streams pays nothing for the rule.
func TestLegacyStreamAloneIsAStream(t *testing.T) {
	run := func(stream func(*Device) device.Stream) time.Duration {
		d := open(t, Options{})
		s := stream(d)
		start := d.Now()
		for range 5 {
			require.NoError(t, d.Submit(s, &device.HostCall{Func: func() error { return nil }}))
		}
		require.NoError(t, d.Synchronize(s))
		return d.Now() - start
	}
	require.Equal(t, run(func(d *Device) device.Stream {
		s, err := d.CreateStream(0)
		require.NoError(t, err)
		return s
	}), run((*Device).LegacyStream))
}
