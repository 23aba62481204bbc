package interp

import (
	"slices"
	"sync"
)

// A region is the range of addresses of one space. Spaces that are used at the same time
// have different regions, so that an address of one device is never that of an allocation
// of another, as with unified addressing. A space gets the lowest of the regions that the
// fewest other spaces have: a space that is alone in a process always has the same
// addresses.
//
//	region   device memory            memory of the host
//	0        from 0x0002_0000_0000    from 0x5000_0000_0000
//	1        1 TiB further            64 GiB further
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

// enterRegion assigns the space a region, if it has none yet.
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

// leaveRegion frees the region. A space that is alone afterwards gets the same
// addresses as in a process of its own.
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

// first returns the start of the space's device memory.
func (s *Space) first() uint64 { return firstAddress + uint64(s.region)<<regionShift }

// inRegion returns the number of a 128-byte line relative to the start of its region.
// Hashes of lines, and the estimates made from them, are therefore the same in all regions.
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
