package tenants

import (
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
)

// Stack is the software between the tenants and the device: what it costs beside the calls of the driver.
type Stack struct {
	Name string
	// Base is the time from a request that finds the device idle to the dispatch of its work, by mode.
	Base [modes]time.Duration
	// Instance is added to the base for each member of a round in mode SpaceTime.
	Instance time.Duration
	// Kernel is the least time from the dispatch of a kernel in mode Space to that of the next.
	Kernel time.Duration
	// Turn is the least time from the dispatch of the work of one context, in mode Time, to that of the next.
	Turn time.Duration
	// Switch is the time for which the device is idle when one context follows another.
	Switch time.Duration
	// Slice is the time after which the device leaves a context that has more work. 0 means never.
	Slice time.Duration
}

// Driver returns the stack in which only the calls of the driver cost time. The figures of contexts are those of the
// device's profile. They are 0 for a GPU.
func Driver(dev device.Device) Stack {
	s := Stack{Name: "driver"}
	if p := model.Of(dev); p != nil {
		s.Switch, s.Slice = duration(p.ContextSwitch), duration(p.ContextSlice)
	}
	return s
}

func duration(t model.Time) time.Duration { return time.Duration(t / model.Nanosecond) }

// Published returns the stack of P. Jain et al., "Dynamic Space-Time Scheduling for GPU Inference" (ML Systems Workshop
// of NeurIPS 2018), on a V100. Its costs follow from figure 7, the throughput of R products of 256x128x1152 for
// R = 1, 2, 4, ... 118. These times fit the figure, in us:
//
//	time-only    133 + 149.7 R
//	space-only   143 +  57.7 R
//	space-time   169 + 210 ceil(R/20) + 1.15 R
//
// The slopes are the intervals at which kernels are dispatched, and the constants are paid once per round. The waves of
// space-time, 210 ceil(R/20), are no cost of the stack: the simulated device provides the time of kernels, and
// Config.Merged may select a slower one for this mode. The figure has no other modes. They are dispatched in one call,
// like space-time, and have its base.
func Published() Stack {
	us := func(t float64) time.Duration { return time.Duration(t * float64(time.Microsecond)) }
	return Stack{
		Name: "published",
		Base: [modes]time.Duration{
			Exclusive: us(169), Time: us(133), Space: us(143), Branches: us(169), Batch: us(169), SpaceTime: us(169),
		},
		Instance: us(1.15), Kernel: us(57.7), Turn: us(149.7),
	}
}
