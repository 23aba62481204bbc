package why

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/irtest"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// relation is a set of pairs of operations.
type relation [][]bool

func newRelation(n int) relation {
	r := make(relation, n)
	for v := range r {
		r[v] = make([]bool, n)
	}
	return r
}

// closed returns the transitive closure.
func (r relation) closed() relation {
	c := newRelation(len(r))
	for u := range r {
		copy(c[u], r[u])
	}
	for k := range c {
		for u := range c {
			for v := range c {
				c[u][v] = c[u][v] || c[u][k] && c[k][v]
			}
		}
	}
	return c
}

// around reports whether a path of two or more steps leads from u to v.
func (r relation) around(closure relation, u, v int) bool {
	for k := range r {
		if closure[u][k] && closure[k][v] {
			return true
		}
	}
	return false
}

// required returns the pairs that conflict or that an after edge orders, by comparing all pairs.
func required(g *ir.Graph) relation {
	r := newRelation(g.Len())
	for _, d := range irtest.Analyze(g).Deps() {
		r[d.From][d.To] = true
	}
	return r
}

// planned returns the order of a schedule, without the wait of one operation for another.
func planned(s *ir.Schedule, without [2]ir.OpID) relation {
	r := newRelation(s.Graph.Len())
	for i, u := range s.Order {
		for _, v := range s.Order[i+1:] {
			r[u][v] = s.Lane[u] == s.Lane[v]
		}
		for _, w := range s.Waits[u] {
			r[w][u] = r[w][u] || without != [2]ir.OpID{w, u}
		}
	}
	return r.closed()
}

func plans(t *testing.T, check func(g *ir.Graph, p *Plan)) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 23))
		g := irtest.Random(r, 4+r.IntN(12))
		if seed%3 == 0 {
			g = irtest.Strided(r, 4+r.IntN(12))
		}
		for _, strategy := range []string{"serial", "nimble", "levels(2)", "auto"} {
			opts := optimizer.Options{Strategy: strategy, Custom: profiles.All()[0], Streams: seed%2 == 0}
			if strategy == "auto" && seed > 0 {
				continue
			}
			p, err := New(g, opts)
			require.NoError(t, err)
			require.Equal(t, g.Len(), p.Schedule().Graph.Len())
			check(g, p)
		}
	}
}

// Each pair of operations has the kind of edge and the order in the plan that a comparison of all pairs finds.
func TestEdgesAgreeWithAllPairs(t *testing.T) {
	kinds, ways := map[string]int{}, map[string]int{}
	plans(t, func(g *ir.Graph, p *Plan) {
		needs, order := required(g), planned(p.Schedule(), [2]ir.OpID{})
		closure := needs.closed()
		for u := range g.Ops {
			for v := u + 1; v < g.Len(); v++ {
				e, err := p.Edge(ir.OpID(u).String(), ir.OpID(v).String())
				require.NoError(t, err)
				want := None
				switch around := needs.around(closure, u, v); {
				case needs[u][v] && !around:
					want = Direct
				case needs[u][v]:
					want = Implied
				case around:
					want = Ordered
				}
				require.Equal(t, want, e.Kind, "%v -> %v", u, v)
				require.Equal(t, needs[u][v], e.Explicit || len(e.Conflicts) > 0)
				require.Equal(t, order[u][v], e.By != ByNone, "%v -> %v in the plan", u, v)
				if want != None {
					require.NotEqual(t, ByNone, e.By, "the plan keeps %v -> %v", u, v)
				}
				checkPath(t, e, closure, p, u)
				kinds[e.Kind]++
				ways[e.By]++
			}
		}
	})
	for _, kind := range []string{Direct, Implied, Ordered, None} {
		assert.Greater(t, kinds[kind], 20, kind)
	}
	for _, by := range []string{ByLane, ByWait, ByPath, ByNone} {
		assert.Greater(t, ways[by], 20, by)
	}
}

// checkPath checks that each step of the path of other dependencies is a dependency.
func checkPath(t *testing.T, e *Edge, closure relation, p *Plan, u int) {
	if e.Kind == Direct || e.Kind == None {
		require.Empty(t, e.Others)
		return
	}
	require.GreaterOrEqual(t, len(e.Others), 3)
	require.Equal(t, e.From.Name, e.Others[0])
	require.Equal(t, e.To.Name, e.Others[len(e.Others)-1])
	for _, name := range e.Others[1:] {
		_, v, err := p.find(name)
		require.NoError(t, err)
		require.True(t, closure[u][v], "%v -> %v", u, v)
		u = int(v)
	}
}

// Without a dependency, exactly the other conflicts and after edges remain ordered.
func TestDropKeepsAllOthers(t *testing.T) {
	dropped := 0
	plans(t, func(g *ir.Graph, p *Plan) {
		for _, d := range p.result.Reduced.Deps() {
			needs := required(g)
			needs[d.From][d.To] = false
			less, err := drop(p.result.Analyzed, d.From, d.To)
			require.NoError(t, err)
			got := newRelation(g.Len())
			for _, e := range less.Deps() {
				got[e.From][e.To] = true
			}
			require.Equal(t, needs.closed(), got.closed(), "without %v -> %v", d.From, d.To)
			dropped++
		}
	})
	assert.Greater(t, dropped, 200)
}

// A wait keeps the dependencies that the lanes and the other waits do not order, and every wait that is no delay keeps one.
func TestWaitsKeepDependencies(t *testing.T) {
	indirect := 0
	plans(t, func(g *ir.Graph, p *Plan) {
		c := p.scopes[0]
		for v, on := range p.Schedule().Waits {
			for _, u := range on {
				order := planned(p.Schedule(), [2]ir.OpID{u, ir.OpID(v)})
				want := map[[2]ir.OpID]bool{}
				for _, d := range p.result.Reduced.Deps() {
					if !order[d.From][d.To] {
						want[[2]ir.OpID{d.From, d.To}] = true
					}
				}
				got := map[[2]ir.OpID]bool{}
				for _, d := range c.keeps(u, ir.OpID(v)) {
					got[[2]ir.OpID{d.From, d.To}] = true
					if d.From != u || int(d.To) != v {
						indirect++
					}
				}
				require.Equal(t, want, got)
				require.Equal(t, c.by(u, ir.OpID(v)) == ByDelay, len(got) == 0)
			}
		}
	})
	assert.Greater(t, indirect, 10)
}

// Every operation of programs with loops and branches can be explained, under the name and the number that the explanation has.
func TestOperationsOfBodies(t *testing.T) {
	inside := 0
	for seed := range uint64(10) {
		g := irtest.Controlled(rand.New(rand.NewPCG(seed, 5)), 8, 2)
		p, err := New(g, optimizer.Options{Custom: profiles.All()[0]})
		require.NoError(t, err)
		for _, c := range p.scopes {
			for v := range c.schedule.Graph.Ops {
				want := c.ref(ir.OpID(v))
				for _, text := range []string{want.Name, want.Number} {
					o, err := p.Operation(text)
					require.NoError(t, err)
					require.Equal(t, want, o.Ref, fmt.Sprint(seed, text))
				}
				if c.path != "" {
					inside++
				}
			}
		}
	}
	assert.Greater(t, inside, 20)
}
