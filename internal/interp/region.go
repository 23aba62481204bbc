package interp

import (
	"slices"
	"sync"
)

// A region is the addresses of one space. Separate spaces that are used at the same time have different regions, so that an address of one
// device is no allocation of another, as unified addressing has it within a space. A space has the lowest region that
// the fewest others have: what runs alone in a process always finds the same addresses.
const (
	regionShift     = 40 // of device memory: 1 TiB from one region to the next
	hostRegionShift = 36 // of memory of the host
	regionCount     = 64
)

// regions counts the spaces in use, by region.
var regions struct {
	sync.Mutex
	users [regionCount]int
}

// enterRegion gives the space a region, if it has no addresses yet.
func (s *Space) enterRegion() {
	if !s.separate || len(s.memories) > 0 || len(s.reservations) > 0 {
		return
	}
	regions.Lock()
	defer regions.Unlock()
	region := slices.Index(regions.users[:], slices.Min(regions.users[:]))
	regions.users[region]++
	s.nextHost += uint64(region)<<hostRegionShift - uint64(s.region)<<hostRegionShift
	s.region, s.counted = region, true
	s.next, s.holes = s.first(), nil
}

// leaveRegion ends the use of the region. What runs alone after that finds the addresses that it finds in a process of its
// own.
func (s *Space) leaveRegion() {
	if len(s.memories) > 0 || len(s.reservations) > 0 {
		return
	}
	s.next, s.holes = s.first(), nil
	if s.counted {
		regions.Lock()
		defer regions.Unlock()
		regions.users[s.region]--
		s.counted = false
	}
}

// first is where device memory of the space begins.
func (s *Space) first() uint64 { return firstAddress + uint64(s.region)<<regionShift }

// inRegion is the number of a line of 128 bytes without the region that it is in: what is estimated from hashes of lines
// is the same in all regions.
func inRegion(line uint64) uint64 {
	const shift, host = 7, FirstHostAddress >> 7
	switch {
	case line < host:
		return line &^ ((regionCount - 1) << (regionShift - shift))
	case line < host+regionCount<<(hostRegionShift-shift):
		return host + (line-host)&(1<<(hostRegionShift-shift)-1)
	}
	return line
}
