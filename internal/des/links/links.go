// Package links turns the links of a rank into channels of a clock. The simulated GPU and package timing of internal/ranks
// use the same channels.
//
// Traffic between GPUs, and between GPUs at a PCIe switch and the host, crosses channels that several GPUs share:
//
//	NVLink        out of the source ──► of the pair, if it is limited ──► in of the destination
//	PCIe switch   port of the source, out ──► port of the destination, in
//	host          port of the switch ──► port of the GPU, and back
package links

import (
	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/internal/machine"
)

// Port is the place of a GPU at a PCIe switch: the channels of its own link and those of the switch to the host.
type Port struct{ In, Out, HostIn, HostOut *des.Channel }

// Route is the way from one GPU to another.
type Route struct {
	Latency  model.Time // fixed cost of a copy
	Channels []*des.Channel
}

// Links is the links of a rank. Devices have their numbers in the rank.
type Links struct {
	Ports  []*Port    // nil for a device at no switch
	Routes [][]*Route // from, to; nil if the devices are not peers
}

// New returns the links of a rank, with channels of the clock.
func New(r *machine.Rank, clock *des.Clock) *Links {
	n := len(r.Devices)
	b := builder{r, clock, &Links{make([]*Port, n), make([][]*Route, n)}}
	for i := range b.links.Routes {
		b.links.Routes[i] = make([]*Route, n)
	}
	for i := range r.Links {
		if r.Links[i].Kind == machine.Switch {
			b.plug(&r.Links[i])
		}
	}
	for i := range r.Links {
		b.connect(&r.Links[i])
	}
	return b.links
}

// builder creates the channels.
type builder struct {
	rank  *machine.Rank
	clock *des.Clock
	links *Links
}

// plug gives the devices at a switch their ports.
func (b *builder) plug(l *machine.Link) {
	in, out := b.clock.Channel(l.GBps), b.clock.Channel(l.GBps)
	for _, i := range l.Devices {
		gbps := b.rank.Devices[i].Profile.LinkGBps
		b.links.Ports[i] = &Port{b.clock.Channel(gbps), b.clock.Channel(gbps), in, out}
	}
}

// connect adds the routes of the pairs whose path is the link.
func (b *builder) connect(l *machine.Link) {
	in, out := map[int]*des.Channel{}, map[int]*des.Channel{}
	for _, i := range l.Devices {
		if p := b.links.Ports[i]; l.Kind == machine.Switch {
			in[i], out[i] = p.In, p.Out
		} else {
			in[i], out[i] = b.clock.Channel(l.GBps), b.clock.Channel(l.GBps)
		}
	}
	for _, from := range l.Devices {
		for _, to := range l.Devices {
			if b.rank.Path(from, to) != l {
				continue
			}
			r := &Route{l.Latency, []*des.Channel{out[from], in[to]}}
			if l.PairGBps > 0 {
				r.Channels = append(r.Channels, b.clock.Channel(l.PairGBps))
			}
			b.links.Routes[from][to] = r
		}
	}
}

// Cross adds bytes over channels to the task that an engine is starting.
func Cross(e *des.Engine, bytes float64, channels ...*des.Channel) {
	for _, c := range channels {
		e.Cross(des.Crossing{Over: c, Bytes: bytes})
	}
}

// Cross adds the traffic of a task with the host to the channels of the PCIe switch. Of a kernel only the port of the
// switch counts, because its own link is a resource of the device. p may be nil.
func (p *Port) Cross(e *des.Engine, m *model.Demand) {
	if p == nil {
		return
	}
	switch m.Kind {
	case model.CopyIn:
		Cross(e, m.Bytes, p.HostIn, p.In)
	case model.CopyOut:
		Cross(e, m.Bytes, p.HostOut, p.Out)
	case model.Kernel:
		Cross(e, m.LinkIn+m.Faulted+m.Bulk, p.HostIn)
		Cross(e, m.LinkOut, p.HostOut)
	}
}
