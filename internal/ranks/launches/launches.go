// Package launches divides the work of a rank into graphs. It decides which operations of a plan are launched together, and
// what the nodes depend on; package ranks makes the graphs, and package timing times them.
//
// A graph has the nodes of all devices of the rank. It is launched on one of three streams:
//
//	exchange  ──────┐                ┌── host: waits for urgent, exchanges ──┐
//	urgent          └─ In, edges ─ Out                                       └─ In, edges ─ Out
//	rest      ─ interior ──────────────┘└─ interior of the next segment ─────────┘└─ interior ──
//
// Urgent are the operations that come between two exchanges and that the second depends on, and all that receive. The rest
// runs beside the exchange. Operations of lane Aside have the third stream, so that no later graph of the others is behind them. It
// is launched last, so those that the rest of the same segment waits for belong to the rest.
// A stream waits for another one only if a graph depends on an earlier graph there. The host submits the rest of the next segment before it
// waits for the urgent graph, because it has nothing else to do then. Between the exchange and the next edges it then launches one
// graph of few nodes, and interiors do not begin at the time of the edges, which they would delay.
package launches

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/distribute"
)

// The streams of a rank.
const (
	Urgent = iota
	Rest
	Aside
	Streams
)

// Launches is the graphs of a rank.
type Launches struct {
	Rounds [][]Segment
	// Bridges has, for each repeated round, the last segment of the round and the first of the next one as one, which replaces
	// both between two steps. It is empty if the repeated rounds have no exchanges.
	Bridges []Segment
	// Unrolled is several repetitions of the repeated rounds, which stand for UnrolledSteps steps. It is empty if these
	// have exchanges.
	Unrolled      Graph
	UnrolledSteps int
	Joined        bool // graphs of one stream wait for those of another
}

// Segment is the work up to an exchange, or up to the end of a round if Exchange is -1.
type Segment struct {
	Graphs    [Streams]Graph
	RestLater bool // the rest depends on the urgent graph of the segment
	Exchange  int
}

// Graph is nodes in the order of submission.
type Graph struct {
	Nodes []Node
	Waits [Streams]bool // it depends on earlier graphs of these streams
}

// Node is an operation of a graph, and the nodes that it depends on.
type Node struct {
	At   distribute.Wait
	Deps []int32
}

// divider divides the operations of the devices [first, last) of a plan.
type divider struct {
	plan        *distribute.Plan
	first, last int32
	urgent      map[distribute.Wait]bool // by operation of this rank
	marked      map[distribute.Wait]bool // those of which a run since the last exchange was marked
	awaited     map[distribute.Wait]bool // operations of lane Aside that the rest of the same segment waits for
	// before is the operations that are before one in its lane: those of the same round or the one before it, and of a round
	// that is repeated also those at the end of the last round.
	before map[distribute.Wait][]distribute.Wait
	rounds [][]window
	// exchanges is set if each repeated round has one. Otherwise one graph has several rounds.
	exchanges bool
}

// Of returns the graphs of the rank with a number of devices from first on.
func Of(p *distribute.Plan, first int32, devices int) *Launches {
	g := &divider{plan: p, first: first, last: first + int32(devices), urgent: map[distribute.Wait]bool{}, marked: map[distribute.Wait]bool{}, awaited: map[distribute.Wait]bool{}, before: map[distribute.Wait][]distribute.Wait{}}
	for r := range p.Rounds {
		g.rounds = append(g.rounds, g.windows(r))
	}
	g.exchanges = !slices.ContainsFunc(g.rounds[p.Repeat:], func(list []window) bool { return len(list) < 2 })
	g.findUrgent()
	g.findAwaited()
	l := &Launches{}
	for r := range p.Rounds {
		segments := g.round(r)
		l.Rounds = append(l.Rounds, segments)
		for i := range segments {
			l.Joined = l.Joined || segments[i].joined()
		}
	}
	g.unroll(l)
	g.bridge(p, l)
	return l
}

// bridge adds the segments from each repeated round to the next one. Nothing is loaded between them.
func (g *divider) bridge(p *distribute.Plan, l *Launches) {
	if !g.exchanges {
		return
	}
	for r := p.Repeat; r < len(p.Rounds); r++ {
		s := g.segment(g.bridged(r)...)
		l.Bridges = append(l.Bridges, s)
		l.Joined = l.Joined || s.joined()
	}
}

// bridged returns the last window of a repeated round and the first one of the next round.
func (g *divider) bridged(r int) []window {
	next := r + 1
	if next == len(g.rounds) {
		next = g.plan.Repeat
	}
	return []window{g.rounds[r][len(g.rounds[r])-1], g.rounds[next][0]}
}

// joined reports whether graphs of one stream wait for those of another.
func (s *Segment) joined() bool {
	return s.RestLater || slices.ContainsFunc(s.Graphs[:], func(g Graph) bool { return g.Waits != [Streams]bool{} })
}

// window is the operations of this rank between two exchanges, or a part of them: one round at most.
type window struct {
	round    int
	ops      []int32
	exchange int // at the end; -1 for none
}

// windows cuts a round at its exchanges.
func (g *divider) windows(r int) []window {
	src := &g.plan.Rounds[r]
	list := []window{{round: r, exchange: -1}}
	x := 0
	for i := range src.Ops {
		for ; x < len(src.Exchanges) && src.Exchanges[x].At == i; x++ {
			list[len(list)-1].exchange = x
			list = append(list, window{round: r, exchange: -1})
		}
		if op := &src.Ops[i]; g.mine(op) && op.Kind != distribute.Load {
			last := &list[len(list)-1]
			last.ops = append(last.ops, int32(i))
		}
	}
	return list
}

// mine reports whether an operation runs on the rank.
func (g *divider) mine(op *distribute.Op) bool { return op.Device >= g.first && op.Device < g.last }

// op returns an operation.
func (g *divider) op(at distribute.Wait) *distribute.Op { return &g.plan.Rounds[at.Round].Ops[at.Op] }

// after calls f for the operations that one waits for, and for those before it in its lane.
func (g *divider) after(at distribute.Wait, f func(distribute.Wait)) {
	for _, u := range g.op(at).Waits {
		f(u)
	}
	for _, u := range g.before[at] {
		f(u)
	}
}

// laneKey identifies a lane of a device.
type laneKey struct {
	device int32
	lane   distribute.Lane
}

func (g *divider) lane(at distribute.Wait) laneKey {
	op := g.op(at)
	return laneKey{op.Device, g.plan.Lane(op)}
}

// findUrgent marks the urgent operations. It runs the rounds as a sequence, the repeated ones twice.
func (g *divider) findUrgent() {
	var order []window
	for r := range g.plan.Rounds {
		order = append(order, g.rounds[r]...)
	}
	for r := g.plan.Repeat; r < len(g.plan.Rounds); r++ {
		order = append(order, g.rounds[r]...)
	}
	latest := map[distribute.Wait]int{} // the window of the latest run of an operation
	tail := map[laneKey]distribute.Wait{}
	since := 0 // the first window behind the last exchange
	for i, w := range order {
		for _, o := range w.ops {
			at := distribute.Wait{Round: int32(w.round), Op: o}
			if last, is := tail[g.lane(at)]; is && !slices.Contains(g.before[at], last) {
				g.before[at] = append(g.before[at], last)
			}
			tail[g.lane(at)], latest[at] = at, i
			if g.op(at).Kind == distribute.In {
				g.mark(at, since, latest)
			}
		}
		if w.exchange < 0 {
			continue
		}
		for _, o := range w.ops {
			at := distribute.Wait{Round: int32(w.round), Op: o}
			if op := g.op(at); op.Kind == distribute.Out && op.Exchange == int32(w.exchange) {
				g.mark(at, since, latest)
			}
		}
		since, g.marked = i+1, map[distribute.Wait]bool{}
	}
}

// mark marks an operation as urgent, and those that it waits for in windows from since on. These may be others in a later run of
// the operation: those of the repeated round instead of the first.
func (g *divider) mark(at distribute.Wait, since int, latest map[distribute.Wait]int) {
	if g.marked[at] {
		return
	}
	g.urgent[at], g.marked[at] = true, true
	visit := func(u distribute.Wait) {
		if i, is := latest[u]; is && i >= since {
			g.mark(u, since, latest)
		}
	}
	g.after(at, visit)
}

// findAwaited finds the operations of lane Aside that the rest waits for in some segment, until there are no more: those found
// belong to the rest too.
func (g *divider) findAwaited() {
	if !g.exchanges {
		return
	}
	for count := -1; count < len(g.awaited); {
		count = len(g.awaited)
		for r := range g.rounds {
			for _, w := range g.rounds[r] {
				g.await(operations(w))
			}
			if r >= g.plan.Repeat {
				g.await(operations(g.bridged(r)...))
			}
		}
	}
}

// await adds the operations of a segment that its rest waits for.
func (g *divider) await(list []distribute.Wait) {
	seen := map[distribute.Wait]bool{}
	visit := func(u distribute.Wait) {
		if seen[u] && g.stream(u) == Aside {
			g.awaited[u] = true
		}
	}
	for _, at := range list {
		if g.stream(at) == Rest {
			g.after(at, visit)
		}
		seen[at] = true
	}
}

// operations returns the operations of consecutive windows.
func operations(windows ...window) (list []distribute.Wait) {
	for _, w := range windows {
		for _, o := range w.ops {
			list = append(list, distribute.Wait{Round: int32(w.round), Op: o})
		}
	}
	return list
}

// round divides a round.
func (g *divider) round(r int) (list []Segment) {
	for _, w := range g.rounds[r] {
		list = append(list, g.segment(w))
	}
	return list
}

// segment returns the graphs of consecutive windows, of which only the last may end with an exchange.
func (g *divider) segment(windows ...window) Segment {
	all := operations(windows...)
	s := Segment{RestLater: g.dependsOn(all, Rest, Urgent), Exchange: windows[len(windows)-1].exchange}
	for stream := range Streams {
		var ops []distribute.Wait
		for _, at := range all {
			if g.stream(at) == stream {
				ops = append(ops, at)
			}
		}
		s.Graphs[stream] = g.graph(ops)
	}
	return s
}

// dependsOn reports whether operations of a list in one stream wait for earlier operations of the list in another.
func (g *divider) dependsOn(list []distribute.Wait, stream, other int) bool {
	seen := map[distribute.Wait]bool{}
	found := false
	visit := func(u distribute.Wait) { found = found || seen[u] && g.stream(u) == other }
	for _, at := range list {
		if g.stream(at) == stream {
			g.after(at, visit)
		}
		seen[at] = true
	}
	return found
}

func (g *divider) stream(at distribute.Wait) int {
	switch {
	case g.urgent[at]:
		return Urgent
	case g.exchanges && g.plan.Lane(g.op(at)) == distribute.Aside && !g.awaited[at]:
		return Aside
	}
	return Rest
}

// graph returns the graph of operations in the order of submission, each as often as it is listed.
func (g *divider) graph(list []distribute.Wait) (one Graph) {
	nodes := map[distribute.Wait]int32{} // the latest run of each operation
	tail := map[laneKey]int32{}
	ins := map[[2]int32][]int32{} // by round and exchange: the nodes that read its staging memory
	for i, at := range list {
		var deps []int32
		wait := func(u distribute.Wait) {
			switch n, is := nodes[u]; {
			case is && !slices.Contains(deps, n):
				deps = append(deps, n)
			case !is && g.stream(u) != g.stream(at):
				one.Waits[g.stream(u)] = true
			}
		}
		for _, u := range g.op(at).Waits {
			wait(u)
		}
		if n, is := tail[g.lane(at)]; !is {
			for _, u := range g.before[at] {
				wait(u)
			}
		} else if !slices.Contains(deps, n) {
			deps = append(deps, n)
		}
		switch op, x := g.op(at), [2]int32{at.Round, g.op(at).Exchange}; {
		case op.Kind == distribute.In && op.Exchange >= 0:
			ins[x] = append(ins[x], int32(i))
		case op.Kind == distribute.Out && op.Exchange >= 0: // for the next run of an exchange whose bytes the graph also receives
			for _, n := range ins[x] {
				if !slices.Contains(deps, n) {
					deps = append(deps, n)
				}
			}
		}
		one.Nodes = append(one.Nodes, Node{at, deps})
		nodes[at], tail[g.lane(at)] = int32(i), int32(i)
	}
	return one
}

// Bounds on the graph of several repetitions of the rounds.
const (
	unrolledNodes = 512
	unrolledTimes = 32
)

// unroll adds the graph of several repetitions of the repeated rounds, if they have no exchanges. A launch of it then
// stands for many steps.
func (g *divider) unroll(l *Launches) {
	var once []distribute.Wait
	for r := g.plan.Repeat; r < len(g.plan.Rounds); r++ {
		for _, w := range g.rounds[r] {
			if w.exchange >= 0 {
				return
			}
			for _, o := range w.ops {
				once = append(once, distribute.Wait{Round: int32(r), Op: o})
			}
		}
	}
	if len(once) == 0 {
		return
	}
	times := min(unrolledTimes, unrolledNodes/len(once))
	if times < 2 {
		return
	}
	var list []distribute.Wait
	for range times {
		list = append(list, once...)
	}
	l.Unrolled = g.graph(list)
	l.UnrolledSteps = times * (len(g.plan.Rounds) - g.plan.Repeat)
}
