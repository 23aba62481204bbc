package ranks_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/tracer"
)

// mostPlanted bounds the transfers of a plan that are left out in turn.
const mostPlanted = 12

// The verifier finds each transfer that is left out of the plans of random programs on random machines.
func TestPlantedMissingTransfers(t *testing.T) {
	planted := 0
	for seed := range uint64(*cases) {
		p := random(seed)
		tr := tracer.New(null.New(), p.name, tracer.Deferred)
		p.build(tr)
		trace, err := tr.Finish()
		require.NoError(t, err)
		plan, err := distribute.New(trace.Graph, distribute.LayoutOf(shape(t, seed)), distribute.Options{Overlap: distribute.Overlap(seed % 3), Tiles: seed%5 < 3})
		require.NoError(t, err)
		require.NoError(t, distribute.Verify(plan))
		list := transfers(plan)
		rand.New(rand.NewPCG(seed, 3)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		for _, at := range list[:min(len(list), mostPlanted)] {
			planted++
			assert.Error(t, distribute.Verify(without(plan, at)), "seed %d, round %d without #%d\n%v", seed, at.Round, at.Op, plan)
		}
	}
	assert.Greater(t, planted, *cases)
	t.Log(fmt.Sprint(planted, " transfers were left out"))
}

// transfers returns the transfers of a plan.
func transfers(p *distribute.Plan) (list []distribute.Wait) {
	for r := range p.Rounds {
		for i := range p.Rounds[r].Ops {
			if p.Rounds[r].Ops[i].Kind != distribute.Run {
				list = append(list, distribute.Wait{Round: int32(r), Op: int32(i)})
			}
		}
	}
	return list
}

// without returns a plan in which a transfer moves nothing.
func without(p *distribute.Plan, at distribute.Wait) *distribute.Plan {
	q := *p
	q.Rounds = slices.Clone(p.Rounds)
	ops := slices.Clone(p.Rounds[at.Round].Ops)
	ops[at.Op].Bytes.Hi = ops[at.Op].Bytes.Lo
	q.Rounds[at.Round].Ops = ops
	return &q
}
