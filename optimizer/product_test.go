package optimizer

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/ir"
)

// hostOps returns n host functions, each of which accesses a span of the tiles of a buffer. The next starts a step later.
func hostOps(n int, mode ir.Mode, buffer ir.BufferID, step, span int64) []ir.Op {
	ops := make([]ir.Op, n)
	for i := range ops {
		lo := int64(i) * step
		ops[i] = ir.Op{Kind: ir.KindHost, Label: "f", Uses: []ir.Access{{Range: ir.Range{Buffer: buffer, Lo: lo, Hi: lo + span}, Mode: mode}}}
	}
	return ops
}

func hostProgram(tiles int, groups ...[]ir.Op) *ir.Graph {
	g := &ir.Graph{Name: "groups", Buffers: []ir.Buffer{{Name: "x", Elem: ir.U8, Len: int64(tiles), Role: ir.InOut}}}
	for _, ops := range groups {
		g.Ops = append(g.Ops, ops...)
	}
	return g
}

// TestProductsOfDependenciesAreRefused plans programs of n operations with about n*n/4 dependencies of which none
// implies another.
func TestProductsOfDependenciesAreRefused(t *testing.T) {
	const n = 40
	tiles, all, spans := hostOps(n, ir.Write, 0, 1, 1), hostOps(n, ir.Read, 0, 0, 2*n), hostOps(n, ir.Read, 0, 1, n)
	after := make([]ir.Op, 2*n)
	for v := n; v < 2*n; v++ {
		for u := range n {
			after[v].After = append(after[v].After, ir.OpID(u))
		}
	}
	for _, c := range []struct {
		name  string
		g     *ir.Graph
		limit int
		want  string
	}{
		{"readers of what tiles wrote", hostProgram(2*n, tiles, all), n*n - 1,
			`operation %79 "f" depends on 40 operations (%0 over @x[0:1]): the dependencies of the program exceed 1599, ` +
				"the limit for its length: put one operation that reads and writes all of @x between the two groups, or use fewer and larger operations"},
		{"writers over readers", hostProgram(2*n, all, tiles), n*n - 1, `operation %79 "f" depends on 40 operations (%0 over @x[39:40])`},
		{"overlapping spans", hostProgram(2*n, hostOps(n, ir.Write, 0, 2, 2), spans), n * n / 3, "depends on 2"},
		{"after edges", hostProgram(2*n, after), n*n - 1, "operation %79 depends on 40 operations:"},
	} {
		s := newHazardScan(c.g)
		s.limit = c.limit
		_, err := s.scan(c.g)
		require.ErrorContains(t, err, c.want, c.name)
		assert.ErrorAs(t, err, new(*DependencyError), c.name)
	}
}

// TestALimitOfDependencies plans the smallest program with 4000 readers of what 4000 have written, and follows the remedy
// that the error names.
func TestALimitOfDependencies(t *testing.T) {
	const n = 4000
	tiles, all, between := hostOps(n, ir.Write, 0, 1, 1), hostOps(n, ir.Read, 0, 0, n), hostOps(1, ir.ReadWrite, 0, 0, n)
	_, err := Plan(hostProgram(n, tiles, all), Options{})
	var limit *DependencyError
	require.ErrorAs(t, err, &limit)
	assert.Equal(t, maxDeps(2*n), limit.Limit)
	assert.Equal(t, n, limit.Needs)

	g, err := hazards(hostProgram(n, tiles, between, all))
	require.NoError(t, err)
	assert.Len(t, g.Deps(), 2*n)

	const million = 1_000_000
	assert.Less(t, 64*million, maxDeps(million), "layers of 64")
	assert.Less(t, 2000*2000, maxDeps(4000))
}
