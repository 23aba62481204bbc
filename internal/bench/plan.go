package bench

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/internal/costmodel"
	"github.com/reprise-gpu/reprise/optimizer"
)

// Plan plans the workload for replays on dev with the given back end. It uses the device's own profile, or the
// default one for devices without a profile; measured demands, if there are any; and the passes in in.Also.
func (in *Instance) Plan(dev device.Device, strategy string, backend graphexec.Backend) (*optimizer.Result, error) {
	opts := optimizer.Options{Strategy: strategy, Also: in.Also, Streams: backend == graphexec.Streams, Verify: true}
	opts.Custom = model.Of(dev)
	if opts.Custom != nil && in.Measured != nil {
		opts.Costs = costmodel.Measured(opts.Custom, in.Measured)
	}
	return optimizer.Plan(in.Trace.Graph, opts)
}
