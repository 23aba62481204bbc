package des

import (
	"math"

	"github.com/reprise-gpu/reprise/device/model"
)

// Busy sums, for each resource, how long a set of tasks occupies it. The sums do not depend on the order of the
// tasks: each task counts as if it had the whole resource from its start to its end.
type Busy struct {
	profile *model.Profile
	device  supplies
	asked   supplies
	slots   float64                 // ps in which kernels occupy all slots of the multiprocessors
	lines   [copyEngines]model.Time // time of each copy engine, which serves one copy at a time
	host    model.Time              // time of the callback thread
	filled  map[float64]model.Time  // time of kernels that fill the device, by resident blocks per multiprocessor
}

// NewBusy returns sums for no tasks.
func NewBusy(p *model.Profile) *Busy {
	b := &Busy{profile: p, filled: map[float64]model.Time{}}
	b.device, _ = suppliesOf(p)
	return b
}

// Add adds a task to the sums.
func (b *Busy) Add(d model.Demand) {
	switch d.Kind {
	case model.Kernel:
		b.kernel(&d)
	case model.CopyOn:
		b.asked[DRAM] += d.Bytes
	case model.CopyIn:
		b.copied(0, LinkIn, b.profile.CopyInLatency, d.Bytes)
	case model.CopyOut:
		b.copied(1, LinkOut, b.profile.CopyOutLatency, d.Bytes)
	case model.Host:
		b.host += b.profile.HostCallLatency + d.Duration
	}
}

func (b *Busy) kernel(d *model.Demand) {
	for r, n := range workOf(d, b.profile) {
		b.asked[r] += n
	}
	perSM, turn := math.Floor(d.PerSM), d.BlockCycles*1e6/b.profile.ClockMHz
	capacity := float64(b.profile.SMs) * perSM
	b.slots += d.Blocks * turn / capacity
	if d.Blocks >= capacity {
		b.filled[perSM] += b.ramp(d) + model.Time((d.Blocks-capacity)/capacity*turn)
	}
	for _, r := range faulting {
		b.asked[r] += d.Faulted
	}
	if d.Bulk > 0 {
		b.copied(0, LinkIn, b.profile.CopyInLatency, d.Bulk)
	}
}

// ramp returns the least time from a kernel's first slot to the start of its first computing block.
func (b *Busy) ramp(d *model.Demand) model.Time {
	least := b.profile.KernelRamp
	if d.Memory {
		least += b.profile.FlushLatency
	}
	if d.Faulted == 0 {
		return least
	}
	rate := math.Inf(1)
	for _, r := range faulting {
		rate = min(rate, b.device[r])
	}
	return least + b.profile.FaultLatency + model.Time(d.Faulted/rate)
}

func (b *Busy) copied(line int, link Limit, latency model.Time, bytes float64) {
	b.lines[line] += latency
	if bytes == 0 {
		return
	}
	for _, r := range []Limit{link, Link, DRAM} {
		b.asked[r] += bytes
	}
	rate := min(b.device[link], b.device[Link], b.device[DRAM])
	b.lines[line] += model.Time(bytes / rate)
}

// Most returns the time of the busiest resource. It is a lower bound of the makespan of the tasks in any order.
func (b *Busy) Most() model.Time {
	most := max(b.slots, float64(b.lines[0]), float64(b.lines[1]), float64(b.host))
	for r, n := range b.asked {
		most = max(most, n/b.device[r])
	}
	return model.Time(most)
}

// Filled returns a lower bound of the makespan from kernels that fill the device, provided that none has priority.
// Such a kernel takes every free slot until it has less than one full wave of blocks left. Of two such kernels with
// the same number of resident blocks per multiprocessor, the second therefore starts only after the ramp and all full
// waves of the first.
func (b *Busy) Filled() (most model.Time) {
	for _, t := range b.filled {
		most = max(most, t)
	}
	return most
}

// LeastTime returns a lower bound of the duration of a task from start to end, with any tasks beside it. A kernel
// that runs alone may take longer than beside others, because other waves may have a fuller tail.
func LeastTime(p *model.Profile, d model.Demand) model.Time {
	b := NewBusy(p)
	b.Add(d)
	switch d.Kind {
	case model.Fixed:
		return d.Duration
	case model.Host:
		return b.host
	case model.CopyOn:
		return p.CopyOnLatency + b.Most()
	case model.Kernel:
		return b.lines[0] + b.ramp(&d) + leastComputing(p, &d)
	}
	return max(b.lines[0], b.lines[1])
}

// leastComputing returns the least time of a kernel's blocks from the end of the ramp.
func leastComputing(p *model.Profile, d *model.Demand) model.Time {
	device, perSM := suppliesOf(p)
	cycle := 1e6 / p.ClockMHz
	slots := min(d.Blocks, float64(p.SMs)*math.Floor(d.PerSM))
	var parts overlap
	parts.add(Latency, cycle*d.BlockCycles*d.Blocks/slots)
	for r, n := range workOf(d, p) {
		if n > 0 {
			parts.add(Limit(r), n/min(device[r], perSM[r]*min(slots, float64(p.SMs))))
		}
	}
	return model.Time(max(cycle*d.SlowestCycles, parts.whole()) * (1 - slack))
}

// Shares returns for how long the tasks keep the most busy pipe of the multiprocessors busy, and for how long the most busy of
// caches, memory and links. Both are 0 for tasks that use neither.
func (b *Busy) Shares() (compute, memory model.Time) {
	var most [2]float64
	for r, n := range b.asked {
		if n > 0 {
			kind := &most[0]
			if Limit(r) >= L2 {
				kind = &most[1]
			}
			*kind = max(*kind, n/b.device[r])
		}
	}
	return model.Time(most[0]), model.Time(most[1])
}
