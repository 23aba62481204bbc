package loop

import (
	"fmt"
	"math"

	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/ir"
)

// Of returns the loop of a schedule whose only operation is a loop, for Instantiate. It has the body, the condition, the
// limit and how often the condition is checked; the caller sets the rest. Package graphexec replays schedules in which
// a loop is one operation among others.
func Of(s *ir.Schedule) (Loop, error) {
	if s == nil || s.Graph == nil {
		return Loop{}, absent.Nil("the schedule of the loop")
	}
	err := ir.Verify(s.Graph)
	if err == nil {
		err = ir.VerifySchedule(s)
	}
	if err != nil {
		return Loop{}, fmt.Errorf("the schedule of the loop: %w", err)
	}
	if s.Graph.Len() != 1 || s.Graph.Ops[0].Kind != ir.KindLoop {
		return Loop{}, fmt.Errorf("%s is not one loop: replay it with graphexec.Instantiate", s.Graph.Name)
	}
	c := s.Graph.Ops[0].Control
	body := *s.Bodies[0][0]
	body.Offset = s.Offset
	elem := s.Graph.Buffers[c.Scalar.Buffer].Elem.Size()
	return Loop{
		Body:          &body,
		Until:         Until{Buffer: c.Scalar.Buffer, Index: c.Scalar.Lo / elem, Is: c.Is, Value: c.Value},
		MaxIterations: int(min(c.Limit, math.MaxInt)),
		CheckEvery:    int(min(c.Every, math.MaxInt)),
	}, nil
}
