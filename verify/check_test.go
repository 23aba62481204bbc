package verify_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/irtest"
	"github.com/reprise-gpu/reprise/optimizer"
	"github.com/reprise-gpu/reprise/verify"
)

// TestPlansOfRandomPrograms plans random programs, with strides and with loops and branches, and checks both back ends.
func TestPlansOfRandomPrograms(t *testing.T) {
	checked := 0
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 1))
		g := irtest.Random(r, 5+r.IntN(40))
		switch seed % 3 {
		case 1:
			g = irtest.Strided(r, 5+r.IntN(40))
		case 2:
			g = irtest.Controlled(r, 5+r.IntN(20), 2)
		}
		strategies := optimizer.Strategies()
		opts := optimizer.Options{Strategy: strategies[int(seed)%len(strategies)].Name}
		if seed%2 == 0 {
			opts.Also = []string{"memplan"}
		}
		plan, err := optimizer.Plan(g, opts)
		require.NoError(t, err)
		for _, form := range graphexec.Backends() {
			proof, err := verify.Check(plan.Schedule, form)
			if err != nil {
				t.Logf("seed %d: %v", seed, err)
				continue
			}
			checked++
			for _, race := range proof.Races {
				t.Errorf("seed %d, %v: %s", seed, form, race.String())
			}
		}
	}
	assert.Greater(t, checked, 35)
}

// TestLongPrograms would take minutes if pairs were searched one by one, or across replays.
func TestLongPrograms(t *testing.T) {
	g := irtest.Contended(rand.New(rand.NewPCG(1, 1)), 5_000)
	plan, err := optimizer.Plan(g, optimizer.Options{Strategy: "roundrobin(16)"})
	require.NoError(t, err)
	for _, form := range graphexec.Backends() {
		proof, err := verify.Check(plan.Schedule, form)
		require.NoError(t, err)
		assert.True(t, proof.OK())
		assert.Greater(t, proof.Conflicts, 15_000)
	}
}
