package optimizer

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/effort"
	"github.com/reprise-gpu/reprise/ir"
)

// annealing searches layouts of one graph (S. Kirkpatrick, C. D. Gelatt and M. P. Vecchi, "Optimization by
// Simulated Annealing", Science 1983). A step makes one random change. A layout that costs no more is kept;
// one that costs more is kept with probability exp(-extra/heat), where heat falls geometrically over the
// steps. The seed is fixed, so that equal graphs give equal layouts. A step costs one prediction, which is
// evaluated only from the first changed operation on.
type annealing struct {
	*rehearsal
	random   *rand.Rand
	maxLanes int

	now, next, best  layout
	cost, least      model.Time  // of now and best
	succs            [][]ir.OpID // by operation
	hottest, coldest float64     // temperatures, as fractions of the best cost
}

// usualHeat is the temperature at the start of a run, as a share of the cost.
const usualHeat = 0.01

func newAnnealing(r *rehearsal, start *layout, maxLanes int) *annealing {
	a := &annealing{rehearsal: r, random: rand.New(rand.NewPCG(1, uint64(r.graph.Len()))), maxLanes: maxLanes, hottest: usualHeat, coldest: 1e-5}
	a.succs = make([][]ir.OpID, r.graph.Len())
	for v := range a.succs {
		a.succs[v] = r.graph.Succs(ir.OpID(v))
	}
	a.best.set(start)
	a.now.set(start)
	a.restart()
	a.least = a.cost
	return a
}

// restart continues the search from a.now.
func (a *annealing) restart() {
	a.cost, _ = a.rehearsal.cost(&a.now, horizon)
	a.sim.Keep()
}

// heats are the initial temperatures of the runs of auto. Results of single runs differ by up to 3 %,
// depending on start and temperature. The best of these five is within 1 % of one run with ten times their
// total number of steps.
var heats = [effort.Runs]float64{usualHeat, usualHeat, usualHeat, 0.003, 0.03}

// search makes one run for each of heats and then uses the remaining steps for one more. The runs begin from
// the layouts in starts and, when there are no more, from the best layout so far.
func (a *annealing) search(starts []*layout, steps int) {
	for i, hottest := range heats {
		share := min(steps, stretch(a.graph.Len()))
		steps -= share
		start := &a.best
		if i < len(starts) {
			start = starts[i]
		}
		b := newAnnealing(a.rehearsal, start, a.maxLanes)
		b.hottest = hottest
		if b.attempt(share); b.least < a.least {
			a.least = b.least
			a.best.set(&b.best)
		}
	}
	a.run(steps)
	a.simplify()
}

// attempt makes a run, which ends early if its first steps (see probe) do not improve the layout.
func (a *annealing) attempt(steps int) {
	tried, before := min(steps, probe(a.graph.Len())), a.least
	if a.run(tried); a.least < before {
		a.run(steps - tried)
	}
}

// run makes steps from the best layout, with a falling temperature.
func (a *annealing) run(steps int) {
	if a.graph.Len() < 2 || steps <= 0 {
		return
	}
	a.now.set(&a.best)
	a.restart()
	for i := range steps {
		heat := a.hottest * math.Pow(a.coldest/a.hottest, float64(i)/float64(steps))
		a.step(float64(a.least) * heat)
	}
}

// step makes one random change and keeps or rejects it. The acceptance test is a limit on the cost, drawn before the
// prediction, so that a prediction can stop as soon as it exceeds the limit.
func (a *annealing) step(heat float64) {
	a.next.set(&a.now)
	if !a.change(&a.next) {
		return
	}
	limit := a.cost + model.Time(-heat*math.Log(1-a.random.Float64()))
	cost, ok := a.rehearsal.cost(&a.next, limit)
	if !ok || cost > limit {
		return
	}
	a.sim.Keep()
	a.now, a.next, a.cost = a.next, a.now, cost
	if cost < a.least {
		a.least = cost
		a.best.set(&a.now)
	}
}

// change makes a random change to a layout. It returns false if the change drawn is impossible.
func (a *annealing) change(l *layout) bool {
	switch n := a.random.IntN(20); {
	case n < 10:
		return a.reinsert(l)
	case n < 13:
		return a.moveTail(l)
	case n < 15:
		return a.exchange(l)
	case n < 18:
		return a.delay(l)
	default:
		return a.hurry(l)
	}
}

// anyOp returns a random operation.
func (a *annealing) anyOp() ir.OpID { return ir.OpID(a.random.IntN(len(a.now.order))) }

// anyLane returns the lane of a random operation or, with probability 1/8, an unused lane.
func (a *annealing) anyLane(l *layout) ir.LaneID {
	if a.random.IntN(8) > 0 {
		return l.lane[a.anyOp()]
	}
	used := make([]bool, l.lanes+1)
	for _, lane := range l.lane {
		used[lane] = true
	}
	free := slices.Index(used, false)
	if free >= a.maxLanes {
		return l.lane[a.anyOp()]
	}
	l.lanes = max(l.lanes, free+1)
	return ir.LaneID(free)
}

// reinsert moves an operation to another position in the order, another lane or both.
func (a *annealing) reinsert(l *layout) bool {
	v := a.anyOp()
	if a.random.IntN(3) > 0 {
		l.lane[v] = a.anyLane(l)
	}
	at := slices.Index(l.order, v)
	rest := slices.Delete(l.order, at, at+1)
	first, last := a.room(l, rest, v)
	to := at
	if a.random.IntN(3) > 0 || at < first || at > last {
		to = first + a.random.IntN(last-first+1)
	}
	l.order = slices.Insert(rest, to, v)
	return true
}

// room returns the range of positions in rest at which v may be inserted: after all predecessors and before
// all successors.
func (a *annealing) room(l *layout, rest []ir.OpID, v ir.OpID) (first, last int) {
	first, last = 0, len(rest)
	behind := func(u ir.OpID) { first = max(first, slices.Index(rest, u)+1) }
	ahead := func(w ir.OpID) { last = min(last, slices.Index(rest, w)) }
	for _, d := range a.graph.DepsInto(v) {
		behind(d.From)
	}
	for _, w := range a.succs[v] {
		ahead(w)
	}
	for _, d := range l.delays {
		if d.To == v {
			behind(d.From)
		}
		if d.From == v {
			ahead(d.To)
		}
	}
	return first, last
}

// moveTail exchanges two lanes from a random position on.
func (a *annealing) moveTail(l *layout) bool {
	from := a.random.IntN(len(l.order))
	x, y := l.lane[l.order[from]], a.anyLane(l)
	if x == y {
		return false
	}
	for _, v := range l.order[from:] {
		switch l.lane[v] {
		case x:
			l.lane[v] = y
		case y:
			l.lane[v] = x
		}
	}
	return true
}

// exchange swaps the positions and lanes of two operations. It returns false if dependencies forbid the new order.
func (a *annealing) exchange(l *layout) bool {
	u, v := a.anyOp(), a.anyOp()
	i, j := slices.Index(l.order, u), slices.Index(l.order, v)
	if i == j {
		return false
	}
	l.order[i], l.order[j] = v, u
	l.lane[u], l.lane[v] = l.lane[v], l.lane[u]
	return a.inOrder(l)
}

// inOrder reports whether the order satisfies all dependencies and delays.
func (a *annealing) inOrder(l *layout) bool {
	for i, v := range l.order {
		a.rank[v] = int32(i)
	}
	for v := range l.order {
		for _, d := range a.graph.DepsInto(ir.OpID(v)) {
			if a.rank[d.From] > a.rank[v] {
				return false
			}
		}
	}
	return !slices.ContainsFunc(l.delays, func(d ir.Dep) bool { return a.rank[d.From] > a.rank[d.To] })
}

// delay adds a deliberate wait between two operations on different lanes that do not depend on each other.
func (a *annealing) delay(l *layout) bool {
	to := 1 + a.random.IntN(len(l.order)-1)
	u, v := l.order[a.random.IntN(to)], l.order[to]
	d := ir.Dep{From: u, To: v}
	if l.lane[u] == l.lane[v] || slices.Contains(l.delays, d) || depends(a.graph, u, v) || len(l.delays) > len(l.order) {
		return false
	}
	l.delays = append(l.delays, d)
	return true
}

// hurry removes a random deliberate wait.
func (a *annealing) hurry(l *layout) bool {
	if len(l.delays) == 0 {
		return false
	}
	i := a.random.IntN(len(l.delays))
	l.delays = slices.Delete(l.delays, i, i+1)
	return true
}

// simplify removes deliberate waits of the best layout as long as that does not increase the cost.
func (a *annealing) simplify() {
	a.now.set(&a.best)
	a.restart()
	for again := true; again; {
		again = false
		for i := len(a.best.delays) - 1; i >= 0; i-- {
			a.next.set(&a.best)
			a.next.delays = slices.Delete(a.next.delays, i, i+1)
			if cost, ok := a.rehearsal.cost(&a.next, a.least); ok {
				a.least, again = cost, true
				a.best.set(&a.next)
			}
		}
	}
}
