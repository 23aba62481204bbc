package tenancy

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// Instantiate returns a program as one graph, as it was recorded, for one tenant. The plan is that of the default strategy.
func Instantiate(dev device.Device, g *ir.Graph, bound traced.Bindings) (*graphexec.Exec, error) {
	planned, err := optimizer.Plan(g, optimizer.Options{})
	if err != nil {
		return nil, err
	}
	return graphexec.Instantiate(dev, planned.Schedule, bound, graphexec.Graph)
}
