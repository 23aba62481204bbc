package densetest

import (
	"bytes"
	"embed"
	"fmt"
	"testing"
)

// Published are the published graphs of testdata/dags with the numbers that two
// independent programs computed for them: edges of the transitive reduction and
// size of a maximum matching on it are unique, and so are chains = V - M, fewest
// syncs = E' - M and the width (the largest antichain).
var Published = []struct {
	Name                   string
	Nodes, Edges           int
	Reduced, Matched       int
	Chains, Width, MinSync int
}{
	{"nasnet_a_mobile", 791, 946, 918, 674, 117, 13, 244},
	{"darts", 549, 649, 623, 489, 60, 7, 134},
	{"inception_v3", 404, 438, 438, 368, 36, 6, 70},
	{"googlenet", 94, 120, 120, 66, 28, 4, 54},
	{"resnet50", 106, 121, 109, 101, 5, 2, 8},
	{"epfl_arbiter", 12095, 23678, 23678, 11551, 544, 544, 12127},
	{"epfl_sin", 5440, 10832, 10105, 4195, 1245, 428, 5910},
}

//go:embed testdata/dags/*.txt
var lists embed.FS

// Load returns the number of nodes and the edges of a published graph.
func Load(t testing.TB, name string) (nodes int, edges []Edge) {
	t.Helper()
	data, err := lists.ReadFile("testdata/dags/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	r := bytes.NewReader(data)
	var m int
	if _, err := fmt.Fscan(r, &nodes, &m); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	edges = make([]Edge, m)
	for i := range edges {
		if _, err := fmt.Fscan(r, &edges[i].From, &edges[i].To); err != nil {
			t.Fatalf("%s: edge %d: %v", name, i, err)
		}
	}
	return nodes, edges
}
