package optimizer

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/internal/dense/densetest"
	"github.com/reprise-gpu/reprise/ir"
)

// edge is one dependency of a graph of empty operations.
type edge = dense.Edge

// loadDAG returns a published graph with empty operations, each declared to take a microsecond.
func loadDAG(t testing.TB, name string) *ir.Graph {
	t.Helper()
	nodes, edges := densetest.Load(t, name)
	return graphOf(t, name, nodes, edges)
}

// graphOf is a graph of n empty operations with the given dependencies.
func graphOf(t testing.TB, name string, n int, edges []edge) *ir.Graph {
	t.Helper()
	g := &ir.Graph{Name: name, Ops: make([]ir.Op, n)}
	for i := range g.Ops {
		g.Ops[i] = ir.Op{Kind: ir.KindEmpty, Cost: 1000}
	}
	deps := make([]ir.Dep, len(edges))
	for i, e := range edges {
		deps[i] = ir.Dep{From: ir.OpID(e.From), To: ir.OpID(e.To), Hazard: ir.Ordered}
	}
	g, err := g.WithDeps(ir.Analyzed, deps, nil)
	require.NoError(t, err)
	return g
}

// plan runs the pipeline as the tests always do: verified.
func plan(t testing.TB, g *ir.Graph, strategy string) *Result {
	t.Helper()
	res, err := Plan(g, Options{Strategy: strategy, Verify: true})
	require.NoError(t, err)
	return res
}
