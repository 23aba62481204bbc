package ir

import (
	"slices"

	"github.com/reprise-gpu/reprise/internal/absent"
	"github.com/reprise-gpu/reprise/internal/dense"
)

// scheduleRule is one requirement of a valid schedule.
type scheduleRule struct {
	name  string
	gate  bool // later rules rely on it, so verification stops if it is broken
	check func(*scheduleVerifier)
}

// scheduleRules are checked in order. An init function sets them, because the rule about bodies calls
// VerifySchedule.
var scheduleRules []scheduleRule

func init() {
	scheduleRules = []scheduleRule{
		{"tables", true, (*scheduleVerifier).tables},
		{"order", true, (*scheduleVerifier).order},
		{"lanes", true, (*scheduleVerifier).lanes},
		{"waits", true, (*scheduleVerifier).waits},
		{"delays", true, (*scheduleVerifier).delays},
		{"joined", false, (*scheduleVerifier).joined},
		{"bodies", false, (*scheduleVerifier).bodies},
		{"segments", false, (*scheduleVerifier).segments},
		{"dependencies", false, (*scheduleVerifier).dependencies},
		{"arena", false, (*scheduleVerifier).arena},
	}
}

// VerifySchedule checks that s is a valid schedule of its graph, which must satisfy Verify: Order lists every
// operation once, lanes are numbered without gaps, and lanes and waits, without the delays, imply every
// dependency. For a traced graph, they must imply every conflict and after edge. The uses of buffers that
// share bytes of the arena must be ordered as well. Segments must cover the schedule and be nested. A wait that others imply is no violation. errors.As finds
// the first *Violation; the error wraps ErrMissing if s is nil or has no graph.
func VerifySchedule(s *Schedule) error {
	if s == nil || s.Graph == nil {
		return absent.Nil("the schedule, or its graph,")
	}
	v := &scheduleVerifier{s: s, g: s.Graph}
	for _, r := range scheduleRules {
		if v.full() {
			break
		}
		v.rule = r.name
		r.check(v)
		if r.gate && len(v.found) > 0 {
			break
		}
	}
	return v.err()
}

// scheduleVerifier checks one schedule. The graphs over turns are made on demand.
//
// Lanes and waits form a graph whose nodes are the turns: an edge leads to each turn from the turn before it on its
// lane, and from each operation that it waits for. The rules order and waits make every edge run to a later turn, so
// the graph has no cycle and its nodes are in topological order. A pair of operations is ordered if a path leads from
// the first to the second. dense.Preds.Implied decides this for a batch of pairs, with the lanes as its chains:
// O((operations + waits) · lanes) in the worst case.
type scheduleVerifier struct {
	report
	s    *Schedule
	g    *Graph
	turn []int32      // by operation: its index in Order
	all  *dense.Preds // edges of lanes and waits, nodes numbered by turn; nil before dag
	firm *dense.Preds // edges of lanes and of waits that are not delays; nil before needed
}

// tables have an entry for each operation or buffer. Those that are optional may be nil.
func (v *scheduleVerifier) tables() {
	ops, buffers := len(v.g.Ops), len(v.g.Buffers)
	if id := v.unscheduled(); id >= 0 && len(v.s.Order) < ops {
		v.add(id, "%s has no turn: schedule every operation once", about(v.g, id))
		return
	}
	for _, t := range []struct {
		name      string
		len, want int
		optional  bool
	}{
		{"Order", len(v.s.Order), ops, false},
		{"Lane", len(v.s.Lane), ops, false},
		{"Waits", len(v.s.Waits), ops, false},
		{"Delays", len(v.s.Delays), ops, v.s.Delays == nil},
		{"Joined", len(v.s.Joined), ops, v.s.Joined == nil},
		{"Priority", len(v.s.Priority), ops, v.s.Priority == nil},
		{"Offset", len(v.s.Offset), buffers, v.s.Offset == nil},
	} {
		if t.len != t.want && !t.optional {
			v.add(-1, "%s has %d entries, the graph calls for %d", t.name, t.len, t.want)
		}
	}
}

// unscheduled returns the first operation that Order lacks, -1 for none.
func (v *scheduleVerifier) unscheduled() OpID {
	listed := make([]bool, len(v.g.Ops))
	for _, id := range v.s.Order {
		if id >= 0 && int(id) < len(listed) {
			listed[id] = true
		}
	}
	return OpID(slices.Index(listed, false))
}

// order is a permutation of the operations.
func (v *scheduleVerifier) order() {
	v.turn = make([]int32, len(v.g.Ops))
	for id := range v.turn {
		v.turn[id] = -1
	}
	for at, id := range v.s.Order {
		switch {
		case id < 0 || int(id) >= len(v.turn):
			v.add(-1, "turn %d is of %v, but the graph has %d operations", at, id, len(v.turn))
		case v.turn[id] >= 0:
			v.add(id, "%s has turns %d and %d: schedule every operation once", about(v.g, id), v.turn[id], at)
		default:
			v.turn[id] = int32(at)
		}
	}
}

// lanes are numbered from 0 without gaps and none is empty.
func (v *scheduleVerifier) lanes() {
	used := make([]bool, max(v.s.Lanes, 0))
	for id, lane := range v.s.Lane {
		if lane < 0 || int(lane) >= len(used) {
			v.add(OpID(id), "%s is on lane %v of %d: number lanes from 0", about(v.g, OpID(id)), lane, v.s.Lanes)
			continue
		}
		used[lane] = true
	}
	if lane := slices.Index(used, false); lane >= 0 && len(v.found) == 0 {
		v.add(-1, "lane %d of %d has no operation: number lanes without gaps", lane, v.s.Lanes)
	}
}

// waits name operations with earlier turns on other lanes, ascending and once each.
func (v *scheduleVerifier) waits() {
	for i, waits := range v.s.Waits {
		id := OpID(i)
		for k, u := range waits {
			switch {
			case u < 0 || int(u) >= len(v.turn):
				v.add(id, "%s waits for %v, but the graph has %d operations", about(v.g, id), u, len(v.turn))
			case v.s.Lane[u] == v.s.Lane[id]:
				v.add(id, "%v waits for %v on its own lane %v: drop wait(%v), a lane keeps its order", id, u, v.s.Lane[id], u)
			case v.turn[u] >= v.turn[id]:
				v.add(id, "%v waits for %v, which has a later turn: list %v first", id, u, u)
			case k > 0 && waits[k-1] == u:
				v.add(id, "%v names %v twice among its %s: name it once", id, u, v.named(i))
			case k > 0 && waits[k-1] > u:
				v.add(id, "%v lists its %s out of order at %v: list them ascending, once each", id, v.named(i), u)
			}
		}
	}
}

// named returns the name of the list of waits of an operation in a message.
func (v *scheduleVerifier) named(turn int) string {
	if turn < len(v.s.Delays) && len(v.s.Delays[turn]) > 0 {
		return "waits and delays"
	}
	return "waits"
}

// delays are a subset of the waits, ascending and once each.
func (v *scheduleVerifier) delays() {
	for i, delays := range v.s.Delays {
		id := OpID(i)
		for k, u := range delays {
			switch {
			case !slices.Contains(v.s.Waits[i], u):
				v.add(id, "%v is delayed by %v, which it does not wait for: list %v among its waits", id, u, u)
			case k > 0 && delays[k-1] == u:
				v.add(id, "%v names %v twice among its delays: name it once", id, u)
			case k > 0 && delays[k-1] > u:
				v.add(id, "%v lists its delays out of order at %v: list them ascending, once each", id, u)
			}
		}
	}
}

// joined: a joined operation follows another one on its lane. It waits for no other lane, and no other lane
// waits for the operation before it: a group is launched as one graph, so waits are before and behind it.
// Neither operation is a prefetch, a loop or a branch, which such a graph cannot contain.
func (v *scheduleVerifier) joined() {
	if v.s.Joined == nil {
		return
	}
	waitedFor := dense.Tails(v.s.Waits)
	last := make([]OpID, v.s.Lanes)
	for lane := range last {
		last[lane] = -1
	}
	for _, id := range v.s.Order {
		u := last[v.s.Lane[id]]
		last[v.s.Lane[id]] = id
		switch {
		case !v.s.Joined[id]:
		case u < 0:
			v.add(id, "%v is joined, but the first on lane %v: drop joined", id, v.s.Lane[id])
		case len(v.s.Waits[id]) > 0:
			v.add(id, "%v is joined to %v and waits for %v: drop joined, a group waits before its first operation", id, u, v.s.Waits[id][0])
		case waitedFor[u]:
			v.add(id, "%v is joined to %v, which another lane waits for: drop joined, a group is waited for as a whole", id, u)
		case v.g.Ops[id].Kind == KindPrefetch || v.g.Ops[u].Kind == KindPrefetch:
			v.add(id, "%v is joined to %v, and a graph holds no prefetch: drop joined", id, u)
		case v.g.Ops[id].Kind.isControl() || v.g.Ops[u].Kind.isControl():
			v.add(id, "%v is joined to %v, and a group holds no loop and no branch: drop joined", id, u)
		}
	}
}

// dag returns the graph of lanes and waits, over turns.
func (v *scheduleVerifier) dag() *dense.Preds {
	if v.all == nil {
		v.all = v.dagOf(func(id OpID) []OpID { return v.s.Waits[id] })
	}
	return v.all
}

// needed returns the graph of lanes and of waits that are not delays, over turns.
func (v *scheduleVerifier) needed() *dense.Preds {
	switch {
	case v.firm != nil:
	case v.s.Delays == nil:
		v.firm = v.dag()
	default:
		v.firm = v.dagOf(v.s.needed)
	}
	return v.firm
}

// dagOf returns the graph of lanes and of the waits that the function returns, over turns. A lane is a path,
// so the lanes are the chains of a path cover.
func (v *scheduleVerifier) dagOf(waits func(OpID) []OpID) *dense.Preds {
	d := dense.NewPreds(len(v.turn), len(v.turn)+v.s.Syncs())
	d.Chain = make([]int32, len(v.turn))
	last := make([]int32, v.s.Lanes) // by lane
	for lane := range last {
		last[lane] = -1
	}
	for at, id := range v.s.Order {
		lane := v.s.Lane[id]
		if last[lane] >= 0 {
			d.Add(last[lane])
		}
		for _, u := range waits(id) {
			d.Add(v.turn[u])
		}
		slices.Sort(d.Row())
		d.EndRow()
		last[lane], d.Chain[at] = int32(at), int32(lane)
	}
	return d
}

// dependencies: the ends of each have their turns in order, and lanes and waits imply it.
func (v *scheduleVerifier) dependencies() {
	v.needs(func(needs []conflict) bool {
		v.ordered(needs)
		return !v.full()
	})
}

// ordered checks a batch of needs, which it overwrites: it replaces operations by turns.
func (v *scheduleVerifier) ordered(needs []conflict) {
	inTurn := needs[:0]
	for _, c := range needs {
		u, id := OpID(c.From), OpID(c.To)
		c.Edge = dense.Edge{From: v.turn[u], To: v.turn[id]}
		if c.From > c.To {
			v.add(id, "%v has an earlier turn than %v, which it depends on (%s): list %v first", id, u, c.reason(v.g), u)
			continue
		}
		inTurn = append(inTurn, c)
	}
	v.unordered(inTurn)
}

// needs calls check with batches of the pairs that the schedule must order: the dependencies, or for a traced
// graph its conflicts and after edges.
func (v *scheduleVerifier) needs(check func([]conflict) bool) {
	if v.g.Phase == Traced {
		v.g.needs(nil, check)
		return
	}
	needs := make([]conflict, 0, min(needsAtOnce, len(v.g.Deps())))
	for deps := range slices.Chunk(v.g.Deps(), needsAtOnce) {
		needs = needs[:0]
		for _, d := range deps {
			needs = append(needs, conflict{dense.Edge{From: int32(d.From), To: int32(d.To)}, d.Hazard, v.g.Cause(d)})
		}
		if !check(needs) {
			return
		}
	}
}

// unordered reports the needs that lanes and waits do not imply. Their ends are turns.
func (v *scheduleVerifier) unordered(needs []conflict) {
	for _, c := range missing(v.needed(), needs) {
		u, id := v.s.Order[c.From], v.s.Order[c.To]
		if v.s.Delays != nil && slices.Contains(v.s.Delays[id], u) {
			v.add(id, "%v is delayed by %v, which it depends on (%s): write wait(%v) for delay(%v)", id, u, c.reason(v.g), u, u)
			continue
		}
		v.add(id, "%v on lane %v does not wait for %v on lane %v (%s): add wait(%v)",
			id, v.s.Lane[id], u, v.s.Lane[u], c.reason(v.g), u)
	}
}
