// Package machine describes machines of several GPUs: ranks, which are processes, the devices of each rank, the links
// between these devices, and the network between the ranks. docs/MACHINE.md describes the file format.
package machine

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device/model"
)

// Machine is a set of ranks and the network between them.
type Machine struct {
	ID      string // name of a built-in machine, path of a file, or what Uniform returned
	About   string // free text
	Ranks   []Rank
	Network Network // between nodes
	Shared  Network // between ranks of one node, through shared memory
}

// Rank is a process with devices.
type Rank struct {
	Node    int // ranks with the same number share a node
	Devices []Device
	Links   []Link
	Host    int64 // bytes of host memory that it may use; 0 if there is no limit
}

// Device is one GPU.
type Device struct {
	Profile *model.Profile // shared by equal devices; must not be changed
	Memory  int64          // bytes
	Weight  float64        // its share of each launch, relative to the other devices; 0 is the bandwidth of its memory in GB/s
}

// LinkKind is the kind of a Link.
type LinkKind uint8

const (
	// NVLink gives each of its devices a bandwidth of its own in each direction. All its devices are peers.
	NVLink LinkKind = iota
	// Switch is a PCIe switch. Copies between its devices use the host links of both devices. Copies between its devices
	// and the host also share the port of the switch.
	Switch
)

var linkKinds = [...]string{NVLink: "nvlink", Switch: "switch"}

func (k LinkKind) String() string {
	if int(k) < len(linkKinds) {
		return linkKinds[k]
	}
	return fmt.Sprintf("link kind %d", uint8(k))
}

// Link connects devices of a rank.
type Link struct {
	Kind     LinkKind
	Devices  []int      // numbers of devices of the rank, in ascending order
	GBps     float64    // 1e9 bytes/s in each direction: of each device of an NVLink; of the port to the host of a Switch
	PairGBps float64    // of an NVLink: limit for each pair of devices and direction; 0 is no limit
	Latency  model.Time // fixed cost of a copy between two of its devices
	Peers    bool       // copies between its devices are direct, and kernels can access the other memory
}

// Network describes how messages pass between ranks.
type Network struct {
	GBps    float64    // 1e9 bytes/s per node and direction; between ranks of one node, per rank
	Latency model.Time // from the end of the injection of a message to its arrival
	Message model.Time // time for which a message occupies its sender, and its receiver, beside its bytes
}

// Devices returns the number of devices of all ranks.
func (m *Machine) Devices() (n int) {
	for i := range m.Ranks {
		n += len(m.Ranks[i].Devices)
	}
	return n
}

// String describes the size of the machine, as in "rtx4090-4: 1 rank x 4 devices".
func (m *Machine) String() string {
	plural := func(n int, what string) string {
		if n == 1 {
			return "1 " + what
		}
		return fmt.Sprintf("%d %ss", n, what)
	}
	size := plural(len(m.Ranks), "rank")
	each := len(m.Ranks[0].Devices)
	if m.Devices() == each*len(m.Ranks) {
		return fmt.Sprintf("%s: %s x %s", m.ID, size, plural(each, "device"))
	}
	return fmt.Sprintf("%s: %s, %s", m.ID, size, plural(m.Devices(), "device"))
}

// Between returns the network between two ranks: Shared if they are of one node, otherwise Network.
func (m *Machine) Between(a, b int) *Network {
	if m.Ranks[a].Node == m.Ranks[b].Node {
		return &m.Shared
	}
	return &m.Network
}

// Path returns the link that copies between two devices of the rank use: the first that has both and whose devices are
// peers. It returns nil if the devices are not peers, so that their copies pass through host memory.
func (r *Rank) Path(a, b int) *Link {
	for i := range r.Links {
		if l := &r.Links[i]; l.Peers && a != b && l.Has(a) && l.Has(b) {
			return l
		}
	}
	return nil
}

// Has reports whether the link has a device.
func (l *Link) Has(device int) bool {
	for _, d := range l.Devices {
		if d == device {
			return true
		}
	}
	return false
}

// CopyGBps returns the bandwidth, in 1e9 bytes/s, of a single copy from device a to device b while nothing else uses the
// links of the rank. It is 0 if the devices are not peers.
func (r *Rank) CopyGBps(a, b int) float64 {
	l := r.Path(a, b)
	switch {
	case l == nil:
		return 0
	case l.Kind == Switch:
		return min(r.Devices[a].Profile.LinkGBps, r.Devices[b].Profile.LinkGBps)
	case l.PairGBps > 0:
		return min(l.GBps, l.PairGBps)
	}
	return l.GBps
}
