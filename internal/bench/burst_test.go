package bench

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/sim"
)

func burstConfig(t *testing.T, names ...string) Config {
	c := Config{
		Open:       func() (device.Device, error) { return sim.New(sim.Options{}) },
		Sizes:      []int{0},
		Strategies: []string{serial, "nimble"},
		Backends:   []graphexec.Backend{graphexec.Graph},
		Iterations: 2,
		Burst:      4,
		Seed:       1,
	}
	for _, name := range names {
		w, err := LookupWorkload(name)
		require.NoError(t, err)
		c.Workloads = append(c.Workloads, w)
	}
	return c
}

// TestABurstLeavesTheBytesOfSerialReplays expects the same memory after every plan. Replays of hits continue from the
// result of the replay before.
func TestABurstLeavesTheBytesOfSerialReplays(t *testing.T) {
	c := burstConfig(t, "vec", "hits")
	c.Options = [][]string{{"unroll(2)", "rename(2)"}}
	records, err := Run(context.Background(), c)
	require.NoError(t, err)
	require.Len(t, records, 2*3)
	assert.Equal(t, c.Rows(), len(records))
	for i, r := range records {
		assert.True(t, r.OK, "%s: %s", r.String(), r.Error)
		assert.Equal(t, 4, r.Burst)
		assert.Positive(t, r.BurstUS)
		assert.Equal(t, records[i/3*3].BurstHash, r.BurstHash, r.String())
		if i%3 == 2 {
			assert.Equal(t, "unroll(2),rename(2)", r.Also)
			assert.Equal(t, 2, r.Copies)
			assert.Positive(t, r.AddedBytes)
			assert.Less(t, r.BurstUS, r.ReplayUS, "two replays")
			continue
		}
		assert.Zero(t, r.Copies)
		assert.Zero(t, r.AddedBytes)
	}
}

// TestABurstWithOtherBytesIsWrong compares bursts with the memory after a smaller number of serial replays, which
// differs for a program whose replays continue from the last result.
func TestABurstWithOtherBytesIsWrong(t *testing.T) {
	ctx := context.Background()
	dev, err := sim.New(sim.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, dev.Close()) }()
	in, err := hits.New(dev, Params{Size: hits.Tiny, Seed: 1})
	require.NoError(t, err)
	defer func() { require.NoError(t, in.Close()) }()
	s := &serialReplays{dev: dev, in: in}
	_, err = s.after(ctx, 1)
	require.NoError(t, err)
	rec := Record{Simulated: true, OK: true}
	_, err = s.compare(ctx, &rec, 1)
	require.NoError(t, err)
	assert.True(t, rec.OK)
	_, err = s.after(ctx, 2)
	require.NoError(t, err)
	_, err = s.compare(ctx, &rec, 1)
	require.NoError(t, err)
	assert.False(t, rec.OK)
	assert.Equal(t, "memory after 1 replays differs from that after as many serial replays", rec.Error)
}

func TestABurstIsAMultipleOfTheCopies(t *testing.T) {
	c := burstConfig(t, "vec")
	c.Options = [][]string{{"unroll(3)"}}
	_, err := Run(context.Background(), c)
	assert.ErrorContains(t, err, "4 replays are no multiple of the 3 that unroll(3) submits at once")
}
