//go:build cuda && cgo

package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/tracer"
)

func TestShapesCanBeTraced(t *testing.T) {
	dev := null.New()
	defer func() { assert.NoError(t, dev.Close()) }()
	for _, s := range shapes {
		for _, ops := range []int{10, 100} {
			trace, plan, err := s.plan(dev, ops)
			require.NoError(t, err, s.name)
			assert.Len(t, plan.Order, ops, s.name)
			assert.NoError(t, trace.Close(), s.name)
		}
	}
}

func TestTheLastLaunchOfAFanReadsAllResults(t *testing.T) {
	dev := null.New()
	defer func() { assert.NoError(t, dev.Close()) }()
	trace, plan, err := shape{"fan", fan}.plan(dev, 10)
	require.NoError(t, err)
	defer func(trace *tracer.Trace) { assert.NoError(t, trace.Close()) }(trace)
	assert.Equal(t, lanes, plan.Lanes)
	assert.Len(t, plan.Waits[9], lanes-1, "the results of every other lane")
}
