package optimizer

import (
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/ir"
)

// MeasuredCosts is the cost model for a program that has run: the launches ask for what
// they were counted to ask for then, by operation; all else goes by DeclaredCosts.
func MeasuredCosts(p *des.Profile, launched map[ir.OpID]des.Demand) CostModel {
	return measuredCosts{launched, DeclaredCosts(p)}
}

type measuredCosts struct {
	launched map[ir.OpID]des.Demand
	declared CostModel
}

func (m measuredCosts) Demand(g *ir.Graph, v ir.OpID) des.Demand {
	if d, ok := m.launched[v]; ok {
		return d
	}
	return m.declared.Demand(g, v)
}
