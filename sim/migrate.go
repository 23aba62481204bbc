package sim

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/sim/interp"
)

// Prefetch is work for the simulated device: memory lent by the host moves to the
// device, or back. What kernels touch of it then crosses no link. It moves whole,
// and Bytes of it take time.
//
// What is not prefetched stays on the host: there are no page faults here, and a
// kernel that touches it has each byte cross the link once in every launch.
type Prefetch struct {
	device.Work // nil: it makes this one
	At          device.Ptr
	Bytes       int64
	ToDevice    bool
	Label       string
}

func (d *Device) fillPrefetch(j *job, p *Prefetch) *device.Error {
	*j = job{kind: prefetch, dst: uint64(p.At), bytes: p.Bytes, toDevice: p.ToDevice, label: p.Label}
	return d.within(p.At, p.Bytes)
}

func (d *Device) startPrefetch(j *job) des.Demand {
	to, kind := d.memory, des.CopyIn
	if !j.toDevice {
		to, kind = nil, des.CopyOut
	}
	if (d.memory.Home(j.dst) == interp.Here) == j.toDevice {
		return des.Demand{} // it is there
	}
	d.gpu.system.space.Move(j.dst, to)
	return des.Demand{Kind: kind, Bytes: float64(j.bytes)}
}

// Release is work for the simulated device: an allocation is freed when its turn comes,
// and what touches it later is at fault. Until then it counts as live.
type Release struct {
	device.Work // nil: it makes this one
	At          device.Ptr
	Done        func() // called when it is freed, nil for nothing
}

func (d *Device) fillRelease(j *job, r *Release) *device.Error {
	*j = job{kind: release, dst: uint64(r.At), call: r.Done}
	if err := d.freeOutside(r.At); err != nil {
		return err
	}
	return d.within(r.At, 0)
}

func (d *Device) startRelease(j *job) des.Demand {
	if err := d.free(j.dst); err != nil {
		d.fault = &device.Error{Code: device.IllegalAddress, Detail: "memory freed in a stream that was freed before", Err: err}
		return des.Demand{}
	}
	if j.call != nil {
		j.call()
	}
	return des.Demand{}
}
