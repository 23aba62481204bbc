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
	report   func(later, earlier distribute.Wait) // of an order that is not kept
}

func newHistory(p *distribute.Plan, report func(later, earlier distribute.Wait)) *history {
	return &history{plan: p, latest: map[distribute.Wait]int{}, tails: map[[2]int32]int{}, last: [launches.Streams]int{-1, -1, -1}, report: report}
}

// launch launches a graph. after lists the streams whose launches so far it waits for.
func (h *history) launch(stream int, g *launches.Graph, after [launches.Streams]launched) {
	if len(g.Nodes) == 0 {
		return
	}
	me := launched{stream: stream, number: h.count[stream], seen: h.host}
	for _, l := range after {
		for i := range me.seen {
			me.seen[i] = max(me.seen[i], l.seen[i])
		}
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

// after returns what a graph waits for if it waits now.
func (h *history) after(g *launches.Graph) (list [launches.Streams]launched) {
	for s, is := range g.Waits {
		if is {
			list[s] = h.events[s]
		}
	}
	return list
}

// segment submits a segment, as Plan.launch does.
func (h *history) segment(s *launches.Segment) {
	before := h.after(&s.Graphs[launches.Rest])
	h.launch(launches.Urgent, &s.Graphs[launches.Urgent], h.after(&s.Graphs[launches.Urgent]))
	rest := h.after(&s.Graphs[launches.Rest])
	if !s.RestLater {
		rest[launches.Urgent] = before[launches.Urgent]
	}
	h.launch(launches.Rest, &s.Graphs[launches.Rest], rest)
	h.launch(launches.Aside, &s.Graphs[launches.Aside], h.after(&s.Graphs[launches.Aside]))
	if s.Exchange >= 0 { // the host waits for the urgent stream
		for i, n := range h.events[launches.Urgent].seen {
			h.host[i] = max(h.host[i], n)
		}
	}
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

// bridges submits and checks the repeated rounds as Plan.step does if more steps follow at once.
func (h *history) bridges(all *launches.Launches, first, last int32) {
	if len(all.Bridges) == 0 {
		return
	}
	begin := len(h.runs)
	var list []distribute.Wait
	bridged := false
	for times := range 3 {
		for r := h.plan.Repeat; r < len(h.plan.Rounds); r++ {
			segments := all.Rounds[r]
			end := len(segments) - 1
			ending := &segments[end]
			more := times < 2 || r+1 < len(h.plan.Rounds)
			if more {
				ending = &all.Bridges[r-h.plan.Repeat]
			}
			for i := range segments[:end] {
				if i > 0 || !bridged {
					h.segment(&segments[i])
				}
			}
			h.segment(ending)
			bridged = more
			list = append(list, order(h.plan, r, first, last)...)
		}
	}
	h.check(begin, list)
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

// checkOrder checks the launches of the devices [first, last) of a rank, in the first rounds and three repetitions of the repeated ones, then
// in three more that are bridged, and in two launches of the unrolled graph.
func checkOrder(p *distribute.Plan, all *launches.Launches, first, last int32, report func(later, earlier distribute.Wait)) {
	h := newHistory(p, report)
	one := func(r int) {
		begin := len(h.runs)
		for i := range all.Rounds[r] {
			h.segment(&all.Rounds[r][i])
		}
		h.check(begin, order(p, r, first, last))
	}
	for r := range p.Rounds {
		one(r)
	}
	h.bridges(all, first, last)
	var repeated []distribute.Wait
	for r := p.Repeat; r < len(p.Rounds); r++ {
		repeated = append(repeated, order(p, r, first, last)...)
	}
	for range 3 {
		for r := p.Repeat; r < len(p.Rounds); r++ {
			one(r)
		}
	}
	if len(all.Unrolled.Nodes) == 0 {
		return
	}
	for range 2 {
		begin := len(h.runs)
		h.launch(launches.Rest, &all.Unrolled, [launches.Streams]launched{})
		var list []distribute.Wait
		for range all.UnrolledSteps / (len(p.Rounds) - p.Repeat) {
			list = append(list, repeated...)
		}
		h.check(begin, list)
	}
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
