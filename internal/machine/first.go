package machine

import "fmt"

// First returns the machine of the first devices: all of the first ranks, and the first ones of the last rank. Links keep
// the devices that are left. The error is that of a number below 1 or above that of the machine.
func (m *Machine) First(devices int) (*Machine, error) {
	if most := m.Devices(); devices < 1 || devices > most {
		return nil, fmt.Errorf("%d devices of machine %s, which has %d: use a number from 1 to %d, or another machine", devices, m.ID, most, most)
	}
	part := *m
	part.Ranks = nil
	for _, r := range m.Ranks {
		if devices == 0 {
			break
		}
		n := min(devices, len(r.Devices))
		part.Ranks = append(part.Ranks, r.first(n))
		devices -= n
	}
	return &part, nil
}

// first returns the rank with its first n devices.
func (r Rank) first(n int) Rank {
	if n == len(r.Devices) {
		return r
	}
	r.Devices = r.Devices[:n:n]
	var links []Link
	for _, l := range r.Links {
		var kept []int
		for _, d := range l.Devices {
			if d < n {
				kept = append(kept, d)
			}
		}
		if l.Devices = kept; len(kept) > 0 {
			links = append(links, l)
		}
	}
	r.Links = links
	return r
}
