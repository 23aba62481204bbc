package optimizer

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/ir"
)

// realDAGs are the published graphs of testdata/dags with the numbers two
// independent programs computed for them: edges of the transitive reduction and
// size of a maximum matching on it are unique, and so are chains = V - M, fewest
// syncs = E' - M and the width (the largest antichain).
var realDAGs = []struct {
	name                   string
	nodes, edges           int
	reduced, matched       int
	chains, width, minSync int
}{
	{"nasnet_a_mobile", 791, 946, 918, 674, 117, 13, 244},
	{"darts", 549, 649, 623, 489, 60, 7, 134},
	{"inception_v3", 404, 438, 438, 368, 36, 6, 70},
	{"googlenet", 94, 120, 120, 66, 28, 4, 54},
	{"resnet50", 106, 121, 109, 101, 5, 2, 8},
	{"epfl_arbiter", 12095, 23678, 23678, 11551, 544, 544, 12127},
	{"epfl_sin", 5440, 10832, 10105, 4195, 1245, 428, 5910},
}

// loadDAG reads one edge list as a graph of empty operations, each declared to
// take a microsecond.
func loadDAG(t testing.TB, name string) *ir.Graph {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "dags", name+".txt"))
	require.NoError(t, err)
	defer f.Close()

	r := bufio.NewReader(f)
	var nodes, edges int
	_, err = fmt.Fscan(r, &nodes, &edges)
	require.NoError(t, err)
	pairs := make([]edge, edges)
	for i := range pairs {
		_, err = fmt.Fscan(r, &pairs[i].from, &pairs[i].to)
		require.NoError(t, err)
	}
	return graphOf(t, name, nodes, pairs)
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
		deps[i] = ir.Dep{From: ir.OpID(e.from), To: ir.OpID(e.to), Hazard: ir.Ordered}
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
