package rewrite

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/interp"
	"github.com/reprise-gpu/reprise/internal/ptx"
)

func TestFuseMatches(t *testing.T) {
	tally := map[string]int{}
	all := corpus(t)
	rng := rand.New(rand.NewPCG(7, 7))
	for i, k := range all {
		parts := []corpusKernel{k}
		for range 1 + rng.IntN(8)/7 {
			parts = append(parts, all[rng.IntN(len(all))])
		}
		tally[fuseCase(t, parts, uint64(i))]++
	}
	t.Log(tally)
}

func fuseCase(t *testing.T, parts []corpusKernel, seed uint64) string {
	for try := range uint64(attempts) {
		rng := rand.New(rand.NewPCG(seed, try))
		a, b := newMachine(t, seed+try, len(parts)*instanceBuffers), newMachine(t, seed+try, len(parts)*instanceBuffers)
		var list []Part
		var blocks [][]byte
		var originals []*ptx.Func
		faults, repeatable, flat := false, true, false
		same := parts[0].shape(rng)
		for i, k := range parts {
			s := k.shape(rng)
			if rng.IntN(3) == 0 {
				s.grid = same.grid
			}
			list = append(list, Part{k.module, k.kernel.Name, s.grid, s.block, s.shared})
			flat = flat || s.block != list[0].Block
			params := k.params(rng, a.buffers[i*instanceBuffers:][:instanceBuffers])
			blocks, originals = append(blocks, params), append(originals, k.kernel)
			_, err := a.run(k.module, k.kernel.Name, interp.Launch{Grid: s.grid, Block: s.block, Shared: s.shared, Params: params})
			faults = faults || err != nil
			repeatable = repeatable && k.repeatable()
		}
		r, err := Fuse(list)
		if refusal := (*Refusal)(nil); errors.As(err, &refusal) {
			return "refused " + refusal.Reason
		}
		require.NoError(t, err, "%s", parts)
		if faults {
			continue
		}
		block := r.block(originals, blocks, nil)
		_, err = b.run(r.Module, r.Kernel, interp.Launch{Grid: r.Grid, Block: r.Block, Shared: r.Shared, Params: block})
		require.NoError(t, err, "%s\n%s", parts, r.Text)
		if flat && dependsOnOrder(parts) && !reflect.DeepEqual(a.contents(), b.contents()) {
			return "other order of warps"
		}
		if repeatable {
			require.Equal(t, a.contents(), b.contents(), "%s\n%s", parts, r.Text)
		}
		return "same"
	}
	return "faults"
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
