package ir

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A cycle is found exactly if Kahn's algorithm does not remove all operations, and the result is a cycle.
func TestFindCycleAgreesWithPeeling(t *testing.T) {
	cyclic := 0
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 12))
		ops := make([]Op, 1+r.IntN(12))
		for v := range ops {
			for range r.IntN(3) {
				ops[v].After = append(ops[v].After, OpID(r.IntN(len(ops))))
			}
		}
		cycle := findCycle(ops)
		require.Equal(t, stuck(ops), cycle != nil, "seed %d", seed)
		if cycle == nil {
			continue
		}
		cyclic++
		assert.Equal(t, slices.Min(cycle), cycle[0])
		for i, u := range cycle {
			v := cycle[(i+1)%len(cycle)]
			assert.Contains(t, ops[v].After, u, "seed %d", seed)
		}
	}
	assert.Greater(t, cyclic, 50)
	assert.Less(t, cyclic, 450)
}

func stuck(ops []Op) bool {
	done := make([]bool, len(ops))
	for range ops {
		for v := range ops {
			done[v] = done[v] || !slices.ContainsFunc(ops[v].After, func(u OpID) bool { return !done[u] })
		}
	}
	return slices.Contains(done, false)
}

// The search has its own stack: a chain as long as the graph is no problem.
func TestFindCycleOfAMillion(t *testing.T) {
	ops := make([]Op, 1_000_000)
	for v := range ops {
		ops[v].After = []OpID{OpID((v + 1) % len(ops))}
	}
	cycle := findCycle(ops)
	assert.Len(t, cycle, len(ops))
	assert.Equal(t, "%0 -> %999999 -> %999998 -> %999997 -> %999996 -> %999995 -> %999994 -> %999993 -> %999992 -> %999991"+
		" -> (999988 more) -> %2 -> %1 -> %0", cycleText(cycle))
}
