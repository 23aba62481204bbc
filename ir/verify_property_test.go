package ir_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/irtest"
	"github.com/reprise-gpu/reprise/ir"
)

// random returns a random graph, with strides for odd seeds.
func random(r *rand.Rand, seed uint64, ops int) *ir.Graph {
	if seed%2 == 1 {
		return irtest.Strided(r, ops)
	}
	return irtest.Random(r, ops)
}

// matrix is reachability by brute force: m[v][u] reports that a path leads from u to v.
type matrix [][]bool

func reachability(n int, order []ir.OpID, preds func(ir.OpID) []ir.OpID) matrix {
	m := make(matrix, n)
	for _, v := range order {
		m[v] = make([]bool, n)
		for _, u := range preds(v) {
			m[v][u] = true
			for w, yes := range m[u] {
				m[v][w] = m[v][w] || yes
			}
		}
	}
	return m
}

func programOrder(g *ir.Graph) []ir.OpID {
	ids := make([]ir.OpID, g.Len())
	for v := range ids {
		ids[v] = ir.OpID(v)
	}
	return ids
}

func graphReach(g *ir.Graph) matrix {
	return reachability(g.Len(), programOrder(g), func(v ir.OpID) (us []ir.OpID) {
		for _, d := range g.DepsInto(v) {
			us = append(us, d.From)
		}
		return us
	})
}

func scheduleReach(s *ir.Schedule) matrix {
	return reachability(s.Graph.Len(), s.Order, func(v ir.OpID) []ir.OpID {
		us := slices.Clone(s.Waits[v])
		for _, u := range s.Order[:slices.Index(s.Order, v)] {
			if s.Lane[u] == s.Lane[v] {
				us = append(us, u)
			}
		}
		return us
	})
}

// lost returns a dependency of g that m does not order, and whether there is one.
func lost(g *ir.Graph, m matrix) (ir.Dep, bool) {
	for _, d := range g.Deps() {
		if !m[d.To][d.From] {
			return d, true
		}
	}
	return ir.Dep{}, false
}

func withDeps(t *testing.T, g *ir.Graph, phase ir.Phase, deps []ir.Dep) *ir.Graph {
	var causes ir.Causes
	deps = slices.Clone(deps)
	for i := range deps {
		deps[i].Cause = causes.ID(g.Cause(deps[i]))
	}
	h, err := g.WithDeps(phase, deps, causes.Ranges())
	require.NoError(t, err)
	return h
}

// reduce drops the dependencies that paths over others imply.
func reduce(t *testing.T, g *ir.Graph) *ir.Graph {
	m := graphReach(g)
	deps := slices.DeleteFunc(slices.Clone(g.Deps()), func(d ir.Dep) bool {
		return slices.ContainsFunc(g.DepsInto(d.To), func(e ir.Dep) bool { return m[e.From][d.From] })
	})
	return withDeps(t, g, ir.Reduced, deps)
}

func TestVerifyAcceptsWhatIsValid(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 3))
		g := random(r, seed, r.IntN(40))
		require.NoError(t, ir.Verify(g), "seed %d", seed)
		all := irtest.Analyze(g)
		require.NoError(t, ir.Verify(all), "seed %d", seed)
		few := reduce(t, all)
		require.NoError(t, ir.Verify(few), "seed %d", seed)
		for _, h := range []*ir.Graph{all, few} {
			require.NoError(t, ir.VerifySchedule(irtest.Schedule(r, h, 6)), "seed %d", seed)
		}
	}
}

// A dropped dependency is an error exactly when the others do not imply it.
func TestVerifyMissesNoDroppedDependency(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 4))
		all := irtest.Analyze(random(r, seed, 2+r.IntN(30)))
		if len(all.Deps()) == 0 {
			continue
		}
		i := r.IntN(len(all.Deps()))
		h := withDeps(t, all, ir.Analyzed, slices.Delete(slices.Clone(all.Deps()), i, i+1))
		d, bad := lost(all, graphReach(h))
		err := ir.Verify(h)
		if !bad {
			require.NoError(t, err, "seed %d", seed)
			continue
		}
		require.ErrorContains(t, err, fmt.Sprintf("add the dependency %v -> %v", d.From, d.To), "seed %d", seed)
	}
}

// Any one dependency added to a reduced graph that others imply is found.
func TestVerifyMissesNoImpliedDependency(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 5))
		all := irtest.Analyze(random(r, seed, 2+r.IntN(30)))
		few := reduce(t, all)
		d := all.Deps()
		if len(d) == len(few.Deps()) {
			continue
		}
		m := graphReach(few)
		implied := slices.DeleteFunc(slices.Clone(d), func(e ir.Dep) bool {
			return slices.ContainsFunc(few.DepsInto(e.To), func(f ir.Dep) bool { return f.From == e.From })
		})
		e := implied[r.IntN(len(implied))]
		e.Cause = 0 // causes are numbered by graph
		require.True(t, m[e.To][e.From])
		err := ir.Verify(withDeps(t, few, ir.Reduced, append(slices.Clone(few.Deps()), e)))
		require.ErrorContains(t, err, fmt.Sprintf("dependency %v -> %v is implied", e.From, e.To), "seed %d", seed)
	}
}

// A dropped wait is an error exactly when lanes and other waits do not imply
// it, and the error names the dependency that is lost.
func TestVerifyScheduleMissesNoDroppedWait(t *testing.T) {
	dropped := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 6))
		g := irtest.Analyze(random(r, seed, 2+r.IntN(30)))
		s := irtest.Schedule(r, g, 20)
		dropDelays(s)
		waiting := slices.DeleteFunc(programOrder(g), func(v ir.OpID) bool { return len(s.Waits[v]) == 0 })
		if len(waiting) == 0 {
			continue
		}
		v := waiting[r.IntN(len(waiting))]
		i := r.IntN(len(s.Waits[v]))
		u := s.Waits[v][i]
		redundant := slices.ContainsFunc(ir.RedundantWaits(s), func(d ir.Dep) bool { return d.From == u && d.To == v })
		s.Waits[v] = slices.Delete(slices.Clone(s.Waits[v]), i, i+1)
		_, bad := lost(g, scheduleReach(s))
		require.Equal(t, !bad, redundant, "seed %d", seed)
		err := ir.VerifySchedule(s)
		if !bad {
			require.NoError(t, err, "seed %d", seed)
			continue
		}
		dropped++
		require.ErrorContains(t, err, fmt.Sprintf("%v on lane %v does not wait for %v on lane %v", v, s.Lane[v], u, s.Lane[u]), "seed %d", seed)
		var violation *ir.Violation
		require.True(t, errors.As(err, &violation))
	}
	require.Greater(t, dropped, 100, "most dropped waits must matter, or the test shows nothing")
}

func dropDelays(s *ir.Schedule) {
	for v := range s.Waits {
		s.Waits[v] = needed(s, v)
	}
	s.Delays, s.Joined = nil, nil
}

// A schedule with delays is valid exactly if it is valid without them: a delay that a dependency requires is an
// error.
func TestVerifyScheduleCountsNoDelay(t *testing.T) {
	needed, spare := 0, 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 8))
		g := irtest.Analyze(random(r, seed, 2+r.IntN(30)))
		s := irtest.Schedule(r, g, 20)
		s.Joined = nil
		s.Delays = make([][]ir.OpID, g.Len())
		for v, waits := range s.Waits {
			for _, u := range waits {
				if r.IntN(4) == 0 {
					s.Delays[v] = append(s.Delays[v], u)
				}
			}
		}
		without := *s
		without.Waits = slices.Clone(s.Waits)
		dropDelays(&without)
		err := ir.VerifySchedule(s)
		if _, bad := lost(g, scheduleReach(&without)); bad {
			needed++
			require.ErrorContains(t, err, "(rule dependencies)", "seed %d", seed)
			continue
		}
		spare++
		require.NoError(t, err, "seed %d", seed)
	}
	require.Greater(t, needed, 50)
	require.Greater(t, spare, 50)
}

func TestParseInvertsPrintOfSchedules(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 7))
		g := irtest.Analyze(random(r, seed, r.IntN(30)))
		s := irtest.Schedule(r, g, 5)
		s.Profile, s.Predicted = "h200", r.Int64N(1e6)
		if r.IntN(2) == 0 && g.Len() > 0 {
			s.Priority = make([]int32, g.Len())
			s.Priority[r.IntN(g.Len())] = -1
		}
		if r.IntN(2) == 0 {
			s.Offset = make([]int64, len(g.Buffers))
			for b := range s.Offset {
				s.Offset[b] = r.Int64N(100) - 1
			}
		}
		if r.IntN(2) == 0 && g.Len() > 0 {
			irtest.Segment(r, s)
			s.Offset = nil // random ones are invalid
			require.NoError(t, ir.VerifySchedule(s), "seed %d", seed)
		}
		f, err := ir.Parse("x.rir", string(ir.Format(g, s)))
		require.NoError(t, err, "seed %d", seed)
		require.Equal(t, s, f.Schedule, "seed %d", seed)
	}
}

// needed returns the waits of an operation that are not delays.
func needed(s *ir.Schedule, v int) []ir.OpID {
	if s.Delays == nil {
		return s.Waits[v]
	}
	return slices.DeleteFunc(slices.Clone(s.Waits[v]), func(u ir.OpID) bool { return slices.Contains(s.Delays[v], u) })
}
