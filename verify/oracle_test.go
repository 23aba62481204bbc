package verify_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/irtest"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/verify"
)

// oracle decides by brute force what package verify computes: the transitive closure of lanes and waits, and the bytes
// of each pair of operations. It shares no code with it.
type oracle struct {
	s      *ir.Schedule
	before [][]bool // by operation: those that precede it
}

// newOracle returns the oracle of a schedule without a wait, the k-th of operation v; v is -1 for none.
func newOracle(s *ir.Schedule, v ir.OpID, k int) *oracle {
	o := &oracle{s, make([][]bool, s.Graph.Len())}
	last := map[ir.LaneID]ir.OpID{}
	for _, id := range s.Order {
		o.before[id] = make([]bool, s.Graph.Len())
		var preds []ir.OpID
		if u, ok := last[s.Lane[id]]; ok {
			preds = append(preds, u)
		}
		for i, u := range s.Waits[id] {
			if id != v || i != k {
				preds = append(preds, u)
			}
		}
		last[s.Lane[id]] = id
		for _, u := range preds {
			o.before[id][u] = true
			for w, yes := range o.before[u] {
				o.before[id][w] = o.before[id][w] || yes
			}
		}
	}
	return o
}

// races returns the pairs that conflict and are not ordered.
func (o *oracle) races() (all [][2]ir.OpID) {
	for v := range o.before {
		for u := range v {
			if conflicting(o.s.Graph, ir.OpID(u), ir.OpID(v)) && !o.before[v][u] {
				all = append(all, [2]ir.OpID{ir.OpID(u), ir.OpID(v)})
			}
		}
	}
	return all
}

// conflicting compares each run of bytes of one operation with each run of the other.
func conflicting(g *ir.Graph, u, v ir.OpID) bool {
	for _, a := range runsOf(g, u) {
		for _, b := range runsOf(g, v) {
			if a.Buffer == b.Buffer && a.Lo < b.Hi && b.Lo < a.Hi && (a.Mode.Writes() || b.Mode.Writes()) {
				return true
			}
		}
	}
	return false
}

// runsOf returns the runs of bytes that an operation accesses, as accesses without strides.
func runsOf(g *ir.Graph, v ir.OpID) (runs []ir.Access) {
	var scratch [2]ir.Access
	for _, a := range g.Ops[v].Accesses(&scratch) {
		if a.Empty() {
			continue
		}
		g.Box(a).Runs(func(lo, hi int64) bool {
			runs = append(runs, ir.Access{Range: ir.Range{Buffer: a.Buffer, Lo: lo, Hi: hi}, Mode: a.Mode})
			return true
		})
	}
	return runs
}

// randomSchedule returns a schedule of a random program that keeps only some of the order that its accesses need. The
// program declares no dependencies, so that package ir does not refuse the schedule.
func randomSchedule(t *testing.T, r *rand.Rand, g *ir.Graph) *ir.Schedule {
	for v := range g.Ops {
		op := &g.Ops[v]
		op.After = nil
		if op.Kind == ir.KindPrefetch { // a graph has it before or behind all nodes, by the dependencies
			op.Kind, op.Prefetch = ir.KindEmpty, nil
		}
	}
	s := irtest.Schedule(r, irtest.Analyze(g), 1+r.IntN(4))
	none, err := g.WithDeps(ir.Analyzed, nil, nil)
	require.NoError(t, err)
	bare := *s
	bare.Graph, bare.Delays, bare.Joined = none, nil, nil
	bare.Waits = slices.Clone(s.Waits)
	rare := 2 + 60*r.IntN(2)
	for v := range bare.Waits {
		bare.Waits[v] = slices.DeleteFunc(slices.Clone(bare.Waits[v]), func(ir.OpID) bool { return r.IntN(rare) == 0 })
	}
	return &bare
}

func TestCheckAgreesWithBruteForce(t *testing.T) {
	right, wrong := 0, 0
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 7))
		g := irtest.Random(r, 4+r.IntN(20))
		switch seed % 3 {
		case 1:
			g = irtest.Strided(r, 4+r.IntN(20))
		case 2:
			g = irtest.Contended(r, 4+r.IntN(20))
		}
		s := randomSchedule(t, r, g)
		want := newOracle(s, -1, 0).races()
		for _, form := range graphexec.Backends() {
			proof, err := verify.Check(s, form)
			require.NoError(t, err)
			require.Equal(t, len(want) == 0, proof.OK(), "seed %d, %v: %v %v", seed, form, want, proof.Races)
			for _, race := range proof.Races {
				assert.Zero(t, race.Later)
				found := slices.ContainsFunc(want, func(p [2]ir.OpID) bool {
					return named(g, race.First) == p[0] && named(g, race.Second) == p[1]
				})
				assert.True(t, found, "seed %d, %v: %s", seed, form, race.String())
			}
			if proof.OK() {
				right++
			} else {
				wrong++
			}
		}
	}
	assert.Greater(t, right, 50, "right plans")
	assert.Greater(t, wrong, 40, "wrong plans")
}

// named returns the operation whose name begins with its number.
func named(g *ir.Graph, name string) ir.OpID {
	for v := range g.Ops {
		if n := ir.OpID(v).String(); len(name) > len(n) && name[:len(n)+1] == n+" " {
			return ir.OpID(v)
		}
	}
	return -1
}
