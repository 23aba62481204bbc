package rewrite

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// TestFuseMatches runs each kernel and one or two random others one after another, and in one
// launch.
func TestFuseMatches(t *testing.T) {
	c := tally{}
	all := corpus(t)
	rng := rand.New(rand.NewPCG(7, 7))
	for i, k := range all {
		parts := []corpusKernel{k}
		for range 1 + rng.IntN(8)/7 {
			parts = append(parts, all[rng.IntN(len(all))])
		}
		c[fuseCase(t, parts, uint64(i))]++
	}
	c.check(t)
}

func fuseCase(t *testing.T, parts []corpusKernel, seed uint64) string {
	for try := range uint64(attempts) {
		c := newFuseTrial(t, parts, rand.New(rand.NewPCG(seed, try)), seed+try)
		r, err := Fuse(c.parts)
		if isRefusal(t, err) {
			return refused
		}
		if !c.runOriginals() {
			continue
		}
		_, err = c.after.run(r.Module, r.Kernel, launchShape{r.Grid, r.Block, r.Shared}.launch(r.block(c.originals, c.params, nil)))
		require.NoError(t, err, "%s\n%s", parts, r.Text)
		unequal := slices.ContainsFunc(c.parts, func(p Part) bool { return p.Block != c.parts[0].Block })
		if unequal && dependsOnOrder(parts) && !reflect.DeepEqual(c.before.contents(), c.after.contents()) {
			return otherOrder
		}
		if !slices.ContainsFunc(parts, func(k corpusKernel) bool { return !k.repeatable() }) {
			require.Equal(t, c.before.contents(), c.after.contents(), "%s\n%s", parts, r.Text)
		}
		return same
	}
	return onlyFaults
}

// fuseTrial is a fusion with launches and arguments that are made up.
type fuseTrial struct {
	parts         []Part
	originals     []*ptx.Func
	params        [][]byte
	before, after *machine
}

func newFuseTrial(t *testing.T, parts []corpusKernel, rng *rand.Rand, seed uint64) *fuseTrial {
	n := len(parts) * instanceBuffers
	c := &fuseTrial{before: newMachine(t, seed, n), after: newMachine(t, seed, n)}
	equal := parts[0].shape(rng).grid
	for i, k := range parts {
		s := k.shape(rng)
		if rng.IntN(3) == 0 {
			s.grid = equal
		}
		c.parts = append(c.parts, Part{k.module, k.kernel.Name, s.grid, s.block, s.shared})
		c.originals = append(c.originals, k.kernel)
		c.params = append(c.params, k.params(rng, c.before.buffers[i*instanceBuffers:][:instanceBuffers]))
	}
	return c
}

// runOriginals launches the parts one after another. It returns false if one faults.
func (c *fuseTrial) runOriginals() bool {
	for i, p := range c.parts {
		if _, err := c.before.run(p.Module, p.Kernel, launchShape{p.Grid, p.Block, p.Shared}.launch(c.params[i])); err != nil {
			return false
		}
	}
	return true
}

// dependsOnOrder reports whether a kernel has atomics whose result depends on the order of the
// warps of a block. That order may change with the number of warps.
func dependsOnOrder(parts []corpusKernel) bool {
	return slices.ContainsFunc(parts, func(k corpusKernel) bool {
		for _, f := range k.module.Funcs {
			if slices.ContainsFunc(f.Body, func(in ptx.Inst) bool { return in.Name == "atom" || in.Name == "red" && lastType(&in).Float() }) {
				return true
			}
		}
		return false
	})
}
