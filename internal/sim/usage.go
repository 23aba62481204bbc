package sim

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
)

// Usage is the use of the device by kernels and copies from an instant until that of the next Usage.
type Usage struct {
	At              int64   // ps since StartTimeline
	Warps           float64 // resident warps, as a fraction of those that fit on the device
	Multiprocessors float64 // fraction of the multiprocessors with at least one block, if blocks spread evenly
	DRAM            float64 // bytes of device memory per second
	L2              float64 // bytes between the multiprocessors and L2, per second
	LinkIn, LinkOut float64 // bytes over the host link, per second
}

// Usage returns the use of the device since StartTimeline, in order of time. The device must be idle.
func (d *Device) Usage() []Usage {
	d.settled()
	return d.history.use
}

// share is called by the engine with new shares of the device.
func (d *Device) share(now model.Time, all []des.Share) {
	h := &d.history
	if !h.on || now < h.from {
		return
	}
	u := Usage{At: int64(now - h.from)}
	blocks := 0.0
	for _, s := range all {
		u.DRAM, u.L2, u.LinkIn, u.LinkOut = u.DRAM+s.DRAM, u.L2+s.L2, u.LinkIn+s.LinkIn, u.LinkOut+s.LinkOut
		if k := h.of(s.Task); k != nil && k.launched != nil {
			blocks += s.Blocks
			u.Warps += s.Blocks * k.launched.BlockWarps / float64(d.profile.Limits.ThreadsPerSM/warpSize*d.profile.SMs)
		}
	}
	u.Multiprocessors = min(1, blocks/float64(d.profile.SMs))
	if n := len(h.use); n > 0 && h.use[n-1].At == u.At {
		h.use[n-1] = u
		return
	}
	h.use = append(h.use, u)
}
