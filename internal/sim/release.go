package sim

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
)

// Release is work for the simulated device that frees an allocation in stream order. Later accesses fault. Until then
// the allocation counts as live.
type Release struct {
	device.Work // nil: provides the method of the interface
	At          device.Ptr
	Done        func() // called after the memory was freed; may be nil
}

func (d *Device) fillRelease(j *job, r *Release) *device.Error {
	*j = job{kind: release, dst: uint64(r.At), call: r.Done}
	if err := d.freeOutside(r.At); err != nil {
		return err
	}
	return d.within(r.At, 0)
}

func (d *Device) startRelease(j *job) model.Demand {
	if err := d.free(j.dst); err != nil {
		d.fault = &device.Error{Code: device.IllegalAddress, Detail: "memory freed in a stream that was freed before", Err: err}
		return model.Demand{}
	}
	if j.call != nil {
		j.call()
	}
	return model.Demand{}
}
