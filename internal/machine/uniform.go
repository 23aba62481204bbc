package machine

import (
	"fmt"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/profiles"
)

// Figures of the machines that Uniform returns; those of machine h200-4 and of its network where it has several nodes. The
// sources are in machines/h200-128x8.json.
var (
	uniformLink   = Link{Kind: NVLink, GBps: 376, Latency: 2 * model.Microsecond, Peers: true}
	uniformNet    = Network{GBps: 50, Latency: 2 * model.Microsecond, Message: 500 * model.Nanosecond}
	uniformShared = Network{GBps: 10, Latency: 500 * model.Nanosecond, Message: 200 * model.Nanosecond}
)

// Uniform returns a machine of equal ranks with equal devices of a profile, each rank on a node of its own. The devices of
// a rank are peers by NVLink. The error is that of an unknown profile, or of a number below 1 or above that of a file.
func Uniform(ranks, devices int, profile string) (*Machine, error) {
	if ranks < 1 || devices < 1 {
		return nil, fmt.Errorf("a machine of %d ranks with %d devices each; both must be at least 1", ranks, devices)
	}
	if ranks > maxRanks || devices > maxDevices {
		return nil, fmt.Errorf("a machine of %d ranks with %d devices each; at most %d ranks and %d devices of a rank are possible", ranks, devices, maxRanks, maxDevices)
	}
	p, err := profiles.Lookup(profile)
	if err != nil {
		return nil, err
	}
	m := &Machine{ID: fmt.Sprintf("%dx%d %s", ranks, devices, profile), Network: uniformNet, Shared: uniformShared}
	r := Rank{Devices: make([]Device, devices)}
	for i := range r.Devices {
		r.Devices[i] = Device{Profile: p, Memory: p.MemoryBytes}
	}
	if devices > 1 {
		l := uniformLink
		l.Devices = upTo(devices)
		r.Links = []Link{l}
	}
	for i := range ranks {
		r.Node = i
		m.Ranks = append(m.Ranks, r)
	}
	return m, nil
}

// upTo returns the numbers from 0 to n-1.
func upTo(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
