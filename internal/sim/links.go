package sim

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/internal/des/links"
	"github.com/reprise-gpu/reprise/internal/interp"
	"github.com/reprise-gpu/reprise/internal/machine"
)

// A system of NewRank has links (package internal/des/links). In a system of NewSystem every GPU is a peer of every other,
// and their traffic uses the host link of the device that runs the work.

// NewRank returns a system with the GPUs of a rank, which must not be nil, and the links between them.
func NewRank(r *machine.Rank) (*System, []*GPU) {
	s := NewSystem()
	all := links.New(r, s.time.clock)
	s.routes = all.Routes
	gpus := make([]*GPU, len(r.Devices))
	for i := range gpus {
		gpus[i] = s.GPU(r.Devices[i].Memory)
		gpus[i].number, gpus[i].port = i, all.Ports[i]
	}
	return s, gpus
}

// OpenRank returns simulated devices for a rank, in its order. They share one clock. Profile, Custom, Memory and On of the
// options are those of the rank.
func OpenRank(r *machine.Rank, o Options) ([]*Device, error) {
	if r == nil {
		return nil, unset("OpenRank", "the rank")
	}
	_, gpus := NewRank(r)
	devices := make([]*Device, len(gpus))
	for i, g := range gpus {
		o.Custom, o.On = r.Devices[i].Profile, g
		var err error
		if devices[i], err = New(o); err != nil {
			return nil, err
		}
	}
	return devices, nil
}

// route returns the way from one GPU of the system to another. It is nil if they are not peers, and in a system without
// links.
func (s *System) route(from, to *GPU) *links.Route {
	if s.routes == nil {
		return nil
	}
	return s.routes[from.number][to.number]
}

// CanPeer reports whether kernels on the GPU can access the memory of another GPU of the system.
func (g *GPU) CanPeer(other *GPU) bool {
	return other != nil && g != other && (g.system.routes == nil || g.system.route(g, other) != nil)
}

// gpuOf returns the GPU that has the memory at an address, or nil.
func (s *System) gpuOf(addr uint64) *GPU {
	if d := s.Owner(device.Ptr(addr)); d != nil {
		return d.gpu
	}
	return nil
}

// copyBetween returns the demand of a direct copy between two GPUs. It returns false if the copy is not direct.
func (d *Device) copyBetween(dst, src uint64, bytes int64) (model.Demand, bool) {
	s := d.gpu.system
	from, to := s.gpuOf(src), s.gpuOf(dst)
	if from == nil || to == nil {
		return model.Demand{}, false
	}
	r := s.route(from, to)
	if r == nil || d.enabled(device.Ptr(dst), 0) != nil || d.enabled(device.Ptr(src), 0) != nil {
		return model.Demand{}, false // the driver copies through the host
	}
	links.Cross(d.engine, float64(bytes), r.Channels...)
	return model.Demand{Kind: des.CopyPeer, Bytes: float64(bytes), Duration: r.Latency}, true
}

// remote adds the bytes that a launch uses of memory outside of the device: to the channels of the link to the GPU that has
// them, or to the host link.
func (d *Device) remote(base uint64, u *des.Use, link, peers *des.Use) {
	if s := d.gpu.system; s.routes != nil && d.memory.Home(base, 0) == interp.There {
		if owner := s.gpuOf(base); owner != nil && d.gpu.CanPeer(owner) {
			links.Cross(d.engine, u.Read, s.route(owner, d.gpu).Channels...)
			links.Cross(d.engine, u.Written, s.route(d.gpu, owner).Channels...)
			peers.Read += u.Read
			peers.Written += u.Written
			return
		}
	}
	link.Read += u.Read
	link.Written += u.Written
}

// crossSwitch adds the traffic of a task with the host to the channels of the PCIe switch.
func (d *Device) crossSwitch(m *model.Demand) { d.gpu.port.Cross(d.engine, m) }
