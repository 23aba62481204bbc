package optimizer

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/costmodel"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
)

func init() { costmodel.Measured, costmodel.Modelled = newMeasuredCosts, newModelledCosts }

// Measurement holds the demands of the launches of a program, as counted on a device: the result of Measure. It is
// stored as JSON. Options.Measured applies it to plans of the same program.
type Measurement = costmodel.Measurement

// newMeasuredCosts returns the cost model for a program that has run: launches have the demands counted
// in m, and other operations those of newDeclaredCosts. A merged launch has the demands of its parts together (see
// together). A nil m is allowed.
func newMeasuredCosts(p *model.Profile, m *Measurement) costmodel.Model {
	if m == nil {
		return newDeclaredCosts(p)
	}
	counted := make(map[ir.OpID]model.Demand, len(m.Launches))
	for i := range m.Launches {
		counted[m.Launches[i].Op] = m.Launches[i].Demand
	}
	return measuredCosts{counted: counted, declared: newDeclaredCosts(p), profile: p}
}

type measuredCosts struct {
	counted  map[ir.OpID]model.Demand
	declared CostModel
	profile  *model.Profile
	roomy    bool // a multiprocessor holds as many blocks of a merged launch as of its most demanding part
}

func (m measuredCosts) Demand(g *ir.Graph, v ir.OpID) model.Demand {
	if parts := g.Merged[v]; parts != nil {
		return m.merged(g, v, parts)
	}
	if d, ok := m.counted[traced.Origin(g, v)]; ok {
		return d
	}
	return m.declared.Demand(g, v)
}

// merged returns the demand of a merged launch: what its parts demand together, if all were counted.
func (m measuredCosts) merged(g *ir.Graph, v ir.OpID, parts []mergedPart) model.Demand {
	demands := make([]model.Demand, len(parts))
	for i, part := range parts {
		d, ok := m.counted[part.Op]
		if !ok {
			return m.declared.Demand(g, v)
		}
		demands[i] = d
	}
	op, limits := &g.Ops[v], &m.profile.Limits
	resident := residentBlocks(limits, op.Launch, parts, demands)
	if m.roomy {
		resident = maxResident(limits, op.Launch, demands)
	}
	return together(m.profile, op, parts, demands, resident)
}
