package rewrite

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// attempts bounds the launches that are tried until one does not fault.
const attempts = 8

// tally counts the outcomes of a test that runs kernels of the corpus.
type tally map[string]int

// The outcomes.
const (
	same       = "same bytes"
	refused    = "refused" // the reasons are in the table of TestRefusals
	onlyFaults = "faults with all arguments"
	otherOrder = "other order of atomics"
)

// check requires that most kernels ran. Kernels that need textures, locks or pointers in memory
// fault with arguments that are made up.
func (c tally) check(t *testing.T) {
	t.Log(c)
	total := 0
	for _, n := range c {
		total += n
	}
	require.Greater(t, c[same], total*3/4)
	require.Less(t, c[otherOrder], total/50)
}

// isRefusal reports whether a rewrite refused the kernel. Any other error fails the test.
func isRefusal(t *testing.T, err error) bool {
	if err == nil {
		return false
	}
	refusal := (*Refusal)(nil)
	require.ErrorAs(t, err, &refusal)
	return true
}

// TestRangeMatches runs each kernel, and the same grid in random consecutive ranges.
func TestRangeMatches(t *testing.T) {
	c := tally{}
	for i, k := range corpus(t) {
		c[rangeCase(t, k, uint64(i))]++
	}
	c.check(t)
}

func rangeCase(t *testing.T, k corpusKernel, seed uint64) string {
	for try := range uint64(attempts) {
		rng := rand.New(rand.NewPCG(seed, try))
		s := k.shape(rng)
		r, err := Range(k.module, k.kernel.Name, dimensions(s.grid))
		if isRefusal(t, err) {
			return refused
		}
		a, b := newMachine(t, seed+try, instanceBuffers), newMachine(t, seed+try, instanceBuffers)
		params := k.params(rng, a.buffers)
		if _, err := a.run(k.module, k.kernel.Name, s.launch(params)); err != nil {
			continue
		}
		total := int(blocks(s.grid))
		for first := 0; first < total; {
			count := 1 + rng.IntN(total-first)
			args, err := r.RangeArguments(s.grid, uint32(first))
			require.NoError(t, err)
			block := r.block([]*ptx.Func{k.kernel}, [][]byte{params}, func(i int, _ Origin) uint64 { return uint64(args[i-len(k.kernel.Params)]) })
			part := launchShape{[3]uint32{uint32(count), 1, 1}, s.block, s.shared}
			_, err = b.run(r.Module, r.Kernel, part.launch(block))
			require.NoError(t, err, "%s\n%s", k, r.Text)
			first += count
		}
		if k.repeatable() {
			require.Equal(t, a.contents(), b.contents(), "%s grid %v\n%s", k, s.grid, r.Text)
		}
		return same
	}
	return onlyFaults
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
