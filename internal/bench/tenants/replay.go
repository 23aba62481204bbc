package tenants

import (
	"context"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/optimizer"
)

// instantiate returns the program of an instance as one graph.
func instantiate(dev device.Device, in *Instance) (*graphexec.Exec, error) {
	planned, err := optimizer.Plan(in.Graph, optimizer.Options{})
	if err != nil {
		return nil, err
	}
	return graphexec.Instantiate(dev, planned.Schedule, in.Bound, graphexec.Graph)
}

// newReplays returns a service that serves up to limit requests in one replay of an instance.
func newReplays(h *host, m Mode, in *Instance, limit int) (service, error) {
	exec, err := instantiate(h.dev, in)
	if err != nil {
		return nil, err
	}
	s := &rounds{host: h, base: h.stack.Base[m], limit: limit, stream: exec.Stream(), free: exec.Close}
	s.run = func([]*request) error { return exec.Replay(context.Background()) }
	if s.mark, err = h.newMark(); err != nil {
		return nil, device.Join(err, exec.Close())
	}
	return s, nil
}
