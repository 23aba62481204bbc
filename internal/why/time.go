package why

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/costmodel"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/ir"
)

// Time is how long an operation is predicted to take alone on the device.
type Time struct {
	US    float64 `json:"us"`
	Bound string  `json:"bound"` // the limit of most of the time; "declared" if the program states the time
}

// time predicts the time of an operation. It is nil for a loop or a branch, whose time depends on its bodies.
func (p *Plan) time(g *ir.Graph, v ir.OpID) *Time {
	op := &g.Ops[v]
	switch {
	case op.Control != nil:
		return nil
	case p.opts.Costs == nil && op.Cost >= 0:
		return &Time{us(op.Cost), "declared"}
	}
	var costs costmodel.Model = p.opts.Costs
	if p.opts.Costs == nil {
		costs = costmodel.Modelled(p.opts.Custom)
	}
	return alone(p.opts.Custom, costs.Demand(g, v))
}

// alone returns the time of a demand on an idle device.
func alone(p *model.Profile, d model.Demand) *Time {
	t := &Time{}
	e := des.New(p, func(des.TaskID, any) model.Demand { return d })
	e.OnEnd(func(r *des.Record) {
		most := r.Spent.Most()
		t.US, t.Bound = float64(r.Spent.Total())/float64(model.Microsecond), most.String()
	})
	e.Add(des.Task{})
	e.Drain()
	return t
}
