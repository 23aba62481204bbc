package main

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// TestCorpus plans the smallest inputs of each kind by all strategies. Auto must meet the goals.
func TestCorpus(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(context.Background(), &out, pick{"tasks/cholesky-20", 1}, true, nil))
	assert.Regexp(t, `(?m)^ +tasks +4 +100.0 % +[01].\d{4}x +\d.\d{3}x +$`, out.String())
	judged := 0
	for _, in := range inputs(nil) {
		if in.name == "workloads/vec-4096/pinned/h200/streams" || in.name == "programs/lu-14-16blocks/h200/graph" {
			judged++
			v, err := in.judge()
			require.NoError(t, err)
			assert.LessOrEqual(t, v.auto, v.serial, in.name)
		}
	}
	assert.Equal(t, 2, judged)
	err := run(context.Background(), &out, pick{"nonesuch", 1}, false, nil)
	assert.EqualError(t, err, "-only nonesuch: no input has a name that begins with it")
}

// TestPick picks every third of five inputs: the first and the fourth.
func TestPick(t *testing.T) {
	all := []input{{name: "a1"}, {name: "b"}, {name: "a2"}, {name: "a3"}, {name: "a4"}, {name: "a5"}}
	chosen, err := pick{"a", 3}.from(all)
	require.NoError(t, err)
	require.Len(t, chosen, 2)
	assert.Equal(t, []string{"a1", "a4"}, []string{chosen[0].name, chosen[1].name})
	_, err = pick{"", 0}.from(all)
	assert.EqualError(t, err, "-every 0: the number must be at least 1")
}

// TestInterrupted interrupts a run, which must still return the verdicts so far.
func TestInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	g := func() (*ir.Graph, optimizer.Options, error) {
		stop()
		return &ir.Graph{Name: "g", Ops: []ir.Op{{Kind: ir.KindEmpty, Cost: 1000}}}, optimizer.Options{}, nil
	}
	all := slices.Repeat([]input{{name: "g", make: g}}, 100)
	verdicts, err := judgeAll(ctx, all)
	assert.ErrorContains(t, err, "of 100 inputs")
	require.NotEmpty(t, verdicts)
	assert.Less(t, len(verdicts), 100)
	for _, v := range verdicts {
		assert.Positive(t, v.auto)
	}
}

func TestInputsHaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, in := range inputs([]string{"x/y.rir"}) {
		assert.False(t, seen[in.name], in.name)
		seen[in.name] = true
	}
	assert.True(t, seen["files/y/h200/streams"])
}

// TestCheck expects an error that names the verdict that misses a goal.
func TestCheck(t *testing.T) {
	good, beaten := verdict{name: "a", auto: 1, serial: 2, other: 1}, verdict{name: "b", auto: 2, serial: 2, other: 1}
	assert.NoError(t, check([]verdict{good}))
	assert.EqualError(t, check([]verdict{good, beaten}), "no strategy is quicker than auto on 50.0 % of the inputs: the goal is 95 %")
	slow := verdict{name: "c", auto: 3, serial: 2, other: 3}
	assert.EqualError(t, check([]verdict{slow, good}), "c: auto is slower than serial: 3 ns against 2 ns")
}
