package taskgraph

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// member returns a family's graph for k.
func member(t *testing.T, name string, k int) *Graph {
	i := slices.IndexFunc(families, func(f Family) bool { return f.Name == name })
	require.GreaterOrEqual(t, i, 0, name)
	p := &plot{random: rand.New(rand.NewPCG(1, 1))}
	families[i].plot(p, k)
	return &Graph{name, p.tasks}
}

// longest returns the number of tasks on the longest path.
func (g *Graph) longest() (most int) {
	length := make([]int, len(g.tasks))
	for v, t := range g.tasks {
		for _, u := range t.after {
			length[v] = max(length[v], length[u])
		}
		length[v]++
		most = max(most, length[v])
	}
	return most
}

// TestFamiliesHaveThePublishedSizes compares the numbers of tasks, in all and on the longest path, with the
// literature: for factorizations of t by t tiles; for elimination of a matrix with m columns, (m² + m - 2) / 2 tasks;
// for the transform of m points, 2m - 1 calls and m log m butterflies.
func TestFamiliesHaveThePublishedSizes(t *testing.T) {
	for k := 1; k <= 6; k++ {
		points, m := 1<<k, k+1
		for _, want := range []struct {
			name           string
			tasks, longest int
		}{
			{"chain", k, k},
			{"parallel", k, 1},
			{"cholesky", k * (k + 1) * (k + 2) / 6, 3*k - 2},
			{"lu", k * (k + 1) * (2*k + 1) / 6, 3*k - 2},
			{"qr", k * (k + 1) * (2*k + 1) / 6, 0},
			{"gauss", (m*m + m - 2) / 2, 2 * k},
			{"fft", 2*points - 1 + points*k, 2*k + 1},
			{"outtree", points - 1, k},
			{"intree", points - 1, k},
			{"wavefront", k * k, 2*k - 1},
			{"stencil", k * (k + 1), k + 1},
			{"montage", (k + 1) + (2*k - 1) + 2 + (k + 1) + 4, 9},
			{"cybershake", 2 + 4*k + 2, 4},
			{"epigenomics", 4*(2+4*k) + 3, 9},
			{"inspiral", 22 * k, 6},
		} {
			g := member(t, want.name, k)
			assert.Equal(t, want.tasks, g.Len(), "%s of %d", want.name, k)
			if want.longest > 0 {
				assert.Equal(t, want.longest, g.longest(), "%s of %d", want.name, k)
			}
		}
	}
}

// TestFactorizationsDoTheKnownWork compares the work, in multiplications of tiles, with a sixth, a third and two
// thirds of the matrix's cube, to leading order.
func TestFactorizationsDoTheKnownWork(t *testing.T) {
	const k = 40
	for name, share := range map[string]float64{"cholesky": 1. / 6, "lu": 1. / 3, "qr": 2. / 3} {
		work := 0.0
		for _, t := range member(t, name, k).tasks {
			work += t.work
		}
		assert.InEpsilon(t, share*k*k*k, work, 0.05, name)
	}
}

func TestDraw(t *testing.T) {
	for i := range families {
		f := &families[i]
		for _, tasks := range []int{1, 30, 100} {
			g := f.Draw(tasks, 7)
			assert.GreaterOrEqual(t, g.Len(), tasks, f.Name)
			assert.Less(t, g.Len(), 8*tasks+64, f.Name)
			assert.Equal(t, g, f.Draw(tasks, 7), f.Name)
		}
		if f.Name != "parallel" {
			assert.Greater(t, f.Draw(30, 1).longest(), 1, f.Name)
		}
	}
}

// TestFormsAgree expects that both forms are valid and have the same dependencies between tasks.
func TestFormsAgree(t *testing.T) {
	for i := range families {
		g := families[i].Draw(40, 3)
		empty, launches := analyzed(t, g.Empty(time.Microsecond)), analyzed(t, g.Launches(16))
		want := map[[2]ir.OpID]bool{}
		for _, d := range empty.Deps() {
			want[[2]ir.OpID{d.From, d.To}] = true
		}
		got := map[[2]ir.OpID]bool{}
		for _, d := range launches.Deps() {
			if launches.Ops[d.From].Launch != nil && launches.Ops[d.To].Launch != nil {
				got[[2]ir.OpID{d.From - transfers, d.To - transfers}] = true
			}
		}
		assert.Equal(t, want, got, families[i].Name)
		assert.LessOrEqual(t, launches.Len(), g.Len()+2*transfers, families[i].Name)
	}
}

func analyzed(t *testing.T, g *ir.Graph) *ir.Graph {
	require.NoError(t, ir.Verify(g))
	r, err := optimizer.Plan(g, optimizer.Options{Passes: []string{"hazards"}})
	require.NoError(t, err)
	return r.Analyzed
}

// TestLaunchesPrint expects that the text of a program can be parsed again.
func TestLaunchesPrint(t *testing.T) {
	g := member(t, "cholesky", 3).Launches(16)
	f, err := ir.Parse("x.rir", ir.Print(g))
	require.NoError(t, err)
	assert.Equal(t, ir.Print(g), ir.Print(f.Graph))
}

// TestReductionFollowsTheDefinition compares the reduction of each family with the definition: an edge is removed if
// its end can be reached from another successor of its start.
func TestReductionFollowsTheDefinition(t *testing.T) {
	for i := range families {
		g := families[i].Draw(150, 5)
		r, err := optimizer.Plan(g.Empty(time.Microsecond), optimizer.Options{Passes: []string{"hazards", "reduce"}})
		require.NoError(t, err)
		succs := make([][]int, g.Len())
		for v, task := range g.tasks {
			for _, u := range ids(task.after) {
				succs[u] = append(succs[u], v)
			}
		}
		want := map[[2]int]bool{}
		for u := range succs {
			beyond := met(succs, u)
			for _, v := range succs[u] {
				if !beyond[v] {
					want[[2]int{u, v}] = true
				}
			}
		}
		got := map[[2]int]bool{}
		for _, d := range r.Reduced.Deps() {
			got[[2]int{int(d.From), int(d.To)}] = true
		}
		assert.Equal(t, want, got, families[i].Name)
	}
}

// met returns the tasks that paths of two or more edges reach from u.
func met(succs [][]int, u int) map[int]bool {
	found := map[int]bool{}
	for next := slices.Clone(succs[u]); len(next) > 0; next = next[1:] {
		for _, w := range succs[next[0]] {
			if !found[w] {
				found[w] = true
				next = append(next, w)
			}
		}
	}
	return found
}
