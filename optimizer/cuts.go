package optimizer

import (
	"cmp"
	"math"
	"slices"

	"github.com/reprise-gpu/reprise/device/model"
	"github.com/reprise-gpu/reprise/internal/des"
	"github.com/reprise-gpu/reprise/ir"
)

// cuts is an order that is divided into pieces.
type cuts struct {
	order []ir.OpID
	ends  []int      // ascending; the last is the length of the order
	cost  model.Time // of all pieces, with a launch each
}

// never is the cost of a piece that is not allowed.
const never = model.Time(math.MaxInt64 / 4)

// cut returns the cheapest division of an order at the given ends into pieces within a limit. A piece between two
// neighbouring ends is allowed in any case.
//
// For each end j, it bounds the times of all pieces that end there from below, from the shortest to the longest, until
// the bound exceeds the limit. It then simulates pieces in the order of what they could cost at least, until no other
// piece can be cheaper. It takes O(ends · operations of a piece) plus the simulations.
func (c *cutter) cut(order []ir.OpID, ends []int, limit model.Time) cuts {
	d := &division{cutter: c, order: order, starts: append([]int{0}, ends...), limit: limit, position: positions(order)}
	d.cheapest, d.from = make([]model.Time, len(d.starts)), make([]int, len(d.starts))
	d.rest = make([]model.Time, len(order))
	for j := 1; j < len(d.starts); j++ {
		d.end(j)
	}
	x := cuts{order: order, cost: d.cheapest[len(ends)]}
	for j := len(ends); j > 0; j = d.from[j] {
		x.ends = append(x.ends, d.starts[j])
	}
	slices.Reverse(x.ends)
	if c.work > maxCutWork {
		x.ends = d.halved(x.ends)
	}
	return x
}

// positions returns, by operation, its position in an order.
func positions(order []ir.OpID) []int32 {
	at := make([]int32, len(order))
	for i, v := range order {
		at[v] = int32(i)
	}
	return at
}

// division is the state of the dynamic program for one order.
type division struct {
	*cutter
	order    []ir.OpID
	position []int32
	starts   []int // positions at which pieces may begin or end: 0, then the ends
	limit    model.Time

	cheapest []model.Time // by index in starts: the least cost of the operations before it
	from     []int        // by index in starts: where the last piece begins then
	rest     []model.Time // by position: the longest path from there to the end of the present piece
	options  []option     // scratch memory
}

// option is a piece that ends at the present end.
type option struct {
	start int        // index in starts
	least model.Time // lower bound of the cost of all up to its end
	most  model.Time // time that the piece may take
}

// end finds the cheapest division that ends at starts[j].
func (d *division) end(j int) {
	d.bounds(j)
	slices.SortStableFunc(d.options, func(a, b option) int { return cmp.Compare(a.least, b.least) })
	d.cheapest[j] = never
	for _, o := range d.options {
		if o.least >= d.cheapest[j] {
			return
		}
		took := o.least - d.cheapest[o.start] - d.launch
		if d.work <= maxCutWork {
			took = d.time(d.order[d.starts[o.start]:d.starts[j]])
		}
		if took > o.most && o.start < j-1 {
			continue
		}
		if cost := d.cheapest[o.start] + took + d.launch; cost < d.cheapest[j] {
			d.cheapest[j], d.from[j] = cost, o.start
		}
	}
}

// minPiece and maxPairs bound the work: a piece has up to maxPairs/n operations, or minPiece if that is more.
const (
	minPiece = 64
	maxPairs = 1 << 22
)

// bounds sets the options for the end starts[j], with lower bounds of their costs: the critical path of the piece, and the
// time of its busiest engine. Neither falls as a piece grows to the front.
func (d *division) bounds(j int) {
	d.options = d.options[:0]
	end := d.starts[j]
	busy := des.NewBusy(d.profile)
	critical, most := model.Time(0), max(minPiece, maxPairs/len(d.order))
	allowed := d.limit
	for i := j - 1; i >= 0; i-- {
		for at := d.starts[i+1] - 1; at >= d.starts[i]; at-- {
			v := d.order[at]
			d.rest[at] = d.least[v]
			for _, w := range d.succs[v] {
				if next := int(d.position[w]); next < end {
					d.rest[at] = max(d.rest[at], d.least[v]+d.profile.GraphEdgeGap+d.rest[next])
				}
			}
			busy.Add(d.demands[v])
			allowed = max(allowed, d.allowance(v, d.limit))
			critical = max(critical, d.rest[at])
		}
		least := max(critical, busy.Most())
		if i < j-1 && (least > max(d.limit, d.longest+d.longest/16) || end-d.starts[i] > most) {
			return
		}
		if i == j-1 || least <= allowed {
			d.options = append(d.options, option{i, d.cheapest[i] + least + d.launch, allowed})
		}
	}
}

// halved cuts pieces that exceed the limit in their middle until none is left that can be cut.
func (d *division) halved(ends []int) (all []int) {
	from := 0
	for _, end := range ends {
		all = append(all, d.halves(from, end)...)
		from = end
	}
	return all
}

func (d *division) halves(from, end int) []int {
	i, _ := slices.BinarySearch(d.starts, (from+end+1)/2)
	if d.starts[i] >= end { // the middle has no end behind it
		i--
	}
	allowed := d.limit
	for _, v := range d.order[from:end] {
		allowed = max(allowed, d.allowance(v, d.limit))
	}
	if d.starts[i] <= from || d.time(d.order[from:end]) <= allowed {
		return []int{end}
	}
	return append(d.halves(from, d.starts[i]), d.halves(d.starts[i], end)...)
}

// maxOrdered is the largest number of operations for which several orders are divided: each takes about a second for 100,000.
const maxOrdered = 100_000

// orders returns orders of a schedule that respect lanes and waits: its own, by start and by end in a replay as a
// whole, which keep operations together that run at the same time, the longest path first, chain after chain, and program order. A
// schedule with joined operations has only its own, and so has one with more than maxOrdered operations.
func (c *cutter) orders(s *ir.Schedule) [][]ir.OpID {
	list := [][]ir.OpID{s.Order}
	if s.Joined != nil || len(s.Order) > maxOrdered {
		return list
	}
	_, ends := c.replay(s)
	starts := make([]model.Time, len(ends))
	program := make([]model.Time, len(ends))
	for v := range ends {
		starts[v], program[v] = ends[v]-c.took[v], model.Time(v)
	}
	for _, order := range [][]ir.OpID{sortedBy(s.Order, starts), sortedBy(s.Order, ends), longestFirst(s, c.took), c.depthFirst(s), sortedBy(s.Order, program)} {
		if c.valid(order) && !slices.ContainsFunc(list, func(o []ir.OpID) bool { return slices.Equal(o, order) }) {
			list = append(list, order)
		}
	}
	return list
}

// sortedBy returns an order sorted by a time of each operation.
func sortedBy(order []ir.OpID, key []model.Time) []ir.OpID {
	sorted := slices.Clone(order)
	slices.SortStableFunc(sorted, func(u, v ir.OpID) int { return cmp.Compare(key[u], key[v]) })
	return sorted
}

// valid reports whether an order is topological.
func (c *cutter) valid(order []ir.OpID) bool {
	at := positions(order)
	for v, us := range c.preds {
		if slices.ContainsFunc(us, func(u ir.OpID) bool { return at[u] >= at[v] }) {
			return false
		}
	}
	return true
}

// depthFirst returns an order in which an operation is followed by one of its successors as long as one is ready.
func (c *cutter) depthFirst(s *ir.Schedule) []ir.OpID {
	waits := make([]int, len(c.preds))
	var ready []ir.OpID
	for _, v := range slices.Backward(s.Order) {
		if waits[v] = len(c.preds[v]); waits[v] == 0 {
			ready = append(ready, v)
		}
	}
	order := make([]ir.OpID, 0, len(waits))
	for len(ready) > 0 {
		v := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		order = append(order, v)
		for _, w := range slices.Backward(c.succs[v]) {
			if waits[w]--; waits[w] == 0 {
				ready = append(ready, w)
			}
		}
	}
	return order
}

// maxArranged is the largest number of operations of a piece within which neighbours are exchanged.
const maxArranged = 16

// arranged exchanges neighbours within pieces while that makes a piece shorter. The device starts operations that are ready
// at the same time in the order of the piece, and a kernel that fills the device delays the next ones.
func (c *cutter) arranged(x cuts) cuts {
	x.order = slices.Clone(x.order)
	from := 0
	for _, end := range x.ends {
		if ops := x.order[from:end]; len(ops) <= maxArranged && c.joined == nil {
			x.cost -= c.arrange(ops)
		}
		from = end
	}
	return x
}

// arrange exchanges neighbours of a piece, and returns how much time that saves.
func (c *cutter) arrange(ops []ir.OpID) model.Time {
	before := c.time(ops)
	best := before
	for improved := true; improved; {
		improved = false
		for i := 1; i < len(ops) && c.work <= maxCutWork; i++ {
			if slices.Contains(c.preds[ops[i]], ops[i-1]) {
				continue
			}
			ops[i-1], ops[i] = ops[i], ops[i-1]
			if took := c.time(ops); took < best {
				best, improved = took, true
			} else {
				ops[i-1], ops[i] = ops[i], ops[i-1]
			}
		}
	}
	return before - best
}
