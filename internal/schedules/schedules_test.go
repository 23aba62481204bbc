package schedules

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/ir"
)

// TestGroupsFollowTheirFirstOperation has two lanes in turns: 0 1 3 and 2 4 5, of which 1, 3 and 5 are joined.
func TestGroupsFollowTheirFirstOperation(t *testing.T) {
	s := &ir.Schedule{
		Graph: &ir.Graph{Name: "g", Phase: ir.Analyzed, Ops: make([]ir.Op, 6)},
		Lanes: 2, Order: []ir.OpID{0, 1, 2, 3, 4, 5}, Lane: []ir.LaneID{0, 0, 1, 0, 1, 1},
		Waits: [][]ir.OpID{nil, nil, nil, nil, {3}, nil},
	}
	groups := func() (list [][]ir.OpID) {
		for group := range Groups(s) {
			list = append(list, slices.Clone(group))
		}
		return list
	}
	assert.Equal(t, [][]ir.OpID{{0}, {1}, {2}, {3}, {4}, {5}}, groups(), "nothing is joined")
	s.Joined = []bool{false, true, false, true, false, true}
	require.NoError(t, ir.VerifySchedule(s))
	assert.Equal(t, [][]ir.OpID{{0, 1, 3}, {2}, {4, 5}}, groups())
	assert.Equal(t, []bool{false, false, false, true, false, false}, Records(s))
}
