package importer_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/graph"
	encoding "gonum.org/v1/gonum/graph/encoding/dot"
	"gonum.org/v1/gonum/graph/formats/dot"
	"gonum.org/v1/gonum/graph/simple"

	"github.com/reprise-gpu/reprise/importer"
	"github.com/reprise-gpu/reprise/ir"
)

// named is a node of a gonum graph that keeps its name in DOT.
type named struct {
	graph.Node
	name string
}

func (n *named) SetDOTID(id string) { n.name = id }
func (n *named) DOTID() string      { return n.name }

// namedGraph is a gonum graph whose nodes are named.
type namedGraph struct{ *simple.DirectedGraph }

func (g namedGraph) NewNode() graph.Node { return &named{Node: g.DirectedGraph.NewNode()} }

// TestDOTAgreesWithGonum compares the edges between nodes with those that gonum's decoder finds. It has no edges from
// subgraphs: the decoder of v0.17.0 loses an edge from a subgraph whose nodes exist, as in "a -> b; {a} -> c".
func TestDOTAgreesWithGonum(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 22))
		src := plainEdges(r, randomTasks(r))
		g := namedGraph{simple.NewDirectedGraph()}
		require.NoError(t, encoding.Unmarshal([]byte(src), g), src)
		want := map[string]bool{}
		for edges := g.Edges(); edges.Next(); {
			e := edges.Edge()
			want[e.From().(*named).name+" -> "+e.To().(*named).name] = true
		}
		got := map[string]bool{}
		read, err := importer.Read("x.dot", src, importer.Options{})
		require.NoError(t, err)
		for _, op := range read.Ops {
			for _, u := range op.After {
				got[read.Ops[u].Label+" -> "+op.Label] = true
			}
		}
		require.Equal(t, want, got, src)
		require.Equal(t, g.Nodes().Len(), read.Len())
	}
}

// plainEdges writes each edge and each task as a statement.
func plainEdges(r *rand.Rand, tasks map[string]known) string {
	var b strings.Builder
	for _, n := range shuffled(r, tasks) {
		fmt.Fprintf(&b, "%s;", n)
		for _, p := range strings.Fields(tasks[n].preds) {
			fmt.Fprintf(&b, "%s -> %s\n", p, n)
		}
	}
	return "digraph {" + b.String() + "}"
}

// TestGonumDoesNotReadAllOfDOT expects gonum to refuse valid texts from testdata/read/dot or written by programs. They
// are the reason for the parser in this package. If the test fails, a release of gonum accepts them, and its parser may
// suffice.
func TestGonumDoesNotReadAllOfDOT(t *testing.T) {
	for what, src := range map[string]string{
		"strings joined by +":               `strict digraph "two" + " words" { a }`,
		"a comment that ends the text":      "digraph { a } // end",
		"an empty statement":                "digraph { a;; b }",
		"names that are not UTF-8":          "digraph { \xe4 -> b }",
		"a byte in quotes that is no UTF-8": "digraph { a [label=\"\xe4\"] }",
	} {
		_, err := importer.Read("x.dot", src, importer.Options{})
		require.NoError(t, err, what)
		_, err = dot.ParseString(src)
		assert.Error(t, err, "gonum reads %s now", what)
	}
}

// TestReadReadsWhatGonumWrites expects the costs, labels and edges of a graph that gonum's encoder has written.
func TestReadReadsWhatGonumWrites(t *testing.T) {
	g := &ir.Graph{Name: "two words", Ops: []ir.Op{
		{Kind: ir.KindEmpty, Label: "first", Cost: 1500},
		{Kind: ir.KindEmpty, Label: `a "quoted" one`, Cost: -1, After: []ir.OpID{0}},
		{Kind: ir.KindHost, Label: "<b>html</b>", Cost: 0, After: []ir.OpID{0, 1}},
	}}
	g, err := g.WithDeps(ir.Analyzed, []ir.Dep{{From: 0, To: 1, Hazard: ir.Ordered}, {From: 0, To: 2, Hazard: ir.Ordered}, {From: 1, To: 2, Hazard: ir.Ordered}}, nil)
	require.NoError(t, err)
	text, err := encoding.Marshal(g, g.Name, "", "\t")
	require.NoError(t, err)
	assert.Contains(t, string(text), `1 -> 2 [label="after"]`)
	read, err := importer.Read("x.dot", string(text), importer.Options{})
	require.NoError(t, err, "%s", text)
	for v, op := range read.Ops {
		assert.Equal(t, g.Ops[v].Label, op.Label)
		assert.Equal(t, max(0, g.Ops[v].Cost), op.Cost)
		assert.Equal(t, g.Ops[v].After, op.After)
	}
	require.NoError(t, encoding.Unmarshal(text, namedGraph{simple.NewDirectedGraph()}))
}
