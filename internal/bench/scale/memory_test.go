package scale

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/bench/scale/programs"
	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/internal/ranks"
	"github.com/reprise-gpu/reprise/internal/transport"
	"github.com/reprise-gpu/reprise/tracer"
)

// Each step of RSim reads a row more than the one before. Its memory is allocated once, before the first step, at its final
// size.
func TestGrowingReadsAllocateOnce(t *testing.T) {
	prog, err := programs.Parse("rsim:64x30")
	require.NoError(t, err)
	m, err := lookup(t, "a100-32x4").First(4)
	require.NoError(t, err)
	in, g, err := record(prog)
	require.NoError(t, err)
	plan, row, err := planned(g, m, distribute.Options{})
	require.NoError(t, err)
	devices, closing, err := simulated(m, 0)
	require.NoError(t, err)
	r, err := ranks.New(m, transport.Local(1)[0], devices, closing)
	require.NoError(t, err)
	defer r.Close()
	p, err := r.Prepare(context.Background(), plan, ranks.Options{})
	require.NoError(t, err)
	defer p.Close()
	require.NoError(t, in.Start(func(b tracer.Buffer, data []byte) error { return p.Write(b.Range(), data) }))

	live := func() (list []device.Live) {
		for _, d := range devices {
			list = append(list, d.(device.Accounter).Live())
		}
		return list
	}
	before := live()
	require.NoError(t, p.Run(context.Background(), 3))
	assert.Equal(t, before, live())
	assert.EqualValues(t, plan.Bytes(1), before[1].Bytes)
	assert.GreaterOrEqual(t, row.Memory, before[1].Bytes)
}
