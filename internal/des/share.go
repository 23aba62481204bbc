package des

import "github.com/reprise-gpu/reprise/device/model"

// Share is the part of the device that a kernel or a copy has from an instant until the next change.
type Share struct {
	Task    TaskID
	Blocks  float64 // resident blocks; 0 for a copy
	DRAM    float64 // bytes of device memory per second
	L2      float64 // bytes between the multiprocessors and L2, per second
	LinkIn  float64 // bytes from the host, per second
	LinkOut float64 // bytes to the host, per second
}

// OnShare sets a function that the engine calls whenever kernels and copies get new shares of the device, in order of
// time, with all that run. Of several calls for one instant, the last holds. The slice is valid only during the call.
func (e *Engine) OnShare(f func(now model.Time, all []Share)) { e.fluid.observe = f }

// report passes the shares of all flows to the observer.
func (f *fluid) report() {
	f.shares = f.shares[:0]
	for i := range f.flows {
		w := &f.flows[i]
		s := Share{Task: w.id}
		if w.capacity > 0 {
			s.Blocks = w.held
		}
		s.DRAM, s.L2, s.LinkIn, s.LinkOut = w.perSecond(DRAM), w.perSecond(L2), w.perSecond(LinkIn), w.perSecond(LinkOut)
		f.shares = append(f.shares, s)
	}
	f.observe(f.now, f.shares)
}

// perSecond returns the amount of a resource that the flow uses per second.
func (w *flow) perSecond(r Limit) float64 {
	if w.missing > 0 && r != LinkIn {
		return 0
	}
	return w.rate * w.per(r) * float64(model.Second)
}
