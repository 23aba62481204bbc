package ranks_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/internal/machine"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/ranks"
	"github.com/reprise-gpu/reprise/tracer"
)

// Tiles give the bytes of one device, whether their columns are exchanged between peers, through the host or between ranks, and
// whether or not the sides of the matrix are multiples of those of tiles.
func TestTiles(t *testing.T) {
	for _, c := range []struct {
		ranks, devices int
		peers          bool
	}{{1, 4, true}, {1, 4, false}, {4, 1, true}, {3, 2, true}, {1, 9, true}} {
		for _, side := range []int{64, 101} {
			for _, streams := range []bool{false, true} {
				t.Run(fmt.Sprintf("%+v side %d streams %t", c, side, streams), func(t *testing.T) {
					t.Parallel()
					m, err := machine.Uniform(c.ranks, c.devices, "h200")
					require.NoError(t, err)
					if !c.peers {
						m.Ranks[0].Links = nil
					}
					p := wave(side, 3)
					want := p.alone(t)
					got := p.distributed(t, m, ranks.Options{Tiles: true, Streams: streams})
					for b := range want {
						require.True(t, string(want[b]) == string(got[b]), "buffer %d", b)
					}
				})
			}
		}
	}
}

// The operations of a step do not grow with the rows, and columns are moved without the bytes between them.
func TestTilesMoveColumns(t *testing.T) {
	ops := map[int]int{}
	for _, side := range []int{64, 256} {
		p := wave(side, 1)
		tr := tracer.New(null.New(), p.name, tracer.Deferred)
		p.build(tr)
		trace, err := tr.Finish()
		require.NoError(t, err)
		m, err := machine.Uniform(4, 1, "h200")
		require.NoError(t, err)
		plan, err := distribute.New(trace.Graph, distribute.LayoutOf(m), distribute.Options{Tiles: true})
		require.NoError(t, err)
		strided := 0
		for i := range plan.Rounds[plan.Repeat].Ops {
			op := &plan.Rounds[plan.Repeat].Ops[i]
			if op.Kind == distribute.Out && plan.Strided(op) {
				strided++
				assert.LessOrEqual(t, op.Bytes.Hi-op.Bytes.Lo, int64(4*side/2))
			}
		}
		assert.Positive(t, strided)
		ops[side] = len(plan.Rounds[plan.Repeat].Ops)
	}
	assert.Equal(t, ops[64], ops[256])
}
