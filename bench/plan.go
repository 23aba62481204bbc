package bench

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/optimizer"
)

// Plan plans the workload for dev: by the device's own profile where there is one, else
// by the default one.
func (in *Instance) Plan(dev device.Device, strategy string) (*optimizer.Result, error) {
	opts := optimizer.Options{Strategy: strategy, Verify: true}
	if d, ok := dev.(interface{ Profile() *des.Profile }); ok {
		opts.Custom = d.Profile()
	}
	return optimizer.Plan(in.Trace.Graph, opts)
}
