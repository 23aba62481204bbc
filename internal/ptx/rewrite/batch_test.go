package rewrite

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/ptx"
)

// instanceBuffers is the number of buffers that each instance has to itself.
const instanceBuffers = 5

// TestBatchMatches runs instances of each kernel one after another, and in one launch: 1, 2, 3 or
// 7, with equal and unequal grids, from each source.
func TestBatchMatches(t *testing.T) {
	c := tally{}
	for i, k := range corpus(t) {
		c[batchCase(t, k, uint64(i))]++
	}
	c.check(t)
}

func batchCase(t *testing.T, k corpusKernel, seed uint64) string {
	for try := range uint64(attempts) {
		c := newBatchTrial(t, k, rand.New(rand.NewPCG(seed, try)), seed+try)
		r, err := Batch(k.module, k.kernel.Name, c.options)
		if isRefusal(t, err) {
			return refused
		}
		if !c.runOriginals() {
			continue
		}
		shape := launchShape{r.Grid, c.shapes[0].block, c.shapes[0].shared}
		_, err = c.after.run(r.Module, r.Kernel, shape.launch(c.arguments(r)))
		require.NoError(t, err, "%s %+v\n%s", k, c.options, r.Text)
		if k.repeatable() {
			require.Equal(t, c.before.contents(), c.after.contents(), "%s %+v\n%s", k, c.options, r.Text)
		}
		return same
	}
	return onlyFaults
}

// batchTrial is a batch with options and arguments that are made up.
type batchTrial struct {
	t             *testing.T
	k             corpusKernel
	rng           *rand.Rand
	options       BatchOptions
	shapes        []launchShape // of the instances
	params        [][]byte
	before, after *machine
}

func newBatchTrial(t *testing.T, k corpusKernel, rng *rand.Rand, seed uint64) *batchTrial {
	n := []int{1, 2, 3, 7}[rng.IntN(4)]
	c := &batchTrial{t: t, k: k, rng: rng, before: newMachine(t, seed, n*instanceBuffers), after: newMachine(t, seed, n*instanceBuffers)}
	s := k.shape(rng)
	o := &c.options
	o.Instances, o.Source, o.Grid = n, Source(rng.IntN(3)), s.grid
	uneven := o.Source != FromRows && rng.IntN(2) == 0
	for i := range n {
		if uneven {
			s.grid = k.shape(rng).grid
			o.Grids = append(o.Grids, s.grid)
		}
		c.shapes = append(c.shapes, s)
		c.params = append(c.params, k.params(rng, c.before.buffers[i*instanceBuffers:][:instanceBuffers]))
	}
	for _, v := range k.kernel.Params {
		equal := rng.IntN(3) == 0 && v.Size() < 8 || v.Type == ptx.F64
		o.Equal = append(o.Equal, equal)
		for i := range n {
			if equal {
				copy(c.params[i][v.Offset:][:v.Size()], c.params[0][v.Offset:])
			}
		}
	}
	// Further instances of the launch are not in use.
	o.Partial = o.Source == FromTable && !uneven && rng.IntN(2) == 0
	if o.Partial || o.Source == FromRows {
		o.Instances += rng.IntN(3)
	}
	return c
}

// runOriginals launches the instances one after another. It returns false if one faults.
func (c *batchTrial) runOriginals() bool {
	for i, s := range c.shapes {
		if _, err := c.before.run(c.k.module, c.k.kernel.Name, s.launch(c.params[i])); err != nil {
			return false
		}
	}
	return true
}

// arguments returns the parameter block of the batch, and writes its table.
func (c *batchTrial) arguments(r *Result) []byte {
	table, offset := uint64(0), 16*c.rng.IntN(3)
	switch c.options.Source {
	case FromTable:
		table = c.after.alloc(c.table(r))
	case FromRows:
		list := make([]byte, 8*c.options.Instances)
		copy(list, c.after.rows(r.Table, c.params, offset))
		table = c.after.alloc(list)
	}
	originals := make([]*ptx.Func, len(c.params))
	for i := range originals {
		originals[i] = c.k.kernel
	}
	return r.block(originals, c.params, func(_ int, o Origin) uint64 {
		if o.Kind == RowOffset {
			return uint64(offset)
		}
		require.Equal(c.t, TableAddress, o.Kind)
		return table
	})
}

// table returns the table of the instances.
func (c *batchTrial) table(r *Result) []byte {
	data, err := r.Table.Layout(c.params...)
	require.NoError(c.t, err)
	if c.options.Grids != nil {
		launch, err := r.Table.PutGrids(data, c.options.Grids)
		require.NoError(c.t, err)
		require.Equal(c.t, launch, r.Grid)
	} else {
		require.Equal(c.t, r.Grid, r.Table.Grid(c.options.Instances))
	}
	return data
}
