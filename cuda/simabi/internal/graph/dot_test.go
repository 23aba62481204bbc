package graph

import (
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDot(t *testing.T) {
	inner := New()
	_, err := inner.Add(toy{HostNode, 1})
	require.NoError(t, err)
	g := New()
	a, err := g.Add(toy{KernelNode, 1})
	require.NoError(t, err)
	b, err := g.Add(Child{inner}, a)
	require.NoError(t, err)
	_, err = g.Add(Empty{}, a, b)
	require.NoError(t, err)
	var out strings.Builder
	require.NoError(t, WriteDot(&out, g, func(n *Node) []string {
		if n == a {
			return []string{`say "x\y"`, "second line"}
		}
		return nil
	}))
	require.Equal(t, `digraph dot {
subgraph cluster_1 {
label="graph_1" graph[style="dashed"];
"graph_1_node_0"[shape="octagon" label="0\nkernel\nsay \"x\\y\"\nsecond line"];
"graph_1_node_1"[shape="component" label="1\nchild graph"];
subgraph cluster_2 {
label="graph_1_node_1_graph_0" graph[style="dashed"];
"graph_1_node_1_graph_0_node_0"[shape="rectangle" label="0\nhost"];
}
"graph_1_node_2"[shape="ellipse" label="2\nempty"];
"graph_1_node_0" -> "graph_1_node_1";
"graph_1_node_0" -> "graph_1_node_2";
"graph_1_node_1" -> "graph_1_node_2";
}
}
`, out.String())
}

func TestGraphvizTakesDot(t *testing.T) {
	program, err := exec.LookPath("dot")
	if err != nil {
		t.Skip("Graphviz is not installed")
	}
	for seed := range uint64(5) {
		var text strings.Builder
		g := random(rand.New(rand.NewPCG(seed, 5)), 2)
		require.NoError(t, WriteDot(&text, g, func(*Node) []string { return []string{`"\{}<>`} }))
		check := exec.Command(program, "-Tdot")
		check.Stdin = strings.NewReader(text.String())
		out, err := check.CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
}
