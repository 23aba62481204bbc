package optimizer

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/reprise-gpu/reprise/ir"
)

func TestRoundRobinDealsOut(t *testing.T) {
	g := graphOf(t, "drawing", 4, []edge{{0, 2}, {2, 3}, {1, 3}})
	s := plan(t, g, "roundrobin(2)").Schedule
	assert.Equal(t, []ir.LaneID{0, 1, 0, 1}, s.Lane)
	assert.Equal(t, [][]ir.OpID{nil, nil, nil, {2}}, s.Waits)
	assert.Equal(t, 4, plan(t, graphOf(t, "wide", 9, nil), "roundrobin").Schedule.Lanes)
	assert.Equal(t, 3, plan(t, graphOf(t, "few", 3, nil), "roundrobin(8)").Schedule.Lanes)
}
