package timings

import (
	"time"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/costmodel"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/ir"
)

// Model predicts the record of an operation from what it demands of a device, with the event core of the simulated device.
// A loop or a branch has the time of a marker, unless the cost model knows its duration.
type Model struct {
	Profile *model.Profile
	Costs   costmodel.Model // for one goroutine
}

// Record returns the predicted record of an operation, with one time.
func (m *Model) Record(g *ir.Graph, v ir.OpID) *Record {
	d := m.Costs.Demand(g, v)
	r := &Record{Kind: g.Ops[v].Kind.String(), Kernel: KernelOf(g, v)}
	took, bound := alone(m.Profile, d)
	r.Time = NewSketch(took)
	r.describe(&d, bound)
	return r
}

// describe sets what a demand states about a kernel.
func (r *Record) describe(d *model.Demand, b Bound) {
	if d.Kind == model.Kernel {
		r.Blocks, r.Resident, r.Bound = uint64(d.Blocks), int(d.PerSM), b
	}
}

// alone returns the time of a demand on an idle device, and its bound: compute or memory if instructions or bytes of the
// device take more of the time than any other limit, as in a roofline model.
func alone(p *model.Profile, d model.Demand) (time.Duration, Bound) {
	var limit des.Limit
	e := des.New(p, func(des.TaskID, any) model.Demand { return d })
	e.OnEnd(func(r *des.Record) { limit = r.Spent.Most() })
	e.Add(des.Task{})
	took := e.Drain() + p.StreamGap
	return time.Duration(took / model.Nanosecond), boundOf(limit)
}

func boundOf(l des.Limit) Bound {
	switch l.Cause() {
	case des.Compute:
		return Compute
	case des.Bandwidth:
		return Memory
	}
	return Unknown
}
