//go:build cuda && cgo

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/ir"
)

func TestGoalsThatAreMissed(t *testing.T) {
	good := row{shape: "chain", ops: 100, lanes: 1, form: graphexec.Streams,
		byHand: cost{ns: 200, calls: 100}, one: cost{ns: 300, crossings: 1}, many: cost{ns: 210, crossings: 1}}
	assert.Empty(t, good.missed(), "one crossing disappears in the cost of a hundred launches")
	for want, spoil := range map[string]func(r *row){
		"chain of 100 launches, streams: ReplayN costs 1.055 of C++, more than 1.05":                     func(r *row) { r.many.ns = 211 },
		"chain of 100 launches, streams: Replay crosses into C 2.00 times":                               func(r *row) { r.one.crossings = 2 },
		"chain of 100 launches, streams: ReplayN allocates 1.00 times":                                   func(r *row) { r.many.allocs = 1 },
		"chain of 100 launches, streams: Replay costs 1.100 of C++ with a driver's cost, more than 1.05": func(r *row) { r.one.ns = 200 + 22_020 },
	} {
		r := good
		spoil(&r)
		assert.Equal(t, []string{want}, r.missed())
	}
	small := good
	small.ops, small.many.ns = 10, 1000
	assert.Empty(t, small.missed(), "goals are for a hundred launches and more")
}

func TestScheduleInTheOrderOfSubmission(t *testing.T) {
	var text strings.Builder
	require.NoError(t, writeSchedule(&text, &ir.Schedule{
		Lanes: 2, Order: []ir.OpID{2, 0, 1}, Lane: []ir.LaneID{1, 0, 0}, Waits: [][]ir.OpID{{2}, {0, 2}, nil},
	}))
	assert.Equal(t, "schedule 3 2\n0 0\n1 1 0\n0 2 1 0\n", text.String())
}
