package optimizer

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/ir"
)

// maxPrefixes bounds the downward-closed sets for which byPrefixes divides a schedule, and maxPieces the pieces that
// it looks at. Within them it takes a fraction of a second.
const (
	maxPrefixes = 256
	maxPieces   = 4096
)

// operations is a set of operations of a schedule of up to 64, by position in its order.
type operations uint64

// byPrefixes returns the cheapest division of all orders of a schedule, by dynamic programming over downward-closed
// sets of operations:
//
//	cheapest(S) = min over downward-closed P in S of cheapest(P) + cost(S - P)
//
// Within a piece, operations are in the given order as far as exchanging neighbours does not make it shorter.
// It returns false for schedules with more than 64 operations, with more sets than maxPrefixes, and with joined
// operations.
func (c *cutter) byPrefixes(order []ir.OpID, limit model.Time) (cuts, bool) {
	if len(order) > 64 || c.joined != nil {
		return cuts{}, false
	}
	p := &prefixes{cutter: c, order: order, limit: limit, cheapest: map[operations]prefix{0: {}}, pieces: map[operations]arrangement{}}
	p.needs = make([]operations, len(order))
	at := positions(order)
	for i, v := range order {
		for _, u := range c.preds[v] {
			p.needs[i] |= 1 << at[u]
		}
	}
	all, ok := p.all()
	if !ok {
		return cuts{}, false
	}
	for _, from := range all {
		if p.extend(from); p.steps > maxPieces {
			return cuts{}, false
		}
	}
	return p.result(), true
}

// prefixes is the state of byPrefixes.
type prefixes struct {
	*cutter
	order    []ir.OpID
	needs    []operations // by position: the predecessors
	limit    model.Time
	cheapest map[operations]prefix // by downward-closed set
	pieces   map[operations]arrangement
	steps    int
}

// arrangement is a piece in the order in which it is quickest.
type arrangement struct {
	ops  []ir.OpID
	took model.Time
}

// prefix is the cheapest division of a downward-closed set.
type prefix struct {
	cost model.Time
	from operations // the set without the last piece
}

// all returns the downward-closed sets in ascending size. It returns false if they are too many.
func (p *prefixes) all() ([]operations, bool) {
	list, known := []operations{0}, map[operations]bool{0: true}
	for i := 0; i < len(list); i++ {
		for at := range p.ready(list[i]) {
			if next := list[i] | 1<<at; !known[next] {
				known[next] = true
				list = append(list, next)
			}
		}
		if len(list) > maxPrefixes {
			return nil, false
		}
	}
	slices.SortStableFunc(list, func(a, b operations) int {
		return cmp.Compare(bits.OnesCount64(uint64(a)), bits.OnesCount64(uint64(b)))
	})
	return list, true
}

// ready returns the positions of the operations that a downward-closed set lacks and whose predecessors it has.
func (p *prefixes) ready(set operations) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for at, needs := range p.needs {
			if set>>at&1 == 0 && needs&^set == 0 && !yield(at) {
				return
			}
		}
	}
}

// extend tries all pieces that follow a set.
func (p *prefixes) extend(from operations) {
	seen := map[operations]bool{}
	var grow func(set operations)
	grow = func(set operations) {
		for at := range p.ready(set) {
			next := set | 1<<at
			if p.steps++; seen[next] || p.steps > maxPieces {
				continue
			}
			seen[next] = true
			if !p.step(from, next) {
				continue
			}
			grow(next)
		}
	}
	grow(from)
}

// step tries the piece between two sets. It returns false if no larger piece is within the limit.
func (p *prefixes) step(from, to operations) bool {
	piece := to &^ from
	single := piece&(piece-1) == 0
	least, allowed := p.bounded(piece)
	if !single && least > max(p.limit, p.longest+p.longest/16) {
		return false
	}
	took := p.arrangement(piece).took
	if took > allowed && !single {
		return true
	}
	cost := p.cheapest[from].cost + took + p.launch
	if best, known := p.cheapest[to]; !known || cost < best.cost {
		p.cheapest[to] = prefix{cost, from}
	}
	return true
}

// arrangement returns a piece in the order in which it is quickest.
func (p *prefixes) arrangement(piece operations) arrangement {
	a, known := p.pieces[piece]
	if !known {
		a.ops = p.list(piece)
		a.took = p.time(a.ops)
		if len(a.ops) <= maxArranged {
			a.took -= p.arrange(a.ops)
		}
		p.pieces[piece] = a
	}
	return a
}

// bounded returns a lower bound of the time of a piece, the critical path, and the time that the piece may take.
func (p *prefixes) bounded(piece operations) (critical, allowed model.Time) {
	allowed = p.limit
	var ends [64]model.Time
	for rest := piece; rest != 0; rest &= rest - 1 {
		at := bits.TrailingZeros64(uint64(rest))
		start := model.Time(0)
		for before := p.needs[at] & piece; before != 0; before &= before - 1 {
			start = max(start, ends[bits.TrailingZeros64(uint64(before))]+p.profile.GraphEdgeGap)
		}
		ends[at] = start + p.least[p.order[at]]
		critical, allowed = max(critical, ends[at]), max(allowed, p.allowance(p.order[at], p.limit))
	}
	return critical, allowed
}

// list returns the operations of a set in the order of the schedule.
func (p *prefixes) list(set operations) (ops []ir.OpID) {
	for ; set != 0; set &= set - 1 {
		ops = append(ops, p.order[bits.TrailingZeros64(uint64(set))])
	}
	return ops
}

// result returns the cheapest division of all operations.
func (p *prefixes) result() (x cuts) {
	set := operations(1<<len(p.order) - 1)
	x.cost = p.cheapest[set].cost
	var pieces [][]ir.OpID
	for set != 0 {
		from := p.cheapest[set].from
		pieces = append(pieces, p.pieces[set&^from].ops)
		set = from
	}
	for _, ops := range slices.Backward(pieces) {
		x.order = append(x.order, ops...)
		x.ends = append(x.ends, len(x.order))
	}
	return x
}
