package main

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestShapesAreWhatTheySay compares plans with what follows from the definition of each shape: how many launches may
// run at the same time, and how many dependencies the reduction leaves.
func TestShapesAreWhatTheySay(t *testing.T) {
	const ops = 200
	for _, c := range []struct {
		shape          string
		lanes, reduced int
	}{
		{"chain", 1, ops - 1},
		{"training", 1, ops - 1},
		{"tiles", 1, ops - 1}, // each launch has one possible successor
		{"fan", ops - 2, 2 * (ops - 2)},
		{"parallel", ops, 0},
	} {
		m := measured(t, c.shape, ops)
		assert.Equal(t, ops, m.Ops, c.shape)
		assert.Equal(t, c.lanes, m.Lanes, c.shape)
		assert.Equal(t, c.reduced, m.Reduced, c.shape)
		assert.Equal(t, c.reduced-(ops-m.Lanes), m.Syncs, "%s: all but the edges along lanes are waits", c.shape)
	}
	for _, c := range []struct {
		shape            string
		fewest, greatest int // lanes
	}{
		{"layered8", 8, 3 * 8}, {"layered64", 64, 3 * 64}, {"cg", 8, 3 * 8}, {"random", 8, 64},
	} {
		m := measured(t, c.shape, 2000)
		assert.InDelta(t, 2000, m.Ops, 50, c.shape)
		assert.GreaterOrEqual(t, m.Lanes, c.fewest, c.shape)
		assert.LessOrEqual(t, m.Lanes, c.greatest, c.shape)
		assert.Greater(t, m.Deps, m.Reduced, "%s has nothing to reduce", c.shape)
	}
}

func measured(t *testing.T, name string, ops int) measurement {
	s, err := shapeNamed(name)
	require.NoError(t, err)
	m, err := measure(s, ops)
	require.NoError(t, err)
	assert.Positive(t, m.total())
	assert.Positive(t, m.PeakMB)
	return m
}

// TestMissedGoals expects an error with both figures for a missed goal, and none for sizes without a goal.
func TestMissedGoals(t *testing.T) {
	s := shape{name: "star", goal: &goal{1000, time.Second, 50}}
	assert.NoError(t, s.missed(&measurement{Ops: 1000, Trace: time.Second, PeakMB: 50}))
	assert.NoError(t, s.missed(&measurement{Ops: 999, Trace: time.Hour, PeakMB: 5000}))
	err := s.missed(&measurement{Ops: 1000, Trace: time.Second, Assign: time.Second / 2, PeakMB: 51})
	assert.ErrorContains(t, err, "star of 1000 launches takes 1.5s from trace to schedule, and the goal is 1s")
	assert.ErrorContains(t, err, "star of 1000 launches peaks at 51 MB, and the goal is 50")
	layered, err := shapeNamed("layered8")
	require.NoError(t, err)
	assert.NotNil(t, layered.goal)
}

func TestUnknownShape(t *testing.T) {
	_, err := shapeNamed("star")
	assert.ErrorContains(t, err, `unknown shape "star"`)
}

func TestExponentOfAPower(t *testing.T) {
	var points []point
	for _, n := range []float64{1e3, 1e4, 1e5} {
		points = append(points, point{n, 7 * math.Pow(n, 1.25)})
	}
	assert.InDelta(t, 1.25, exponent(points), 1e-12)
	assert.True(t, math.IsNaN(exponent(points[:1])))
}

// TestPeersAreCompared expects an error if a peer leaves other edges or exits with an error.
func TestPeersAreCompared(t *testing.T) {
	g, err := dependencies("layered8", 100)
	require.NoError(t, err)
	want, _, err := reduceHere(g)
	require.NoError(t, err)
	require.Less(t, len(want), len(g.Deps()))

	answer := func(text string) peer {
		file := filepath.Join(t.TempDir(), "answer")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return peer{name: "cat", command: []string{"sh", "-c", `cat "$0"`, file}}
	}
	all, err := os.ReadFile(edgeFile(t, want))
	require.NoError(t, err)
	p := answer("0.25\n" + string(all))
	took, err := p.reduce(g, want)
	require.NoError(t, err)
	assert.InDelta(t, 0.25, took.Seconds(), 1e-9)

	p = answer("0.25\n0 1\n")
	_, err = p.reduce(g, want)
	assert.ErrorContains(t, err, "it leaves 1 edges")
	p = answer("")
	_, err = p.reduce(g, want)
	assert.Error(t, err)
}

// edgeFile lists edges, last first.
func edgeFile(t *testing.T, edges []arrow) string {
	f, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	for i := len(edges) - 1; i >= 0; i-- {
		_, err := f.WriteString(edges[i].String() + "\n")
		require.NoError(t, err)
	}
	require.NoError(t, f.Close())
	return f.Name()
}
