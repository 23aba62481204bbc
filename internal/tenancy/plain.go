package tenancy

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/traced"
	"github.com/reprise-gpu/reprise/ir"
	"github.com/reprise-gpu/reprise/optimizer"
)

// plain is the program of one tenant as it was recorded.
type plain struct{ exec *graphexec.Exec }

func newPlain(dev device.Device, g *ir.Graph, bound traced.Bindings) (*plain, error) {
	planned, err := optimizer.Plan(g, optimizer.Options{})
	if err != nil {
		return nil, err
	}
	exec, err := graphexec.Instantiate(dev, planned.Schedule, bound, graphexec.Graph)
	if err != nil {
		return nil, err
	}
	return &plain{exec}, nil
}

func (p *plain) close() error {
	if p == nil {
		return nil
	}
	return p.exec.Close()
}
