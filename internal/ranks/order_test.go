package ranks_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/internal/null"
	"github.com/reprise-gpu/reprise/internal/ranks/launches"
	"github.com/reprise-gpu/reprise/tracer"
)

// nodeRun is a run of an operation of a rank, as a node of a launch.
type nodeRun struct {
	at     distribute.Wait
	launch int          // index in history.launches
	ahead  map[int]bool // runs of the same launch that end before it
}

// launched is a launch of a graph on a stream. seen is, by stream, how many of its launches end before it begins.
type launched struct {
	stream, number int // number counts the launches of the stream
	seen           [launches.Streams]int
}

// history is what package ranks submits for a plan, and what its order guarantees.
type history struct {
	plan     *distribute.Plan
	launches []launched
	runs     []nodeRun
	latest   map[distribute.Wait]int              // the latest run of an operation
	tails    map[[2]int32]int                     // by device and lane: the latest run
	last     [launches.Streams]int                // by stream: its latest launch, -1 for none
	count    [launches.Streams]int                // launches by stream
	host     [launches.Streams]int                // by stream: how many launches the host has waited for
	events   [launches.Streams]launched           // what a wait for a stream now guarantees
	waits    [launches.Streams]launched           // by stream: what its next launch waits for
	before   [launches.Streams]launched           // events before the present segment
	ahead    bool                                 // the rest of the next segment has been submitted
	report   func(later, earlier distribute.Wait) // of an order that is not kept
}

func newHistory(p *distribute.Plan, report func(later, earlier distribute.Wait)) *history {
	return &history{plan: p, latest: map[distribute.Wait]int{}, tails: map[[2]int32]int{}, last: [launches.Streams]int{-1, -1, -1}, report: report}
}

// launch launches a graph.
func (h *history) launch(stream int, g *launches.Graph) {
	if len(g.Nodes) == 0 {
		return
	}
	me := launched{stream: stream, number: h.count[stream], seen: h.host}
	for i, n := range h.waits[stream].seen {
		me.seen[i] = max(me.seen[i], n)
	}
	if u := h.last[stream]; u >= 0 {
		for i, n := range h.launches[u].seen {
			me.seen[i] = max(me.seen[i], n)
		}
		me.seen[stream] = h.count[stream]
	}
	h.last[stream] = len(h.launches)
	h.count[stream]++
	h.launches = append(h.launches, me)
	h.events[stream] = launched{seen: me.seen}
	h.events[stream].seen[stream] = h.count[stream]
	first := len(h.runs)
	for _, n := range g.Nodes {
		one := nodeRun{at: n.At, launch: len(h.launches) - 1, ahead: map[int]bool{}}
		for _, d := range n.Deps {
			u := first + int(d)
			one.ahead[u] = true
			for x := range h.runs[u].ahead {
				one.ahead[x] = true
			}
		}
		h.runs = append(h.runs, one)
	}
}

// ends reports whether run u ends before run v begins.
func (h *history) ends(u, v int) bool {
	a, b := &h.runs[u], &h.runs[v]
	if a.launch == b.launch {
		return b.ahead[u]
	}
	l := &h.launches[a.launch]
	return h.launches[b.launch].seen[l.stream] > l.number
}

// follow makes a stream wait for what another had at the time of events.
func (h *history) follow(stream, other int, events [launches.Streams]launched) {
	for i, n := range events[other].seen {
		h.waits[stream].seen[i] = max(h.waits[stream].seen[i], n)
	}
}

func (h *history) followAll(stream int, g *launches.Graph, events [launches.Streams]launched) {
	for s, is := range g.Waits {
		if is {
			h.follow(stream, s, events)
		}
	}
}

// segment submits a segment, as Plan.launch does, and the rest of the next one unless that is nil.
func (h *history) segment(s, next *launches.Segment) {
	begun := h.ahead
	if !begun {
		h.before = h.events
		h.followAll(launches.Rest, &s.Graphs[launches.Rest], h.events)
	}
	h.followAll(launches.Urgent, &s.Graphs[launches.Urgent], h.before)
	h.launch(launches.Urgent, &s.Graphs[launches.Urgent])
	if !begun || s.RestLater {
		h.rest(s)
	}
	h.followAll(launches.Aside, &s.Graphs[launches.Aside], h.events)
	h.launch(launches.Aside, &s.Graphs[launches.Aside])
	if h.ahead = next != nil; h.ahead {
		h.before = h.events
		h.followAll(launches.Rest, &next.Graphs[launches.Rest], h.events)
		if !next.RestLater {
			h.rest(next)
		}
	}
	if s.Exchange >= 0 { // the host waits for the urgent stream
		for i, n := range h.events[launches.Urgent].seen {
			h.host[i] = max(h.host[i], n)
		}
	}
}

func (h *history) rest(s *launches.Segment) {
	if s.RestLater {
		h.follow(launches.Rest, launches.Urgent, h.events)
	}
	h.launch(launches.Rest, &s.Graphs[launches.Rest])
}

// check checks that the new runs from first on are ordered as the plan requires. order is their operations in the order of
// the plan.
func (h *history) check(first int, order []distribute.Wait) {
	found := map[distribute.Wait][]int{}
	for i := first; i < len(h.runs); i++ {
		found[h.runs[i].at] = append(found[h.runs[i].at], i)
	}
	for _, at := range order {
		v := found[at][0]
		found[at] = found[at][1:]
		op := &h.plan.Rounds[at.Round].Ops[at.Op]
		after := func(u int) {
			if !h.ends(u, v) {
				h.report(at, h.runs[u].at)
			}
		}
		for _, w := range op.Waits {
			if u, is := h.latest[w]; is {
				after(u)
			}
		}
		lane := [2]int32{op.Device, int32(h.plan.Lane(op))}
		if u, is := h.tails[lane]; is {
			after(u)
		}
		h.latest[at], h.tails[lane] = v, v
	}
}

// order returns the operations of a round that the devices [first, last) run.
func order(p *distribute.Plan, r int, first, last int32) (list []distribute.Wait) {
	for i := range p.Rounds[r].Ops {
		if op := &p.Rounds[r].Ops[i]; op.Kind != distribute.Load && op.Device >= first && op.Device < last {
			list = append(list, distribute.Wait{Round: int32(r), Op: int32(i)})
		}
	}
	return list
}

// checkOrder checks the launches of the devices [first, last) of a rank, in the first rounds and three repetitions of the repeated ones,
// with bridges, and then in two launches of the unrolled graph.
func checkOrder(p *distribute.Plan, all *launches.Launches, first, last int32, report func(later, earlier distribute.Wait)) {
	h := newHistory(p, report)
	var rounds []int
	for r := range p.Rounds {
		rounds = append(rounds, r)
	}
	var repeated []distribute.Wait
	for range 3 {
		for r := p.Repeat; r < len(p.Rounds); r++ {
			rounds = append(rounds, r)
		}
	}
	for r := p.Repeat; r < len(p.Rounds); r++ {
		repeated = append(repeated, order(p, r, first, last)...)
	}
	var list []distribute.Wait
	for _, r := range rounds {
		list = append(list, order(p, r, first, last)...)
	}
	steps := segmentsOf(p, all, rounds)
	for _, run := range steps {
		for i, s := range run {
			var next *launches.Segment
			if i+1 < len(run) {
				next = run[i+1]
			}
			h.segment(s, next)
		}
	}
	h.check(0, list)
	if len(all.Unrolled.Nodes) == 0 {
		return
	}
	for range 2 {
		begin := len(h.runs)
		h.launch(launches.Rest, &all.Unrolled)
		var list []distribute.Wait
		for range all.UnrolledSteps / (len(p.Rounds) - p.Repeat) {
			list = append(list, repeated...)
		}
		h.check(begin, list)
	}
}

// segmentsOf returns the segments of steps with these rounds, with bridges, as Plan.step launches them. It starts a new list where
// a step is not joined with the one before it.
func segmentsOf(p *distribute.Plan, all *launches.Launches, rounds []int) (runs [][]*launches.Segment) {
	bridged := false
	for i, r := range rounds {
		if !bridged {
			runs = append(runs, nil)
		}
		run := &runs[len(runs)-1]
		more := i+1 < len(rounds) && r >= p.Repeat && len(all.Bridges) > 0
		for j := range all.Rounds[r] {
			switch last := j == len(all.Rounds[r])-1; {
			case last && more:
				*run = append(*run, &all.Bridges[r-p.Repeat])
			case j > 0 || !bridged:
				*run = append(*run, &all.Rounds[r][j])
			}
		}
		bridged = more
	}
	return runs
}

// planned returns the plan of a random program on a random machine.
func planned(t *testing.T, seed uint64) *distribute.Plan {
	dev := null.New()
	defer dev.Close()
	p := random(seed)
	tr := tracer.New(dev, p.name, tracer.Deferred)
	p.build(tr)
	trace, err := tr.Finish()
	require.NoError(t, err)
	defer trace.Close()
	plan, err := distribute.New(trace.Graph, distribute.LayoutOf(shape(t, seed)), distribute.Options{Overlap: distribute.Overlap(seed % 3)})
	require.NoError(t, err)
	return plan
}

// Random plans are right, and the graphs and streams of each rank keep their order.
func TestOrder(t *testing.T) {
	for seed := range uint64(*cases) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			plan := planned(t, seed)
			require.NoError(t, distribute.Verify(plan), "%v", plan)
			for first := int32(0); int(first) < len(plan.Layout.Devices); {
				last := first
				for int(last) < len(plan.Layout.Devices) && plan.Layout.Devices[last].Rank == plan.Layout.Devices[first].Rank {
					last++
				}
				checkOrder(plan, launches.Of(plan, first, int(last-first)), first, last, func(later, earlier distribute.Wait) {
					require.Failf(t, "an order is not kept", "round %d #%d does not follow round %d #%d\n%.0s", later.Round, later.Op, earlier.Round, earlier.Op, plan)
				})
				first = last
			}
		})
	}
}

// The check finds graphs without edges, and streams that do not wait for each other.
func TestOrderIsChecked(t *testing.T) {
	p := planned(t, 1579)
	devices := int32(len(p.Layout.Devices))
	broken := func(change func(l *launches.Launches)) (n int) {
		l := launches.Of(p, 0, int(devices))
		change(l)
		checkOrder(p, l, 0, devices, func(_, _ distribute.Wait) { n++ })
		return n
	}
	require.Zero(t, broken(func(*launches.Launches) {}))
	require.NotZero(t, broken(func(l *launches.Launches) { l.Rounds[1][0].Graphs[launches.Rest].Nodes[3].Deps = nil }))
	require.NotZero(t, broken(func(l *launches.Launches) { l.Unrolled.Nodes[3].Deps = nil }))

	p = twoRanks(t)
	devices = 2
	require.Zero(t, broken(func(*launches.Launches) {}))
	require.NotZero(t, broken(func(l *launches.Launches) {
		for r := range l.Rounds {
			for i := range l.Rounds[r] {
				l.Rounds[r][i].RestLater = false
				for s := range launches.Streams {
					l.Rounds[r][i].Graphs[s].Waits = [launches.Streams]bool{}
				}
			}
		}
	}))
}

// twoRanks returns a plan whose interior waits for what other ranks send, and the other way around.
func twoRanks(t *testing.T) *distribute.Plan {
	for seed := uint64(1); ; seed++ {
		p := planned(t, seed)
		if p.Layout.Ranks() == 2 && len(p.Layout.Devices) == 4 && launches.Of(p, 0, 2).Joined {
			return p
		}
	}
}
