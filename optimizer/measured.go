package optimizer

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/ir"
)

// MeasuredCosts is the cost model for a program that has run: its launches ask for what
// they were counted to ask for then, and all else goes by DeclaredCosts.
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
