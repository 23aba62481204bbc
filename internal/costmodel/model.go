// Package costmodel holds measured demands and the cost models that only commands, benchmarks and tests select by
// name. Package optimizer sets the functions.
package costmodel

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/ir"
)

// Model is optimizer.CostModel.
type Model interface {
	Demand(g *ir.Graph, v ir.OpID) model.Demand
}

// Measured returns the cost model for a program that has run: launches have the demands counted in m, and other
// operations those of the optimizer's default model. A nil m is allowed.
var Measured func(p *model.Profile, m *Measurement) Model

// Modelled returns the optimizer's default model without the declared costs. An empty operation then costs nothing.
var Modelled func(p *model.Profile) Model
