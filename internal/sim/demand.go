package sim

import (
	"math"
	"slices"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/internal/interp"
)

const sectorBytes = 32

// demand returns the demand of a launch with statistics s.
func (d *Device) demand(j *job, s *interp.Stats) model.Demand {
	dram, inL2, link, moved := d.traffic(j, s)
	inL1 := 0.0
	if s.SectorsRead > 0 {
		inL1 = 1 - float64(s.SectorsMissed)/float64(s.SectorsRead)
	}
	trip := tripCycles(d.profile, inL1, inL2)
	lines := 0.0
	if s.Updates > 0 {
		lines = float64(s.UpdatedLines)
	}
	demand := model.Demand{
		Kind: model.Kernel, Blocks: float64(s.Blocks), PerSM: j.perSM, Work: s.Work,
		BlockCycles: d.turn(j, s.Path, trip), SlowestCycles: d.turn(j, s.Slowest, trip),
		Bytes: dram, L2Bytes: float64(s.SectorsMissed+s.SectorsWrite) * sectorBytes * max(1, s.Pairing),
		Memory:  s.SectorsRead+s.SectorsWrite > 0,
		Updates: float64(s.Updates), Lines: lines, LinkIn: link.Read, LinkOut: link.Written,
	}
	if des.PageFaults(d.profile) {
		demand.Faulted = moved
	} else {
		demand.Bulk = moved
	}
	return demand
}

// traffic returns the traffic of a launch: the bytes between L2 and DRAM, the fraction of its L2 accesses that hit,
// and the bytes over the host link. Each byte of remote memory crosses a link once. Managed memory that is on the
// host moves to the device here; moved is its size.
func (d *Device) traffic(j *job, s *interp.Stats) (dram, inL2 float64, link des.Use, moved float64) {
	d.uses, d.extents = d.uses[:0], d.extents[:0]
	var distinct, footprint float64
	var peers des.Use
	for i, t := range s.Touched {
		_, size, _ := d.memory.Base(t.Base)
		u := des.Use{Buffer: t.Base, Size: float64((size + sectorBytes - 1) &^ (sectorBytes - 1))}
		if i < len(s.Extents) {
			u.Read, u.Written = float64(s.Extents[i].Read), float64(s.Extents[i].Written)
		}
		distinct += u.Read
		footprint += max(u.Read, u.Written)
		if k := slices.IndexFunc(s.Visits, func(v interp.Visit) bool { return v.Base == t.Base }); k >= 0 {
			moved += d.visit(j, s, &s.Visits[k], &u)
		} else if d.memory.Home(t.Base, 0) != interp.Here {
			d.remote(t.Base, &u, &link, &peers)
			continue
		}
		d.uses = append(d.uses, u)
		if i < len(s.Extents) && s.Extents[i].Together > 0 {
			d.extents = append(d.extents, s.Extents[i])
		}
	}
	fetched, evicted := d.l2.Touch(d.uses)
	asked := float64(s.SectorsMissed) * sectorBytes
	again := max(0, asked-distinct)
	at := min(1, float64(d.profile.SMs)*j.perSM/float64(max(1, s.Blocks)))
	regained := min(again, regained(d.extents, at, float64(des.CacheBytes(d.profile))))
	// The remaining repeated accesses hit L2 if the footprint of concurrently running blocks fits into it.
	together := footprint * math.Pow(at, s.Growth)
	fetched = min(asked, fetched+regained+(again-regained)*max(0, 1-float64(des.CacheBytes(d.profile))/max(together, 1)))
	if asked > 0 {
		inL2 = 1 - min(asked, fetched+link.Read+peers.Read)/asked
	}
	return fetched + min(evicted, float64(s.SectorsWrite)*sectorBytes+fetched), inL2, link, moved
}

// regained returns how many bytes a launch fetches again because they were evicted from L2 since earlier blocks used
// them. It models an LRU cache by its characteristic time (H. Che et al., "Hierarchical Web Caching Systems", 2002).
// The model is for gathers: the bytes of a stencil are reused by neighbouring blocks, which run at about the same
// time. Argument at is the fraction of the blocks that run concurrently.
func regained(extents []interp.Extent, at, size float64) (bytes float64) {
	turns := lasts(extents, size)
	for _, x := range extents {
		whole := max(float64(x.Read), float64(x.Written), 1)
		held := min(1, x.Together*turns/whole)
		bytes += float64(x.Read) / whole * x.Span * max(0, x.Together/at-whole) * (1 - held)
	}
	return bytes
}

// lasts returns for how many turns the cache keeps a byte after its last use, by bisection. In each turn the
// concurrently running blocks access their bytes. The result is +Inf if everything fits.
func lasts(extents []interp.Extent, size float64) float64 {
	filled := func(turns float64) (bytes float64) {
		for _, x := range extents {
			bytes += min(float64(max(x.Read, x.Written)), x.Together*turns)
		}
		return bytes
	}
	if filled(math.Inf(1)) <= size {
		return math.Inf(1)
	}
	lo, hi := 0.0, 1.0
	for filled(hi) < size {
		hi *= 2
	}
	for range 30 {
		if mid := (lo + hi) / 2; filled(mid) < size {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// l1Share returns the bytes of L1 cache per block. L1 and shared memory are parts of the same memory of a
// multiprocessor.
func l1Share(p *model.Profile, perSM, shared int) int {
	return max(0, int(p.L1Bytes)/perSM-shared-p.Limits.SharedReserved)
}

// moved applies a copy or a memset to the L2 cache; src is 0 for a memset.
func (d *Device) moved(dst, src uint64, n int64) {
	d.uses = d.uses[:0]
	if base, size, ok := d.memory.Base(src); ok && d.memory.Home(src, n) == interp.Here {
		d.uses = append(d.uses, des.Use{Buffer: base, Size: float64(size), Read: float64(n)})
	}
	if base, size, ok := d.memory.Base(dst); ok && d.memory.Home(dst, n) == interp.Here {
		d.uses = append(d.uses, des.Use{Buffer: base, Size: float64(size), Written: float64(n)})
	}
	d.l2.Touch(d.uses)
}
