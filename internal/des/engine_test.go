package des

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/unit"
)

// plain is a device whose closed forms a reader can check by hand: 4
// multiprocessors at 1 GHz (one cycle is 1 ns), 1000 bytes/ns of DRAM of which
// one multiprocessor draws 400, a link of 10 bytes/ns, of which page faults get 5, and
// no latencies.
func plain() *model.Profile {
	return &model.Profile{SMs: 4, ClockMHz: 1000, MemoryGBps: 1000, SMGBps: 400, LinkGBps: 10, FaultGBps: 5, MaxKernels: 128, Limits: model.Limits{Schedulers: 4}}
}

const ns = model.Nanosecond

// demanding returns an engine whose tasks carry their demand as data.
func demanding(p *model.Profile) *Engine {
	return New(p, func(_ TaskID, data any) model.Demand { return data.(model.Demand) })
}

func kernel(blocks, perSM, blockCycles float64) model.Demand {
	return model.Demand{Kind: model.Kernel, Blocks: blocks, PerSM: perSM, BlockCycles: blockCycles}
}

// issue is work that takes only issue slots on a device whose pipes are unlimited.
func issue(insts float64) unit.Work { return unit.Work{unit.FP32: insts} }

// spans adds the demands as independent tasks at time 0 and returns where they ran.
func spans(p *model.Profile, demands ...model.Demand) []Span {
	e := demanding(p)
	for _, d := range demands {
		e.Add(Task{Data: d})
	}
	e.Drain()
	out := make([]Span, len(demands))
	for i := range out {
		out[i] = e.Span(TaskID(i))
	}
	return out
}

// whole is the time of a kernel whose parts take the given times alone, in ns.
func whole(parts ...float64) model.Time {
	sum := 0.0
	for _, p := range parts {
		sum += math.Pow(p, 4)
	}
	return model.Time(math.Pow(sum, 0.25) * float64(ns))
}

func TestOneKernelAlone(t *testing.T) {
	for _, c := range []struct {
		name string
		d    model.Demand
		end  model.Time
	}{
		{"one wave", kernel(8, 2, 100), 100 * ns},
		{"two full waves", kernel(16, 2, 100), 200 * ns},
		{"a tail wave costs a whole one", kernel(17, 2, 100), 300 * ns},
		{"one block", kernel(1, 2, 100), 100 * ns},
		// 8 blocks on 4 multiprocessors issue 4x4 instructions per cycle.
		{"bound by issue", model.Demand{Kind: model.Kernel, Blocks: 8, PerSM: 2, BlockCycles: 10, Work: issue(16000)}, 1000 * ns},
		// 2 blocks touch 2 multiprocessors: 8 per cycle.
		{"bound by issue on two multiprocessors", model.Demand{Kind: model.Kernel, Blocks: 2, PerSM: 2, BlockCycles: 10, Work: issue(16000)}, 2000 * ns},
		{"bound by DRAM", model.Demand{Kind: model.Kernel, Blocks: 8, PerSM: 2, BlockCycles: 10, Bytes: 1e6}, whole(1000, 625)}, // the multiprocessors can draw 1600 bytes per ns
		{"bound by what one multiprocessor draws", model.Demand{Kind: model.Kernel, Blocks: 1, PerSM: 2, BlockCycles: 10, Bytes: 1e6}, whole(2500, 1000)},
		{"device copy", model.Demand{Kind: model.CopyOn, Bytes: 1e6}, 1000 * ns},
		{"copy in", model.Demand{Kind: model.CopyIn, Bytes: 1e4}, 1000 * ns},
		{"after its pages have come in", model.Demand{Kind: model.Kernel, Blocks: 8, PerSM: 2, BlockCycles: 10, Faulted: 1e4}, 2010 * ns},
		{"after its memory has moved", model.Demand{Kind: model.Kernel, Blocks: 8, PerSM: 2, BlockCycles: 100, Bulk: 1e4}, 1100 * ns},
		{"host", model.Demand{Kind: model.Host, Duration: 7 * ns}, 7 * ns},
		{"fixed", model.Demand{Kind: model.Fixed, Duration: 9 * ns}, 9 * ns},
		{"marker", model.Demand{}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			begin := model.Time(c.d.Bulk / 10 * float64(ns))
			got := spans(plain(), c.d)[0]
			assert.Equal(t, begin, got.Begin)
			assert.InDelta(t, float64(c.end), float64(got.End), 2)
		})
	}
}

func TestLatenciesAddUp(t *testing.T) {
	p := plain()
	p.KernelRamp, p.CopyInLatency, p.CopyOutLatency, p.CopyOnLatency, p.HostCallLatency = 1*ns, 2*ns, 3*ns, 4*ns, 5*ns
	got := spans(p, kernel(1, 1, 100), model.Demand{Kind: model.CopyIn, Bytes: 100}, model.Demand{Kind: model.CopyOut, Bytes: 100}, model.Demand{Kind: model.Host})
	assert.Equal(t, []Span{{0, 101 * ns}, {0, 12 * ns}, {0, 13 * ns}, {0, 5 * ns}}, got)
	assert.Equal(t, []Span{{0, 5 * ns}}, spans(p, model.Demand{Kind: model.CopyOn, Bytes: 1000}))
}

func TestSmallKernelsOverlapFully(t *testing.T) {
	got := spans(plain(), kernel(2, 2, 100), kernel(2, 2, 100))
	assert.Equal(t, []Span{{0, 100 * ns}, {0, 100 * ns}}, got)
}

func TestKernelsThatFillTheDeviceTakeTurns(t *testing.T) {
	got := spans(plain(), kernel(16, 2, 100), kernel(16, 2, 100))
	assert.Equal(t, []Span{{0, 200 * ns}, {200 * ns, 400 * ns}}, got)
}

func TestSuccessorFillsTheTail(t *testing.T) {
	// The first holds 4 of 8 slots in its tail from 100 to 200; the second runs 4 of its 8 blocks there.
	got := spans(plain(), kernel(12, 2, 100), kernel(8, 2, 100))
	assert.Equal(t, []Span{{0, 200 * ns}, {100 * ns, 300 * ns}}, got)
}

func TestBandwidthBoundPairSharesInProportion(t *testing.T) {
	// Two copies of 1e6 bytes at 500 bytes/ns each; then the second's other 1e6 alone.
	got := spans(plain(), model.Demand{Kind: model.CopyOn, Bytes: 1e6}, model.Demand{Kind: model.CopyOn, Bytes: 2e6})
	assert.Equal(t, []Span{{0, 2000 * ns}, {0, 3000 * ns}}, got)
}

func TestLatencyBoundKernelSlowsOnlyAsMuchAsItUsesWhatIsShort(t *testing.T) {
	// Alone the kernel takes a little over 1000 ns and draws 250 bytes/ns of the 1000 that the copy also wants:
	// 1250 wanted, so both run at 0.8.
	k := model.Demand{Kind: model.Kernel, Blocks: 4, PerSM: 1, BlockCycles: 1000, Bytes: 250e3}
	got := spans(plain(), k, model.Demand{Kind: model.CopyOn, Bytes: 4e6}, kernel(4, 4, 1000))
	alone := float64(whole(1000, 250, 156.25))
	assert.InDelta(t, alone+250*float64(ns), float64(got[0].End), 2)
	assert.InDelta(t, 4250*float64(ns), float64(got[1].End), 2)
	assert.InDelta(t, float64(got[0].End+1000*ns), float64(got[2].End), 2, "waits for slots and shares no DRAM")
}

func TestIssueIsSharedOnceMoreThanOneKernelFits(t *testing.T) {
	// Each alone would take 100 ns at 16 per cycle; half of the slots each.
	half := model.Demand{Kind: model.Kernel, Blocks: 4, PerSM: 2, BlockCycles: 10, Work: issue(1600)}
	got := spans(plain(), half, half)
	assert.Equal(t, []Span{{0, 200 * ns}, {0, 200 * ns}}, got)
}

func TestCopyEnginesAreFIFOAndRunBesideKernels(t *testing.T) {
	in, out := model.Demand{Kind: model.CopyIn, Bytes: 1000}, model.Demand{Kind: model.CopyOut, Bytes: 1000}
	got := spans(plain(), in, in, out, kernel(8, 2, 150))
	assert.Equal(t, []Span{{0, 100 * ns}, {100 * ns, 200 * ns}, {0, 100 * ns}, {0, 150 * ns}}, got)
}

// What faults share is what the driver serves, and what bulk moves queue for is the engine
// of copies to the device. A kernel that faults holds its slots meanwhile; one whose memory
// moves in bulk has none yet.
func TestManagedMemoryMoves(t *testing.T) {
	fault := model.Demand{Kind: model.Kernel, Blocks: 1, PerSM: 1, BlockCycles: 1, Faulted: 1000}
	assert.Equal(t, []Span{{0, 401 * ns}, {0, 401 * ns}}, spans(plain(), fault, fault), "5 bytes a ns between them")
	full, half := model.Demand{Kind: model.Kernel, Blocks: 20, PerSM: 2, BlockCycles: 50, Faulted: 1000}, model.Demand{Kind: model.Kernel, Blocks: 4, PerSM: 2, BlockCycles: 50, Faulted: 1000}
	assert.Equal(t, []Span{{0, 350 * ns}, {300 * ns, 390 * ns}}, spans(plain(), full, kernel(4, 2, 90)), "from the tail on there is room for another")
	assert.Equal(t, []Span{{0, 250 * ns}, {0, 90 * ns}}, spans(plain(), half, kernel(4, 2, 90)), "there was room all the time")
	bulk := model.Demand{Kind: model.Kernel, Blocks: 8, PerSM: 2, BlockCycles: 50, Bulk: 1000}
	assert.Equal(t, []Span{{100 * ns, 150 * ns}, {200 * ns, 250 * ns}, {0, 90 * ns}}, spans(plain(), bulk, bulk, kernel(8, 2, 90)))
	p := plain()
	p.KernelRamp, p.CopyInLatency, p.FaultLatency = 1*ns, 2*ns, 7*ns
	assert.Equal(t, 209*ns, spans(p, fault)[0].End, "a ramp, a fault's latency, the bytes and the block")
	assert.Equal(t, 153*ns, spans(p, bulk)[0].End, "a copy's latency, the bytes, the ramp and the blocks")
}

func TestHostCallsRunOneAtATime(t *testing.T) {
	h := model.Demand{Kind: model.Host, Duration: 10 * ns}
	assert.Equal(t, []Span{{0, 10 * ns}, {10 * ns, 20 * ns}}, spans(plain(), h, h))
}

func TestPriorityGoesFirstAndTakesOverBetweenWaves(t *testing.T) {
	e := demanding(plain())
	low := e.Add(Task{Priority: 0, Data: kernel(24, 2, 100)})
	low2 := e.Add(Task{Priority: 0, Data: kernel(8, 2, 100)})
	high := e.Add(Task{Priority: -1, Arrival: 50 * ns, Data: kernel(8, 2, 100)})
	e.Drain()
	assert.Equal(t, Span{100 * ns, 200 * ns}, e.Span(high), "after the first wave, not in it")
	assert.Equal(t, Span{0, 400 * ns}, e.Span(low), "three waves and one given away")
	assert.Equal(t, Span{400 * ns, 500 * ns}, e.Span(low2))
}

func TestMoreKernelsThanTheDeviceHoldsWait(t *testing.T) {
	p := plain()
	p.MaxKernels = 2
	got := spans(p, kernel(1, 4, 100), kernel(1, 4, 100), kernel(1, 4, 100))
	assert.Equal(t, Span{100 * ns, 200 * ns}, got[2])
}

func TestDependenciesGapsAndArrivals(t *testing.T) {
	e := demanding(plain())
	fixed := model.Demand{Kind: model.Fixed, Duration: 10 * ns}
	a := e.Add(Task{Arrival: 5 * ns, Data: fixed})
	b := e.Add(Task{Deps: []TaskID{a}, Gap: 3 * ns, Data: fixed})
	c := e.Add(Task{Deps: []TaskID{a, b}, Arrival: 100 * ns, Data: fixed})
	assert.Equal(t, 28*ns, e.Wait(b))
	assert.False(t, e.Ended(c))
	d := e.Add(Task{Deps: []TaskID{b}, Arrival: 28 * ns, Gap: 3 * ns, Data: fixed})
	assert.Equal(t, 110*ns, e.Drain())
	assert.Equal(t, Span{31 * ns, 41 * ns}, e.Span(d), "the gap counts from an end in the past, too")
}

func TestStartsAreOrderedByTimePriorityID(t *testing.T) {
	var order []TaskID
	e := New(plain(), func(id TaskID, _ any) model.Demand {
		order = append(order, id)
		return model.Demand{Kind: model.Fixed, Duration: 10 * ns}
	})
	e.Add(Task{Arrival: 10 * ns})
	e.Add(Task{Priority: 1})
	e.Add(Task{Priority: 0})
	e.Add(Task{Priority: 1})
	e.Add(Task{Priority: -1, Deps: []TaskID{1}})
	e.Drain()
	assert.Equal(t, []TaskID{2, 1, 3, 4, 0}, order)
}

func TestAddChecksItsCaller(t *testing.T) {
	e := demanding(plain())
	assert.PanicsWithValue(t, "BUG: task 0 depends on task 0, which was not added before it",
		func() { e.Add(Task{Deps: []TaskID{0}}) })
	e = demanding(plain())
	e.Run(10 * ns)
	assert.Panics(t, func() { e.Add(Task{Arrival: 9 * ns, Data: model.Demand{}}) })
}

// program is a random set of tasks: arrivals ascend, as a host's do.
func program(r *rand.Rand, n int) []Task {
	tasks := make([]Task, n)
	at := model.Time(0)
	for i := range tasks {
		at += model.Time(r.IntN(100)) * ns
		t := Task{Arrival: at, Gap: model.Time(r.IntN(20)) * ns, Priority: int32(r.IntN(3)), Data: randomDemand(r)}
		for d := r.IntN(3); d > 0 && i > 0; d-- {
			t.Deps = append(t.Deps, TaskID(max(0, i-1-r.IntN(10))))
		}
		tasks[i] = t
	}
	return tasks
}

func randomDemand(r *rand.Rand) model.Demand {
	d := model.Demand{Kind: model.DemandKind(r.IntN(8)), Bytes: float64(r.IntN(50000)), Duration: model.Time(r.IntN(200)) * ns}
	if d.Kind == model.Kernel {
		d.Blocks, d.PerSM = float64(1+r.IntN(40)), float64(1+r.IntN(8))
		d.Work, d.BlockCycles = issue(float64(r.IntN(4000))), float64(1+r.IntN(300))
	}
	return d
}

// soloTime is the least time a demand can take.
func soloTime(d model.Demand) model.Time { return spans(plain(), d)[0].End }

func TestMakespanIsAtLeastCriticalPathAndWork(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		tasks := program(r, 1+r.IntN(60))
		e := demanding(plain())
		ends := make([]model.Time, len(tasks))
		var path model.Time
		var work, bytes, slots float64
		for i, task := range tasks {
			e.Add(task)
			start := task.Arrival
			for _, dep := range task.Deps {
				start = max(start, ends[dep]+task.Gap)
			}
			d := task.Data.(model.Demand)
			ends[i] = start + soloTime(d)
			path = max(path, ends[i])
			if d.Kind == model.Kernel {
				work += d.Work.Total()
				slots += d.Blocks * d.BlockCycles / (4 * d.PerSM)
			}
			if d.Kind == model.Kernel || d.Kind == model.CopyOn {
				bytes += d.Bytes
			}
		}
		makespan := e.Drain()
		// One picosecond per event for rounding up.
		rounding := model.Time(4 * len(tasks))
		require.GreaterOrEqual(t, makespan+rounding, path, "critical path")
		require.GreaterOrEqual(t, float64(makespan+rounding), work/16*1e3)
		require.GreaterOrEqual(t, float64(makespan+rounding), bytes)
		require.GreaterOrEqual(t, float64(makespan+rounding), slots*1e3)
	}
}

// A simulation that runs as the host goes, retiring on the way, gives the same
// times as one that knows all tasks from the start.
func TestLazyRunsEqualOneRun(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		tasks := program(r, 100)
		whole, lazy := demanding(plain()), demanding(plain())
		got := make([]Span, len(tasks))
		lazy.OnEnd(func(r *Record) { got[r.ID] = r.Span })
		for _, task := range tasks {
			whole.Add(task)
			lazy.Add(task)
			if r.IntN(2) == 0 {
				lazy.Run(task.Arrival - model.Time(r.IntN(1000)))
				lazy.Retire()
			}
		}
		whole.Drain()
		lazy.Drain()
		for i := range tasks {
			require.Equal(t, whole.Span(TaskID(i)), got[i], "task %d", i)
		}
	}
}

// Tasks with nothing in common may be added in any order, as long as those
// that compete for a resource at the same instant keep theirs.
func TestIndependentTasksMayBePermuted(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		tasks := program(r, 40)
		for i := range tasks {
			tasks[i].Deps = nil
			tasks[i].Arrival = model.Time(i) * 7 * ns // distinct, so ids decide nothing
		}
		straight, shuffled := demanding(plain()), demanding(plain())
		for _, task := range tasks {
			straight.Add(task)
		}
		straight.Drain()
		place := r.Perm(len(tasks))
		for _, i := range place {
			shuffled.Add(tasks[i])
		}
		shuffled.Drain()
		for id, i := range place {
			require.Equal(t, straight.Span(TaskID(i)), shuffled.Span(TaskID(id)))
		}
	}
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	demands := []model.Demand{kernel(20, 2, 100), {Kind: model.CopyIn, Bytes: 100}, {Kind: model.CopyOn, Bytes: 5000}, {}}
	e := New(plain(), func(id TaskID, _ any) model.Demand { return demands[int(id)%len(demands)] })
	var deps [2]TaskID
	var last TaskID
	replay := func() {
		for i := range 50 {
			task := Task{Arrival: e.Now() + model.Time(i)*ns, Gap: ns}
			if last > 0 {
				deps[0], deps[1] = last, last-1
				task.Deps = deps[:]
			}
			last = e.Add(task)
		}
		e.Wait(last)
		e.Run(e.Now() + model.Microsecond)
		e.Retire()
	}
	for range 300 {
		replay()
	}
	assert.Zero(t, testing.AllocsPerRun(100, replay))
	assert.Less(t, len(e.tasks.dir)*pageSize, 16384, "retired tasks are forgotten")
	assert.Less(t, len(e.tasks.edges), 16384, "and their edges used again")
}

func BenchmarkMillionTasks(b *testing.B) {
	p := h200
	tasks := program(rand.New(rand.NewPCG(7, 8)), 1_000_000)
	for b.Loop() {
		e := demanding(p)
		for _, t := range tasks {
			e.Add(t)
		}
		e.Drain()
	}
}

// The worst case for the fluid model: as many kernels as the device runs at
// once, all the time, so that every event looks at all of them.
func BenchmarkFullDevice(b *testing.B) {
	for b.Loop() {
		r := rand.New(rand.NewPCG(9, 10))
		e := demanding(h200)
		for range 200_000 {
			e.Add(Task{Data: kernel(1, 32, float64(1000+r.IntN(1000)))})
		}
		e.Drain()
	}
}

func TestRetireKeepsWhatAGapCountsFrom(t *testing.T) {
	e := demanding(plain())
	fixed := model.Demand{Kind: model.Fixed, Duration: 10 * ns}
	a := e.Add(Task{Data: fixed})
	e.Run(20 * ns)
	e.Retire()
	b := e.Add(Task{Arrival: 20 * ns, Deps: []TaskID{a}, Gap: 5 * model.Microsecond, Data: fixed})
	assert.Equal(t, 20*ns+5*model.Microsecond, e.Wait(b))
	e.Run(e.Now() + 2*retireAfter)
	e.Retire()
	assert.Panics(t, func() { e.Span(b) }, "forgotten")
	assert.True(t, e.Ended(b))
	assert.Equal(t, e.Now(), e.Wait(b), "long ago")
}

// A task that unfolds while it runs delays what waits for it, and nothing else, and a
// million of those it has run leave nothing behind.
func TestUnfoldingTask(t *testing.T) {
	const rounds = 1_000_000
	p := *plain()
	p.ConditionLatency = 10 * ns
	var e *Engine
	left := rounds
	e = New(&p, func(id TaskID, data any) model.Demand {
		switch data {
		case "loop":
			if left--; left > 0 {
				e.Retire()
				behind := e.Detach(id)
				body := e.Add(Task{Arrival: e.Now(), Gap: 5 * ns, Deps: []TaskID{id}, Data: "body"})
				e.Attach(e.Add(Task{Arrival: e.Now(), Deps: []TaskID{body}, Data: data}), behind)
			}
			return model.Demand{Kind: Condition}
		case "body":
			return model.Demand{Kind: model.Fixed, Duration: 20 * ns}
		}
		return model.Demand{}
	})
	loop := e.Add(Task{Data: "loop"})
	beside := e.Add(Task{Data: "body"})
	behind := e.Add(Task{Gap: 3 * ns, Deps: []TaskID{loop, beside}})
	assert.Equal(t, (rounds-1)*35*ns+13*ns, e.Wait(behind))
	assert.Less(t, len(e.tasks.spare), 1000)
	assert.Less(t, len(e.tasks.edges), 100)
	assert.Less(t, len(e.tasks.dir), 4*rounds/pageSize, "an entry for each page, not a page")
	assert.Zero(t, e.live)
}

// What waits for a task goes on waiting when it is handed to one that others wait for.
func TestAttachKeepsWhatWaitsThere(t *testing.T) {
	e := demanding(plain())
	fixed := func(d model.Time) model.Demand { return model.Demand{Kind: model.Fixed, Duration: d * ns} }
	a, b := e.Add(Task{Data: fixed(10)}), e.Add(Task{Data: fixed(20)})
	first := e.Add(Task{Deps: []TaskID{a}, Data: fixed(1)})
	second := e.Add(Task{Deps: []TaskID{b}, Data: fixed(1)})
	third := e.Add(Task{Deps: []TaskID{b}, Data: fixed(1)})
	e.Attach(b, e.Detach(a))
	e.Drain()
	for _, id := range []TaskID{first, second, third} {
		assert.Equal(t, Span{20 * ns, 21 * ns}, e.Span(id))
	}
	assert.Panics(t, func() { e.Detach(a) }, "it has ended")
}

// A held task and what depends on it wait for Release, while others go on.
func TestHeldTasksWaitForTheirRelease(t *testing.T) {
	e := demanding(plain())
	held := e.Add(Task{Data: model.Demand{Kind: Held}, Arrival: 5 * ns})
	after := e.Add(Task{Data: model.Demand{Kind: model.Fixed, Duration: 10 * ns}, Deps: []TaskID{held}})
	other := e.Add(Task{Data: model.Demand{Kind: model.Fixed, Duration: 100 * ns}})
	end, ok := e.TryWait(other)
	assert.True(t, ok)
	assert.Equal(t, 100*ns, end)
	_, ok = e.TryWait(after)
	assert.False(t, ok)
	_, ok = e.TryReach(e.Mark())
	assert.False(t, ok)
	e.Run(200 * ns)
	e.Release(held)
	assert.Equal(t, 210*ns, e.Drain())
	assert.Equal(t, Span{5 * ns, 200 * ns}, e.Span(held))
	assert.Panics(t, func() { e.Release(held) })
}

// A task held for a host call takes, from its return on, what a host call takes; one call follows another.
func TestReturnEndsAsHostCallsDo(t *testing.T) {
	p := plain()
	p.HostCallLatency = 7 * ns
	e := demanding(p)
	a := e.Add(Task{Data: model.Demand{Kind: Held}, Arrival: 5 * ns})
	b := e.Add(Task{Data: model.Demand{Kind: Held}, Arrival: 6 * ns})
	c := e.Add(Task{Data: model.Demand{Kind: model.Host}, Arrival: 6 * ns})
	e.Run(6 * ns)
	e.Return(b)
	e.Run(8 * ns)
	e.Return(a)
	e.Drain()
	assert.Equal(t, []Span{{20 * ns, 27 * ns}, {13 * ns, 20 * ns}, {6 * ns, 13 * ns}}, []Span{e.Span(a), e.Span(b), e.Span(c)})
	assert.Panics(t, func() { e.Return(a) }, "it has ended")
}

func TestKindsHaveNames(t *testing.T) {
	assert.Equal(t, "condition", Condition.String())
	assert.Equal(t, "held", Held.String())
}
