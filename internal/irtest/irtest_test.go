package irtest_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/irtest"
	"github.com/reprise-gpu/reprise/ir"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

func TestTheSameSeedGivesTheSameGraph(t *testing.T) {
	assert.Equal(t, irtest.Random(newRand(1), 50), irtest.Random(newRand(1), 50))
	assert.NotEqual(t, irtest.Random(newRand(1), 50), irtest.Random(newRand(2), 50))
}

// TestRandomCoversTheIR expects every feature of the IR within a few random graphs, because property tests rely on it.
func TestRandomCoversTheIR(t *testing.T) {
	kinds, modes, roles := make(map[ir.Kind]int), make(map[ir.Mode]int), make(map[ir.Role]int)
	var after, params, costs, empty, partial int
	for seed := range uint64(30) {
		g := irtest.Random(newRand(seed), 40)
		require.NoError(t, ir.Verify(g))
		require.Equal(t, 40, g.Len())
		for _, b := range g.Buffers {
			roles[b.Role]++
			if b.Len == 0 {
				empty++
			}
		}
		for _, op := range g.Ops {
			kinds[op.Kind]++
			after += len(op.After)
			if op.Cost >= 0 {
				costs++
			}
			for _, a := range op.Accesses(new([2]ir.Access)) {
				modes[a.Mode]++
				if a.Hi < g.Buffers[a.Buffer].Size() {
					partial++
				}
			}
		}
		params += len(g.Params)
	}
	assert.Len(t, kinds, 5)
	assert.Len(t, modes, 4)
	assert.Len(t, roles, 5)
	for what, n := range map[string]int{"after": after, "params": params, "costs": costs, "empty buffers": empty, "partial ranges": partial} {
		assert.Greater(t, n, 10, what)
	}
}

// Temporary and Output buffers are written in full before anything reads them.
func TestRandomReadsOnlyWhatIsWritten(t *testing.T) {
	for seed := range uint64(100) {
		g := irtest.Random(newRand(seed), 60)
		written := make([]bool, len(g.Buffers))
		for v := range g.Ops {
			accesses := g.Ops[v].Accesses(new([2]ir.Access))
			for _, a := range accesses {
				role := g.Buffers[a.Buffer].Role
				if a.Mode.Reads() && (role == ir.Temporary || role == ir.Output) {
					require.True(t, written[a.Buffer], "seed %d: %%%d reads @%s", seed, v, g.Buffers[a.Buffer].Name)
				}
			}
			for _, a := range accesses {
				if a.Mode.Writes() && a.Lo == 0 && a.Hi == g.Buffers[a.Buffer].Size() {
					written[a.Buffer] = true
				}
			}
		}
	}
}

func TestRandomDAG(t *testing.T) {
	assert.Len(t, irtest.Analyze(irtest.RandomDAG(newRand(1), 20, 1)).Deps(), 190)
	assert.Empty(t, irtest.Analyze(irtest.RandomDAG(newRand(1), 20, 0)).Deps())
	g := irtest.RandomDAG(newRand(1), 100, 0.1)
	require.NoError(t, ir.Verify(g))
	for _, op := range g.Ops {
		assert.True(t, 0 <= op.Cost && op.Cost <= 10_000)
	}
}

func TestScheduleIsValid(t *testing.T) {
	for seed := range uint64(50) {
		r := newRand(seed)
		g := irtest.Analyze(irtest.RandomDAG(r, r.IntN(30), 0.2))
		require.NoError(t, ir.VerifySchedule(irtest.Schedule(r, g, 5)))
	}
}
