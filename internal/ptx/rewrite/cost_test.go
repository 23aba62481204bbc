package rewrite

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/interp"
	"github.com/reprise-gpu/reprise/internal/ptx"
)

// costTable lists the PTX instructions of a thread: those of the original, and those that each
// rewrite adds, as a number and in percent. A * marks more than 3 %.
const costTable = "testdata/instructions"

// costFiles are the files whose kernels the table has: those that programs of this repository
// launch.
var costFiles = []string{
	"kernels/", "solver/internal/kernels/", "bench/", "tenancy/", "timings/", "until/", "baseline/", "examples/",
}

// costAttempts is the number of launches that are tried until one does not fault.
const costAttempts = 64

// TestInstructions compares the instructions that rewrites add with the table, which has a line for
// every kernel. Each rewrite adds a fixed number to the start of a kernel, so only short kernels exceed 3 %.
// "go test -run TestInstructions -rewrite" writes the table.
func TestInstructions(t *testing.T) {
	text, err := os.ReadFile(costTable)
	require.NoError(t, err)
	known := map[string]string{}
	for line := range strings.Lines(string(text)) {
		known[strings.Join(strings.Fields(line)[:2], " ")] = line
	}
	var lines []string
	for _, k := range corpus(t) {
		if !slices.ContainsFunc(costFiles, func(dir string) bool { return strings.HasPrefix(k.file, dir) }) {
			continue
		}
		line := k.costs(t)
		lines = append(lines, line)
		if rewriting() {
			continue
		}
		want, ok := known[k.String()]
		require.True(t, ok, "%s: the table has no line for %s; write it with -rewrite", costTable, k)
		require.Len(t, added(line), len(added(want)), "%s", k)
		require.InDeltaSlice(t, added(want), added(line), 1, "%s", k)
	}
	require.NotEmpty(t, lines)
	if rewriting() {
		head := fmt.Sprintf("%-58s %8s %17s %17s %17s %17s %17s %17s\n", "kernel", "original", "range", "batch of 2", "batch of 4", "batch, table", "batch, rows", "fuse of 2")
		require.NoError(t, os.WriteFile(costTable, []byte(head+strings.Join(lines, "")), 0o666))
	}
}

// added returns the numbers with a sign in a line of the table.
func added(line string) (list []float64) {
	for _, word := range strings.Fields(line)[3:] {
		if n, err := strconv.ParseFloat(word, 64); err == nil {
			list = append(list, n)
		}
	}
	return list
}

// maxAdded bounds the instructions that a rewrite adds to a thread, for grids of up to two
// dimensions.
const maxAdded = 12

// costs returns the line of a kernel.
func (k corpusKernel) costs(t *testing.T) string {
	for try := range uint64(costAttempts) {
		s := k.shape(rand.New(rand.NewPCG(1, try)))
		s.grid = [3]uint32{4, min(s.grid[1], 2), 1}
		c := costRun{t, k, s, try}
		base, err := c.count(k.module, k.kernel.Name, s.grid, s.block, func(on *machine) []byte { return c.params(on, 0) })
		if err != nil {
			continue
		}
		added := []float64{c.ofRange(), c.ofBatch(FromParameters, 2), c.ofBatch(FromParameters, 4), c.ofBatch(FromTable, 4), c.ofBatch(FromRows, 4), c.ofFuse()}
		if slices.Contains(added, faulted) {
			continue
		}
		line := fmt.Sprintf("%-58s %8.1f", k, base)
		for _, n := range added {
			if n == 0 {
				line += fmt.Sprintf(" %17s", "-")
				continue
			}
			mark := " "
			if n > 1.03*base {
				mark = "*"
			}
			require.LessOrEqual(t, n-base, float64(maxAdded), "%s", k)
			line += fmt.Sprintf(" %+8.1f %6.1f%%%s", n-base, 100*(n/base-1), mark)
		}
		return strings.TrimRight(line, " ") + "\n"
	}
	return fmt.Sprintf("%-58s not counted: it faults with all arguments that were made up\n", k)
}

// faulted is the count of a launch that faults: an instance reads behind its buffers, where the
// original has other ones.
const faulted = -1

// costRun counts the instructions of launches of one kernel. Each instance has buffers of its
// own, with the contents of those of the others, so all execute the same.
type costRun struct {
	t     *testing.T
	k     corpusKernel
	shape launchShape
	seed  uint64
}

// costParts is the largest number of instances.
const costParts = 4

// params returns the parameter block of an instance.
func (c *costRun) params(on *machine, instance int) []byte {
	return c.k.params(rand.New(rand.NewPCG(2, c.seed)), on.buffers[instance*instanceBuffers:][:instanceBuffers])
}

// count returns the instructions of a thread of one launch.
func (c *costRun) count(m *ptx.Module, kernel string, grid, block [3]uint32, params func(*machine) []byte) (float64, error) {
	on := newMachine(c.t, c.seed, costParts*instanceBuffers)
	for i := instanceBuffers; i < len(on.buffers); i++ {
		copy(on.bytes(on.buffers[i], bufferBytes), on.bytes(on.buffers[i%instanceBuffers], bufferBytes))
	}
	stats, err := on.run(m, kernel, interp.Launch{Grid: grid, Block: block, Shared: c.shape.shared, Params: params(on)})
	return float64(stats.LaneInsts) / float64(blocks(grid)*uint64(block[0]*block[1]*block[2])), err
}

// of is count for a rewritten kernel with equal parts. It returns 0 for a refusal.
func (c *costRun) of(r *Result, err error, parts int, grid [3]uint32, extra func(on *machine, all [][]byte, o Origin) uint64) float64 {
	if err != nil {
		return 0
	}
	n, err := c.count(r.Module, r.Kernel, grid, c.shape.block, func(on *machine) []byte {
		originals, all := make([]*ptx.Func, parts), make([][]byte, parts)
		for i := range all {
			originals[i], all[i] = c.k.kernel, c.params(on, i)
		}
		return r.block(originals, all, func(_ int, o Origin) uint64 { return extra(on, all, o) })
	})
	if err != nil {
		return faulted
	}
	return n
}

func (c *costRun) ofRange() float64 {
	r, err := Range(c.k.module, c.k.kernel.Name, dimensions(c.shape.grid))
	return c.of(r, err, 1, [3]uint32{uint32(blocks(c.shape.grid)), 1, 1}, func(_ *machine, _ [][]byte, o Origin) uint64 {
		return uint64(o.Kind.value(c.shape.grid, 0))
	})
}

func (c *costRun) ofBatch(source Source, n int) float64 {
	r, err := Batch(c.k.module, c.k.kernel.Name, BatchOptions{Source: source, Instances: n, Grid: c.shape.grid})
	if err != nil {
		return 0
	}
	return c.of(r, err, n, r.Grid, func(on *machine, all [][]byte, o Origin) uint64 {
		switch {
		case o.Kind == RowOffset:
			return 0
		case source == FromRows:
			return on.alloc(on.rows(r.Table, all, 0))
		}
		table, err := r.Table.Layout(all...)
		require.NoError(c.t, err)
		return on.alloc(table)
	})
}

func (c *costRun) ofFuse() float64 {
	part := Part{c.k.module, c.k.kernel.Name, c.shape.grid, c.shape.block, c.shape.shared}
	r, err := Fuse([]Part{part, part})
	if err != nil {
		return 0
	}
	return c.of(r, err, 2, r.Grid, nil)
}
