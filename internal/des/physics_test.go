package des

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/profiles"
	"github.com/reprise-gpu/reprise/internal/unit"
)

// The laws that virtual time must keep whatever the figures of a profile are.

// randomKernel is a demand of any proportions: bound by latency, by a pipe, by L2,
// by DRAM, by atomics, or by its slowest block.
func randomKernel(r *rand.Rand) model.Demand {
	d := model.Demand{
		Kind: model.Kernel, Blocks: float64(1 + r.IntN(5000)), PerSM: float64(1 + r.IntN(16)),
		BlockCycles: math.Exp(r.Float64() * 12),
	}
	some := func(scale float64) float64 {
		if r.IntN(3) == 0 {
			return 0
		}
		return d.Blocks * math.Exp(r.Float64()*scale)
	}
	d.SlowestCycles = d.BlockCycles * (1 + 3*r.Float64()*float64(r.IntN(2)))
	for u := range d.Work {
		d.Work[u] = some(9)
	}
	d.Bytes = some(12)
	d.L2Bytes = d.Bytes + some(12)
	d.Updates = some(6)
	d.Lines = float64(r.IntN(100))
	return d
}

// floors are the times, in ps, that no run of a kernel can be shorter than, each
// from the profile's figures alone.
func floors(p *model.Profile, d *model.Demand) map[string]float64 {
	cycle := 1e6 / p.ClockMHz
	sms := float64(p.SMs)
	gbps := func(bytes, rate float64) float64 { return bytes / rate * 1e3 }
	f := map[string]float64{
		"DRAM":          gbps(d.Bytes, p.MemoryGBps*p.MemoryShare),
		"L2":            gbps(max(d.L2Bytes, d.Bytes), p.L2GBps),
		"one SM's link": gbps(max(d.L2Bytes, d.Bytes), p.SMGBps*min(sms, d.Blocks)),
		"issue":         d.Work.Total() / 4 / min(sms, d.Blocks) * cycle,
		"slowest block": d.SlowestCycles * cycle,
		"all blocks":    d.Blocks * d.BlockCycles / (sms * d.PerSM) * cycle,
		"block starts":  d.Blocks / p.BlockRate * cycle,
		"updates":       d.Updates / min(p.L2Slices, max(d.Lines, 1)) * cycle,
	}
	if d.Lines == 0 {
		f["updates"] = d.Updates / p.L2Slices * cycle
	}
	for u, n := range d.Work {
		f[unit.Unit(u).String()] = n * 32 / p.Lanes[u] / min(sms, d.Blocks) * cycle
	}
	return f
}

func TestNoKernelIsFasterThanWhatItNeeds(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	tight := map[string]bool{}
	for range 3000 {
		for _, p := range profiles.All() {
			d := onManagedMemory(r, randomKernel(r))
			span := spans(p, d)[0]
			require.GreaterOrEqual(t, float64(span.Begin), d.Bulk/p.LinkGBps*1e3, "its memory comes first")
			took := float64(span.End - span.Begin - p.KernelRamp)
			if d.Faulted > 0 { // and what it faults in comes before all of the rest
				faults := d.Faulted / p.LinkGBps * 1e3
				if p.FaultGBps > 0 {
					faults = d.Faulted / p.FaultGBps * 1e3
				}
				require.GreaterOrEqual(t, took+2, faults+float64(p.FaultLatency))
				took -= faults + float64(p.FaultLatency)
			}
			most, which := 0.0, ""
			for name, floor := range floors(p, &d) {
				require.GreaterOrEqual(t, took+2, floor, "%s on %s: %+v", name, p.ID, d)
				if floor > most {
					most, which = floor, name
				}
			}
			if took < 1.02*most {
				tight[which] = true
			}
		}
	}
	for _, name := range []string{"DRAM", "L2", "slowest block", "all blocks", "updates", "fp64", "special", "memory", "shuffle"} {
		assert.True(t, tight[name], "no kernel is as slow as %s alone makes it", name)
	}
}

// better is a device with more of something, and which.
func better(r *rand.Rand, p *model.Profile) (*model.Profile, string) {
	q := *p
	f := 1 + 2*r.Float64()
	switch r.IntN(5) {
	case 0:
		q.SMs = int(math.Ceil(float64(p.SMs) * f))
		return &q, "multiprocessors"
	case 1:
		q.MemoryGBps *= f
		return &q, "DRAM bandwidth"
	case 2:
		q.L2GBps *= f
		return &q, "L2 bandwidth"
	case 3:
		q.ClockMHz *= f
		return &q, "clock"
	}
	for u := range q.Lanes {
		q.Lanes[u] *= f
	}
	return &q, "lanes"
}

// One kernel alone is never slower on a better device, but for its tail: with more
// multiprocessors its waves are larger, and the last of them, which has the device
// half empty, may have more blocks in it or fewer. That costs at most what a
// multiprocessor takes for the blocks it holds.
func TestMoreHardwareNeverSlowsOneKernel(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	for range 3000 {
		d := randomKernel(r)
		p := profiles.All()[r.IntN(len(profiles.All()))]
		q, what := better(r, p)
		tail := model.Time(0)
		if q.SMs != p.SMs {
			tail = fullSM(p, &d)
		}
		require.LessOrEqual(t, spans(q, d)[0].End, spans(p, d)[0].End+tail+2, "more %s: %+v", what, d)
	}
}

// fullSM is how long a multiprocessor takes for the blocks it holds at once.
func fullSM(p *model.Profile, d *model.Demand) model.Time {
	_, perSM := suppliesOf(p)
	longest := d.BlockCycles * 1e6 / p.ClockMHz
	for r, n := range workOf(d, p) {
		longest = max(longest, d.PerSM*n/d.Blocks/perSM[r])
	}
	return model.Time(longest)
}

// Programs of many kernels can get slower with more hardware, as list schedules
// do: what runs together changes. Graham's bound on multiprocessing anomalies
// (1969) is a factor of 2 - 1/m for m machines; the fluid model stays below it.
func TestAnomaliesStayWithinGrahamsBound(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	worst := 0.0
	for range 1500 {
		p := profiles.All()[r.IntN(len(profiles.All()))]
		q, what := better(r, p)
		tasks := make([]Task, 2+r.IntN(20))
		for i := range tasks {
			tasks[i] = Task{Data: randomKernel(r)}
			for range r.IntN(3) {
				if i > 0 {
					tasks[i].Deps = append(tasks[i].Deps, TaskID(r.IntN(i)))
				}
			}
		}
		before, after := makespan(p, tasks), makespan(q, tasks)
		worst = max(worst, float64(after)/float64(before))
		require.Less(t, float64(after), 2*float64(before), "more %s", what)
	}
	t.Logf("worst ratio %.3f", worst)
	assert.Less(t, worst, 1.25, "what 1500 random programs show, and far from the bound")
}

func makespan(p *model.Profile, tasks []Task) model.Time {
	e := demanding(p)
	for _, t := range tasks {
		e.Add(t)
	}
	return e.Drain()
}

// Two kernels that each fill half of the device run together in the time of one,
// whatever bounds them, as long as half of the device is what they use of it.
func TestTwoHalfDeviceKernelsOverlap(t *testing.T) {
	for _, p := range profiles.All() {
		half := math.Floor(float64(p.SMs) / 2)
		for name, d := range map[string]model.Demand{
			"latency": {Kind: model.Kernel, Blocks: half * 4, PerSM: 4, BlockCycles: 50_000},
			"fma":     {Kind: model.Kernel, Blocks: half, PerSM: 1, BlockCycles: 1000, Work: unit.Work{unit.FP32: half * 400_000}},
			// 100 us, in which it moves 40 % of what the device could.
			"memory": {Kind: model.Kernel, Blocks: half, PerSM: 1, BlockCycles: 100 * p.ClockMHz, Bytes: 0.4 * p.MemoryGBps * p.MemoryShare * 100_000},
		} {
			alone := spans(p, d)[0].End
			both := spans(p, d, d)
			assert.InEpsilon(t, float64(alone), float64(max(both[0].End, both[1].End)), 0.1, "%s on %s", name, p.ID)
		}
	}
}

// How kernels interleave changes when resources are used and not how much: what
// the device has done at the end is the sum of what was asked.
func TestWorkIsConserved(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 28))
	for range 300 {
		p := profiles.All()[r.IntN(len(profiles.All()))]
		tasks := make([]Task, 1+r.IntN(20))
		var want supplies
		for i := range tasks {
			d := onManagedMemory(r, randomKernel(r))
			d.Bulk = 0 // a copy's, which counts the bytes in memory as well
			tasks[i] = Task{Arrival: model.Time(r.IntN(100)) * model.Microsecond, Priority: int32(r.IntN(3)), Data: d}
			for k, n := range workOf(&d, p) {
				want[k] += n
			}
			for _, k := range []Limit{LinkIn, Link, Faults} {
				want[k] += d.Faulted
			}
		}
		for range 2 {
			e := demanding(p)
			for _, t := range tasks {
				e.Add(t)
			}
			e.Drain()
			for k, n := range want {
				require.InEpsilon(t, 1+n, 1+e.fluid.used[k], 1e-6, "%v", Limit(k))
			}
			r.Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
		}
	}
}

func TestMoreOccupancyNeverSlowsWhatWaits(t *testing.T) {
	r := rand.New(rand.NewPCG(29, 30))
	for range 1000 {
		p := *profiles.All()[r.IntN(len(profiles.All()))]
		p.BlockRate = 0 // or short blocks would wait for the block scheduler
		d := model.Demand{Kind: model.Kernel, Blocks: float64(1 + r.IntN(20000)), BlockCycles: float64(100 + r.IntN(100_000))}
		last := never - 1
		for perSM := 1.0; perSM <= 32; perSM++ {
			d.PerSM = perSM
			took := spans(&p, d)[0].End
			require.LessOrEqual(t, took, last+1)
			last = took
		}
		assert.Equal(t, Latency, dominant(&p, d))
	}
}

// dominant is what limited most of a demand that ran alone.
func dominant(p *model.Profile, d model.Demand) Limit {
	records, _ := recorded(p, []Task{{Data: d}})
	spent := records[0].Spent
	spent[Ramp] = 0
	return spent.Most()
}

func TestCopiesShareTheLink(t *testing.T) {
	for _, p := range profiles.All() {
		const bytes = 1 << 28
		in, out := model.Demand{Kind: model.CopyIn, Bytes: bytes}, model.Demand{Kind: model.CopyOut, Bytes: bytes}
		alone := float64(spans(p, in)[0].End)
		both := spans(p, in, out)
		together := float64(max(both[0].End, both[1].End))
		assert.Less(t, together, 1.3*alone, "%s: both directions at once", p.ID)
		assert.GreaterOrEqual(t, together, 2*bytes/p.DuplexGBps*1e3, "%s: and no faster than the link", p.ID)
		twice := spans(p, in, in)
		assert.InEpsilon(t, 2*alone, float64(twice[1].End), 1e-3, "%s: one direction, one after the other", p.ID)
	}
}

// A kernel of higher priority waits for at most the waves that run when it
// arrives, however much is enqueued before it.
func TestPriorityWaitsForOneWave(t *testing.T) {
	r := rand.New(rand.NewPCG(31, 32))
	for range 300 {
		p := profiles.All()[r.IntN(len(profiles.All()))]
		e := demanding(p)
		longest := 0.0
		for range 1 + r.IntN(5) {
			d := model.Demand{Kind: model.Kernel, Blocks: float64(1 + r.IntN(50_000)), PerSM: float64(1 + r.IntN(8)), BlockCycles: float64(1000 + r.IntN(50_000))}
			longest = max(longest, d.BlockCycles*1e6/p.ClockMHz)
			e.Add(Task{Data: d, Priority: 1})
		}
		at := model.Time(r.IntN(200)) * model.Microsecond
		urgent := e.Add(Task{Arrival: at, Data: model.Demand{Kind: model.Kernel, Blocks: 100, PerSM: 8, BlockCycles: 1000}})
		e.Drain()
		require.LessOrEqual(t, float64(e.Span(urgent).Begin-at), 2*longest)
	}
}

func TestTimesRepeat(t *testing.T) {
	for seed := range uint64(20) {
		run := func() []Record {
			records, _ := recorded(latent(), program(rand.New(rand.NewPCG(seed, 33)), 80))
			for i := range records {
				records[i].Data = nil
			}
			return records
		}
		require.True(t, slices.Equal(run(), run()))
	}
}
