package bench

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/optimizer"
)

// Plan plans the workload for replays on dev in the form of that back end: by the device's
// own profile where there is one, else by the default one, by what launches ask of the
// device if that was measured, and with the passes that in.Also asks for besides.
func (in *Instance) Plan(dev device.Device, strategy string, backend graphexec.Backend) (*optimizer.Result, error) {
	opts := optimizer.Options{Strategy: strategy, Also: in.Also, Streams: backend == graphexec.Streams, Verify: true}
	if d, ok := dev.(interface{ Profile() *model.Profile }); ok {
		opts.Custom = d.Profile()
		if in.Measured != nil {
			opts.Costs = optimizer.MeasuredCosts(opts.Custom, in.Measured)
		}
	}
	return optimizer.Plan(in.Trace.Graph, opts)
}
