package des

import "math"

// Busy adds up for how long tasks keep a device busy, whatever their order: by resource,
// as if each got all of it from the first instant to the last.
type Busy struct {
	profile *Profile
	device  supplies
	asked   supplies
	slots   float64           // ps in which kernels fill the multiprocessors
	lines   [copyEngines]Time // of the copy engines, which serve one copy at a time
	host    Time              // of the callback thread
	filled  map[float64]Time  // by blocks to a multiprocessor: of kernels that fill the device
}

// NewBusy returns the sums of no tasks.
func NewBusy(p *Profile) *Busy {
	b := &Busy{profile: p, filled: map[float64]Time{}}
	b.device, _ = p.supplies()
	return b
}

// Add counts a task.
func (b *Busy) Add(d Demand) {
	switch d.Kind {
	case Kernel:
		b.kernel(&d)
	case CopyOn:
		b.asked[DRAM] += d.Bytes
	case CopyIn:
		b.copied(0, LinkIn, b.profile.CopyInLatency, d.Bytes)
	case CopyOut:
		b.copied(1, LinkOut, b.profile.CopyOutLatency, d.Bytes)
	case Host:
		b.host += b.profile.HostCallLatency + d.Duration
	}
}

func (b *Busy) kernel(d *Demand) {
	for r, n := range b.profile.work(d) {
		b.asked[r] += n
	}
	perSM, turn := math.Floor(d.PerSM), d.BlockCycles*1e6/b.profile.ClockMHz
	capacity := float64(b.profile.SMs) * perSM
	b.slots += d.Blocks * turn / capacity
	if d.Blocks >= capacity {
		b.filled[perSM] += b.ramp(d) + Time((d.Blocks-capacity)/capacity*turn)
	}
	for _, r := range faulting {
		b.asked[r] += d.Faulted
	}
	if d.Bulk > 0 {
		b.copied(0, LinkIn, b.profile.CopyInLatency, d.Bulk)
	}
}

// ramp is the least time from a kernel's first slot to the first of its blocks that computes.
func (b *Busy) ramp(d *Demand) Time {
	if d.Faulted == 0 {
		return b.profile.KernelRamp
	}
	rate := math.Inf(1)
	for _, r := range faulting {
		rate = min(rate, b.device[r])
	}
	return b.profile.KernelRamp + b.profile.FaultLatency + Time(d.Faulted/rate)
}

func (b *Busy) copied(line int, link Limit, latency Time, bytes float64) {
	b.lines[line] += latency
	if bytes == 0 {
		return
	}
	for _, r := range []Limit{link, Link, DRAM} {
		b.asked[r] += bytes
	}
	rate := min(b.device[link], b.device[Link], b.device[DRAM])
	b.lines[line] += Time(bytes / rate)
}

// Most is how long the busiest resource takes: no order of the tasks is done sooner.
func (b *Busy) Most() Time {
	most := max(b.slots, float64(b.lines[0]), float64(b.lines[1]), float64(b.host))
	for r, n := range b.asked {
		most = max(most, n/b.device[r])
	}
	return Time(most)
}

// Filled is how long kernels take that fill the device, where none has priority. Such a kernel takes
// every slot that comes free until fewer blocks are left than it holds, so that of two with the
// same number of blocks to a multiprocessor the later begins when the earlier has ramped up and
// has no full wave left.
func (b *Busy) Filled() (most Time) {
	for _, t := range b.filled {
		most = max(most, t)
	}
	return most
}

// LeastTime is a bound: from its start to its end a task takes no less, whatever runs beside it. A kernel that has
// the device to itself may take longer: beside others its blocks come in other waves, of which the last may be fuller.
func LeastTime(p *Profile, d Demand) Time {
	b := NewBusy(p)
	b.Add(d)
	switch d.Kind {
	case Fixed:
		return d.Duration
	case Host:
		return b.host
	case CopyOn:
		return p.CopyOnLatency + b.Most()
	case Kernel:
		return b.lines[0] + b.ramp(&d) + leastComputing(p, &d)
	}
	return max(b.lines[0], b.lines[1])
}

// leastComputing is the least time of a kernel's blocks from the end of the ramp on.
func leastComputing(p *Profile, d *Demand) Time {
	device, perSM := p.supplies()
	cycle := 1e6 / p.ClockMHz
	slots := min(d.Blocks, float64(p.SMs)*math.Floor(d.PerSM))
	least := cycle * max(d.SlowestCycles, d.BlockCycles*d.Blocks/slots)
	for r, n := range p.work(d) {
		if n > 0 {
			least = max(least, n/min(device[r], perSM[r]*min(slots, float64(p.SMs))))
		}
	}
	return Time(least * (1 - slack))
}
