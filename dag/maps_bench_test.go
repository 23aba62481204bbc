package dag

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/coloring"
	"gonum.org/v1/gonum/graph/flow"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"

	"github.com/reprise-gpu/reprise/internal/dense"
	"github.com/reprise-gpu/reprise/internal/dense/densetest"
)

// BenchmarkMaps compares one task on gonum's graphs, whose nodes and edges are in maps, with the same
// on rows. It reports how many times as long gonum's form takes as the function of this package, which
// reads one of gonum's graphs, and as the dense form itself. All run in turns.
func BenchmarkMaps(b *testing.B) {
	for _, c := range benchmarkGraphs(b) {
		d := dense.NewGraph(c.n, c.edges)
		succs := make([][]int32, c.n)
		for v := range succs {
			succs[v] = d.Succs(int32(v))
		}
		b.Run("order/"+c.name, func(b *testing.B) {
			turns{
				maps: func() { _, err := topo.Sort(c.g); require.NoError(b, err) },
				dense: func() {
					require.Len(b, dense.Order(func(v int32) []int32 { return succs[v] }, make([]int32, c.n)), c.n)
				},
			}.run(b)
		})
		b.Run("dominators/"+c.name, func(b *testing.B) {
			turns{
				maps:  func() { flow.Dominators(simple.Node(0), c.g) },
				dense: func() { dense.Dominators(0, succs) },
			}.run(b)
		})
		b.Run("reduce/"+c.name, func(b *testing.B) {
			turns{
				maps:  func() { reduceMaps(c.g) },
				dag:   func() { _, err := Reduce(c.g); require.NoError(b, err) },
				dense: func() { d.Without(d.ReduceFully().Redundant) },
			}.run(b)
		})
		b.Run("matching/"+c.name, func(b *testing.B) {
			turns{
				maps:  func() { matchMaps(c.g) },
				dag:   func() { _, err := MinimumPathCover(c.g); require.NoError(b, err) },
				dense: func() { dense.MaximumMatching(d.Rows) },
			}.run(b)
		})
		if c.n > maxColored {
			continue
		}
		b.Run("colouring/"+c.name, func(b *testing.B) {
			apart, err := Incomparability(c.g)
			require.NoError(b, err)
			copied := simple.NewUndirectedGraph()
			graph.Copy(copied, apart)
			turns{
				maps: func() { _, _, err := coloring.Dsatur(copied, nil); require.NoError(b, err) },
				dag:  func() { _, _, err := coloring.Dsatur(apart, nil); require.NoError(b, err) },
			}.run(b)
		})
	}
}

// maxColored bounds the graphs whose incomparability graph is coloured.
const maxColored = 150

// benchmarkGraph is one graph in both forms.
type benchmarkGraph struct {
	name  string
	n     int
	edges []dense.Edge
	g     *simple.DirectedGraph
}

func benchmarkGraphs(b *testing.B) (graphs []benchmarkGraph) {
	add := func(name string, n int, edges []dense.Edge) {
		g := simple.NewDirectedGraph()
		for v := range n {
			g.AddNode(simple.Node(v))
		}
		for _, e := range edges {
			g.SetEdge(simple.Edge{F: simple.Node(e.From), T: simple.Node(e.To)})
		}
		graphs = append(graphs, benchmarkGraph{name, n, edges, g})
	}
	for _, name := range []string{"googlenet", "nasnet_a_mobile", "epfl_sin"} {
		n, edges := densetest.Load(b, name)
		add(name, n, edges)
	}
	r := rand.New(rand.NewPCG(76, 76))
	add("random", 5000, densetest.RandomEdges(r, 5000, 15_000, 100))
	return graphs
}

// turns are forms of one task.
type turns struct{ maps, dag, dense func() }

// run measures them in turns, and reports the ratios of their shortest times.
func (t turns) run(b *testing.B) {
	maps, dag, dense := time.Hour, time.Hour, time.Hour
	measure := func(least *time.Duration, f func()) {
		if f != nil {
			start := time.Now()
			f()
			*least = min(*least, time.Since(start))
		}
	}
	for b.Loop() {
		measure(&maps, t.maps)
		measure(&dag, t.dag)
		measure(&dense, t.dense)
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(maps.Microseconds()), "maps-us")
	if t.dag != nil {
		b.ReportMetric(float64(maps)/float64(dag), "maps/dag")
	}
	if t.dense != nil {
		b.ReportMetric(float64(maps)/float64(dense), "maps/dense")
	}
}

// reduceMaps is a transitive reduction by gonum's interface: an edge is redundant if its end is met on
// a walk from another successor of its start. A walk does not go beyond the last successor in the
// topological order, as the search of the dense form.
func reduceMaps(g *simple.DirectedGraph) *simple.DirectedGraph {
	order, err := topo.Sort(g)
	if err != nil {
		panic(err)
	}
	place := make(map[int64]int, len(order))
	reduced := simple.NewDirectedGraph()
	for i, n := range order {
		place[n.ID()] = i
		reduced.AddNode(n)
	}
	for _, u := range order {
		last := 0
		succs := graph.NodesOf(g.From(u.ID()))
		for _, v := range succs {
			last = max(last, place[v.ID()])
		}
		met := map[int64]bool{}
		for _, v := range succs {
			stack := []int64{v.ID()}
			for len(stack) > 0 {
				id := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				for to := g.From(id); to.Next(); {
					if w := to.Node().ID(); !met[w] && place[w] <= last {
						met[w] = true
						stack = append(stack, w)
					}
				}
			}
		}
		for _, v := range succs {
			if !met[v.ID()] {
				reduced.SetEdge(g.Edge(u.ID(), v.ID()))
			}
		}
	}
	return reduced
}

// matchMaps is the algorithm of Hopcroft and Karp by gonum's interface. It returns the size.
func matchMaps(g *simple.DirectedGraph) (size int) {
	right, left := map[int64]int64{}, map[int64]int64{}
	nodes := graph.NodesOf(g.Nodes())
	for {
		level := map[int64]int{}
		var queue []int64
		for _, u := range nodes {
			if _, matched := right[u.ID()]; !matched {
				level[u.ID()] = 0
				queue = append(queue, u.ID())
			}
		}
		for ; len(queue) > 0; queue = queue[1:] {
			for to := g.From(queue[0]); to.Next(); {
				if w, matched := left[to.Node().ID()]; matched {
					if _, seen := level[w]; !seen {
						level[w] = level[queue[0]] + 1
						queue = append(queue, w)
					}
				}
			}
		}
		var augment func(u int64) bool
		augment = func(u int64) bool {
			for to := g.From(u); to.Next(); {
				v := to.Node().ID()
				w, matched := left[v]
				if !matched || level[w] == level[u]+1 && augment(w) {
					right[u], left[v] = v, u
					return true
				}
			}
			delete(level, u)
			return false
		}
		before := size
		for _, u := range nodes {
			if _, matched := right[u.ID()]; !matched && augment(u.ID()) {
				size++
			}
		}
		if size == before {
			return size
		}
	}
}

// The tasks on maps that are written here do what the others do.
func TestMapsAgree(t *testing.T) {
	each(t, 20, func(t *testing.T, d drawn, _ [][]bool) {
		want, err := Reduce(d.DirectedGraph)
		require.NoError(t, err)
		got := reduceMaps(d.DirectedGraph)
		require.Equal(t, want.Edges().Len(), got.Edges().Len())
		for edges := got.Edges(); edges.Next(); {
			require.True(t, want.HasEdgeFromTo(edges.Edge().From().ID(), edges.Edge().To().ID()))
		}
		require.Equal(t, densetest.Matching(d.n, d.edges), matchMaps(d.DirectedGraph))
	})
}
