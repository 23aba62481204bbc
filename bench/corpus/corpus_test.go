package main

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The smallest inputs of each kind are planned by all strategies, and auto is as good as the
// goal says.
func TestCorpus(t *testing.T) {
	var out strings.Builder
	require.NoError(t, run(context.Background(), &out, "tasks/cholesky-20", true, nil))
	assert.Regexp(t, `(?m)^ +tasks +4 +100.0 % +[01].\d{4}x +\d.\d{3}x$`, out.String())
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
	err := run(context.Background(), &out, "nonesuch", false, nil)
	assert.EqualError(t, err, `there is no input whose name begins with "nonesuch"`)
}

func TestInputsHaveNamesOfTheirOwn(t *testing.T) {
	seen := map[string]bool{}
	for _, in := range inputs([]string{"x/y.rir"}) {
		assert.False(t, seen[in.name], in.name)
		seen[in.name] = true
	}
	assert.True(t, seen["files/y/h200/streams"])
}

// A verdict that falls short is an error that names it.
func TestCheck(t *testing.T) {
	good, beaten := verdict{name: "a", auto: 1, serial: 2, other: 1}, verdict{name: "b", auto: 2, serial: 2, other: 1}
	assert.NoError(t, check([]verdict{good}))
	assert.EqualError(t, check([]verdict{good, beaten}), "no strategy is quicker than auto on 50.0 % of the inputs: the goal is 95 %")
	slow := verdict{name: "c", auto: 3, serial: 2, other: 3}
	assert.EqualError(t, check([]verdict{slow, good}), "c: auto is slower than serial: 3 ns, and 2 ns")
}
