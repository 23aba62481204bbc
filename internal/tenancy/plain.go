package tenancy

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/optimizer"
)

// plain is the program of one tenant as it was recorded.
type plain struct{ exec *graphexec.Exec }

func newPlain(dev device.Device, t *Tenant) (*plain, error) {
	planned, err := optimizer.Plan(t.trace.Graph, optimizer.Options{})
	if err != nil {
		return nil, err
	}
	exec, err := graphexec.Instantiate(dev, planned.Schedule, t.trace, graphexec.Graph)
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
