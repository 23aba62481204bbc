package tenants

import (
	"context"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/tenancy"
)

// newReplays returns a service that serves up to limit requests in one replay of an instance.
func newReplays(h *host, m Mode, in *Instance, limit int) (service, error) {
	exec, err := tenancy.Instantiate(h.dev, in.Graph, in.Bound)
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
