package rewrite

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/interp"
	"github.com/reprise-gpu/reprise/internal/ptx"
)

func TestBatchMatches(t *testing.T) {
	tally := map[string]int{}
	for i, k := range corpus(t) {
		tally[batchCase(t, k, uint64(i))]++
	}
	t.Log(tally)
}

// instanceBuffers is the number of buffers that each instance has to itself.
const instanceBuffers = 5

func batchCase(t *testing.T, k corpusKernel, seed uint64) string {
	for try := range uint64(attempts) {
		rng := rand.New(rand.NewPCG(seed, try))
		o := BatchOptions{Instances: []int{1, 2, 3, 7}[rng.IntN(4)], Source: Source(rng.IntN(3))}
		s := k.shape(rng)
		o.Grid = s.grid
		shapes := make([]launchShape, o.Instances)
		for i := range shapes {
			shapes[i] = s
		}
		if o.Source != FromRows && rng.IntN(2) == 0 {
			for i := range shapes {
				shapes[i].grid = k.shape(rng).grid
				o.Grids = append(o.Grids, shapes[i].grid)
			}
		}
		spare := 0
		if o.Source == FromTable && o.Grids == nil && rng.IntN(2) == 0 {
			o.Partial, spare = true, rng.IntN(3)
		}
		if o.Source == FromRows {
			spare = rng.IntN(3)
		}
		a, b := newMachine(t, seed+try, o.Instances*instanceBuffers), newMachine(t, seed+try, o.Instances*instanceBuffers)
		all := make([][]byte, o.Instances)
		originals := make([]*ptx.Func, o.Instances)
		for i := range all {
			all[i] = k.params(rng, a.buffers[i*instanceBuffers:][:instanceBuffers])
			originals[i] = k.kernel
		}
		for j, v := range k.kernel.Params {
			equal := rng.IntN(3) == 0 && v.Size() < 8 || v.Type == ptx.F64
			o.Equal = append(o.Equal, equal)
			for i := range all {
				if equal {
					copy(all[i][v.Offset:][:v.Size()], all[0][v.Offset:])
				}
			}
			_ = j
		}
		ok := true
		for i := range all {
			if _, err := a.run(k.module, k.kernel.Name, interp.Launch{Grid: shapes[i].grid, Block: s.block, Shared: s.shared, Params: all[i]}); err != nil {
				ok = false
				break
			}
		}
		o.Instances += spare
		r, err := Batch(k.module, k.kernel.Name, o)
		if refusal := (*Refusal)(nil); errors.As(err, &refusal) {
			return "refused " + refusal.Reason
		}
		require.NoError(t, err, "%s", k)
		if !ok {
			continue
		}
		table, offset := uint64(0), 16*rng.IntN(3)
		switch o.Source {
		case FromTable:
			data, err := r.Table.Layout(all...)
			require.NoError(t, err)
			if o.Grids != nil {
				launch, err := r.Table.PutGrids(data, o.Grids)
				require.NoError(t, err)
				require.Equal(t, launch, r.Grid)
			}
			table = b.alloc(data)
		case FromRows:
			list := make([]byte, 8*o.Instances)
			for i := range all {
				row := make([]byte, offset+r.Table.Stride)
				require.NoError(t, r.Table.PutRow(row[offset:], 0, all[i]))
				put(list[8*i:], b.alloc(row), 8)
			}
			table = b.alloc(list)
		}
		block := r.block(originals, all, func(_ int, o Origin) uint64 {
			if o.Kind == RowOffset {
				return uint64(offset)
			}
			require.Equal(t, TableAddress, o.Kind)
			return table
		})
		_, err = b.run(r.Module, r.Kernel, interp.Launch{Grid: r.Grid, Block: s.block, Shared: s.shared, Params: block})
		require.NoError(t, err, "%s %+v\n%s", k, o, r.Text)
		if k.repeatable() {
			require.Equal(t, a.contents(), b.contents(), "%s %+v\n%s", k, o, r.Text)
		}
		return "same"
	}
	return "faults"
}
