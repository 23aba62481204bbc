package optimizer

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/ir"
)

// MeasuredCosts returns the cost model for a program that has run: launches have the demands counted
// in m, and other operations those of DeclaredCosts. A nil m is allowed.
func MeasuredCosts(p *model.Profile, m *Measurement) CostModel {
	if m == nil {
		return DeclaredCosts(p)
	}
	counted := make(map[ir.OpID]model.Demand, len(m.Launches))
	for i := range m.Launches {
		counted[m.Launches[i].Op] = m.Launches[i].Demand
	}
	return measuredCosts{counted, DeclaredCosts(p)}
}

type measuredCosts struct {
	counted  map[ir.OpID]model.Demand
	declared CostModel
}

func (m measuredCosts) Demand(g *ir.Graph, v ir.OpID) model.Demand {
	if d, ok := m.counted[g.Traced(v)]; ok {
		return d
	}
	return m.declared.Demand(g, v)
}
