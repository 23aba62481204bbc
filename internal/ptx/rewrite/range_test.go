package rewrite

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/interp"
	"github.com/reprise-gpu/reprise/internal/ptx"
)

// attempts bounds the launches that are tried until one does not fault.
const attempts = 6

func dimsOf(grid [3]uint32) int {
	switch {
	case grid[2] > 1:
		return 3
	case grid[1] > 1:
		return 2
	}
	return 1
}

func TestRangeMatches(t *testing.T) {
	tally := map[string]int{}
	for _, k := range corpus(t) {
		outcome := rangeCase(t, k, uint64(len(k.kernel.Name)))
		tally[outcome]++
	}
	t.Log(tally)
}

func rangeCase(t *testing.T, k corpusKernel, seed uint64) string {
	results := [4]*Result{}
	for dims := 1; dims <= 3; dims++ {
		r, err := Range(k.module, k.kernel.Name, dims)
		if refusal := (*Refusal)(nil); errors.As(err, &refusal) {
			return "refused"
		}
		require.NoError(t, err, "%s", k)
		results[dims] = r
	}
	for try := range uint64(attempts) {
		rng := rand.New(rand.NewPCG(seed, try))
		s := k.shape(rng)
		a, b := newMachine(t, seed+try, 6), newMachine(t, seed+try, 6)
		params := k.params(rng, a.buffers)
		if _, err := a.run(k.module, k.kernel.Name, interp.Launch{Grid: s.grid, Block: s.block, Shared: s.shared, Params: params}); err != nil {
			continue
		}
		r := results[dimsOf(s.grid)]
		total := int(blocks(s.grid))
		for first := 0; first < total; {
			count := 1 + rng.IntN(total-first)
			args, err := r.RangeArguments(s.grid, uint32(first))
			require.NoError(t, err)
			next := 0
			block := r.block([]*ptx.Func{k.kernel}, [][]byte{params}, func(int, Origin) uint64 { next++; return uint64(args[next-1]) })
			_, err = b.run(r.Module, r.Kernel, interp.Launch{Grid: [3]uint32{uint32(count), 1, 1}, Block: s.block, Shared: s.shared, Params: block})
			require.NoError(t, err, "%s\n%s", k, r.Text)
			first += count
		}
		if k.repeatable() {
			require.Equal(t, a.contents(), b.contents(), "%s grid %v\n%s", k, s.grid, r.Text)
		}
		return "same"
	}
	return "faults"
}

// repeatable reports whether the result of a kernel does not depend on the time, or on the place
// where a block runs.
func (k corpusKernel) repeatable() bool {
	used := specials(k.module.Funcs)
	for _, name := range []string{"%clock", "%clock_hi", "%clock64", "%globaltimer", "%globaltimer_lo", "%globaltimer_hi", "%smid", "%gridid"} {
		if used[name] {
			return false
		}
	}
	return true
}
