package network

import (
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/importer"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// build builds and verifies a network for the GPU of the paper.
func build(t testing.TB, name string) *ir.Graph {
	t.Helper()
	p, err := profiles.Lookup("v100")
	require.NoError(t, err)
	g, err := Build(name, p)
	require.NoError(t, err)
	require.NoError(t, ir.Verify(g))
	return g
}

// published holds figures of published edge lists of these networks, taken from programs that run them: nodes, edges,
// edges of the transitive reduction, size of a maximum matching on it, and width. Two of the lists divide the
// network into other operations. added is the number of nodes that they have in addition, all of them in chains. A node
// that is inserted into a chain adds one to the nodes, the edges and the matching, and
// changes nothing else.
var published = []struct {
	name                                  string
	nodes, edges, reduced, matched, width int
	added                                 int
}{
	{"nasnet-a-mobile", 791, 946, 918, 674, 13, 0},
	{"nasnet-a-large", 998, 1213, 1173, 839, 16, 0},
	{"darts", 549, 649, 623, 489, 7, 0},
	{"amoebanet-a", 557, 657, 645, 479, 11, 0},
	// Each of 94 convolutions has a normalization and a scale of its own, and there is a softmax.
	{"inception-v3", 404, 438, 438, 368, 6, 2*94 + 1},
	// 16 nodes that split and a softmax more; 33 ReLUs are in their convolutions.
	{"resnet-50", 106, 121, 109, 101, 2, 16 + 1 - 33},
}

func TestNetworksHaveThePublishedShape(t *testing.T) {
	require.Len(t, published, len(Networks()))
	for _, want := range published {
		g := build(t, want.name)
		r, err := optimizer.Plan(g, optimizer.Options{Strategy: "nimble", Passes: []string{"hazards", "reduce", "assign", "syncs"}, Verify: true})
		require.NoError(t, err)
		reduced := len(r.Reduced.Deps())
		assert.Equal(t, want.nodes, g.Len()+want.added, "%s: nodes", want.name)
		assert.Equal(t, want.reduced, reduced+want.added, "%s: edges that no others imply", want.name)
		assert.Equal(t, want.matched, reduced-r.Schedule.Syncs()+want.added, "%s: matching", want.name)
		assert.Equal(t, want.width, r.Schedule.Lanes, "%s: width", want.name)
		if want.name != "resnet-50" { // its list has a splitting node at the start of an implied edge
			assert.Equal(t, want.edges, edges(g)+want.added, "%s: edges", want.name)
		}
	}
}

func edges(g *ir.Graph) (n int) {
	for i := range g.Ops {
		n += len(g.Ops[i].After)
	}
	return n
}

// TestReductionOfNetworksFollowsTheDefinition compares the reduction with the definition: an edge remains if no
// longer path connects its ends.
func TestReductionOfNetworksFollowsTheDefinition(t *testing.T) {
	for _, n := range Networks() {
		g := build(t, n.Name)
		r, err := optimizer.Plan(g, optimizer.Options{Passes: []string{"hazards", "reduce"}})
		require.NoError(t, err)
		var got, want [][2]ir.OpID
		for _, d := range r.Reduced.Deps() {
			got = append(got, [2]ir.OpID{d.From, d.To})
		}
		for v := range g.Ops {
			for _, u := range g.Ops[v].After {
				if !longer(g, u, ir.OpID(v)) {
					want = append(want, [2]ir.OpID{u, ir.OpID(v)})
				}
			}
		}
		assert.Equal(t, want, got, n.Name)
	}
}

// longer reports whether a path of two or more edges leads from u to v, by marking all
// that comes before v's other predecessors.
func longer(g *ir.Graph, u, v ir.OpID) bool {
	before := make([]bool, g.Len())
	for _, p := range g.Ops[v].After {
		if p != u {
			before[p] = true
		}
	}
	for x := v - 1; x > u; x-- {
		if before[x] {
			for _, p := range g.Ops[x].After {
				before[p] = true
			}
		}
	}
	return before[u]
}

// TestNetworksAreTheGraphsOthersPublished compares our graphs with published edge lists, whose nodes have other
// numbers, by colour refinement (Weisfeiler and Leman). Two of the lists divide the network into other operations.
// For these, only the skeletons are compared, without implied edges and with chains contracted.
func TestNetworksAreTheGraphsOthersPublished(t *testing.T) {
	for _, c := range []struct {
		name, file string
		skeleton   bool
	}{
		{"nasnet-a-mobile", "nasnet_a_mobile", false},
		{"darts", "darts", false},
		{"inception-v3", "inception_v3", true},
		{"resnet-50", "resnet50", true},
	} {
		path := "../../dense/densetest/testdata/dags/" + c.file + ".txt"
		src, err := os.ReadFile(path)
		require.NoError(t, err)
		theirs, err := importer.Read(path, string(src), importer.Options{Format: "counted"})
		require.NoError(t, err)
		ours := build(t, c.name)
		if c.skeleton {
			theirs, ours = skeleton(theirs), skeleton(ours)
		}
		require.True(t, slices.Equal(colours(theirs), colours(ours)), c.name)
		last := &ours.Ops[ours.Len()-1]
		last.After = last.After[1:]
		require.False(t, slices.Equal(colours(theirs), colours(ours)), "%s without an edge", c.name)
	}
}

// skeleton returns a graph without implied edges, with each chain contracted to
// one operation.
func skeleton(g *ir.Graph) *ir.Graph {
	after, outs := make([][]ir.OpID, g.Len()), make([]int, g.Len())
	for v := range g.Ops {
		for _, u := range g.Ops[v].After {
			if !longer(g, u, ir.OpID(v)) {
				after[v] = append(after[v], u)
				outs[u]++
			}
		}
	}
	chain := make([]ir.OpID, g.Len()) // by operation: its chain
	short := &ir.Graph{}
	for v, us := range after {
		if len(us) == 1 && outs[us[0]] == 1 {
			chain[v] = chain[us[0]]
			continue
		}
		chain[v] = ir.OpID(short.Len())
		var op ir.Op
		for _, u := range us {
			op.After = append(op.After, chain[u])
		}
		short.Ops = append(short.Ops, op)
	}
	return short
}

// colours refines the colours of operations by those of their neighbours until that
// has gone as far as paths go, and returns them sorted.
func colours(g *ir.Graph) []uint64 {
	n := g.Len()
	succs := make([][]ir.OpID, n)
	for v := range g.Ops {
		for _, u := range g.Ops[v].After {
			succs[u] = append(succs[u], ir.OpID(v))
		}
	}
	colour := make([]uint64, n)
	for range 60 {
		next := make([]uint64, n)
		for v := range next {
			h := fnv.New64a()
			fmt.Fprint(h, colour[v], sorted(colour, g.Ops[v].After), sorted(colour, succs[v]))
			next[v] = h.Sum64()
		}
		colour = next
	}
	slices.Sort(colour)
	return colour
}

func sorted(colour []uint64, ids []ir.OpID) []uint64 {
	of := make([]uint64, len(ids))
	for i, v := range ids {
		of[i] = colour[v]
	}
	slices.Sort(of)
	return of
}

// TestNetworksHaveThePublishedSize compares weights and multiply-adds, in millions, with the figures in the papers or
// of the published weights. There are none for AmoebaNet-A within this network. Liu et al. give 574 million
// multiplications for DARTS, 8 % more than its convolutions require.
func TestNetworksHaveThePublishedSize(t *testing.T) {
	for name, want := range map[string]struct{ params, macs float64 }{
		"resnet-50":       {25.6, 4100},
		"inception-v3":    {23.8, 5700},
		"nasnet-a-mobile": {5.3, 564},
		"nasnet-a-large":  {88.9, 23800},
		"darts":           {4.7, 0},
	} {
		i := slices.IndexFunc(networks, func(n Network) bool { return n.Name == name })
		tape := &tape{device: profiles.All()[0]}
		networks[i].build(tape)
		assert.InEpsilon(t, want.params, tape.params/1e6, 0.01, "%s: weights", name)
		if want.macs > 0 {
			assert.InEpsilon(t, want.macs, tape.macs/1e6, 0.01, "%s: multiplications", name)
		}
	}
}

// TestCostsAreARoofline expects the cost of an operation to be the start of a kernel plus the maximum of the times
// for its bytes and for its arithmetic at peak rates. A view costs nothing.
func TestCostsAreARoofline(t *testing.T) {
	p := &model.Profile{SMs: 10, ClockMHz: 1000, MemoryGBps: 100, LinkGBps: 10, KernelRamp: 2 * model.Microsecond, CopyInLatency: 7 * model.Microsecond}
	p.Lanes[0] = 100 // 10^12 a second
	tape := &tape{device: p}
	x := tape.image(1000)
	x.c, x.h, x.w = 1000, 10, 10 // 400 kB
	x = tape.relu(x)
	x = tape.conv(x, 1000, same(3, 1))
	tape.cut(x)
	assert.Equal(t, int64(7000+1_200_000), tape.ops[0].Cost, "12 MB at 10 GB/s")
	assert.Equal(t, int64(2000+8000), tape.ops[1].Cost, "800 kB at 100 GB/s")
	assert.Equal(t, int64(2000+900_000), tape.ops[2].Cost, "900 million multiplications at 1 a ps")
	assert.Equal(t, int64(0), tape.ops[3].Cost)
	assert.Equal(t, []ir.OpID{2}, tape.ops[3].After)
}

func TestAnUnknownNetworkIsAnError(t *testing.T) {
	_, err := Build("resnet-5", profiles.All()[0])
	require.ErrorContains(t, err, `no network is called "resnet-5"`)
	assert.ErrorContains(t, err, `(did you mean "resnet-50"?)`)
}
