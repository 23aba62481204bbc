package auto

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/reprise-gpu/reprise/auto/internal/period"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/calls"
	"github.com/reprise-gpu/reprise/ir"
)

// Comparing a repetition and refusing it takes one or two microseconds, which is what watching 100 launches may cost. There
// is credit for a few comparisons, and none is charged for a repetition that is made replayable.
const (
	lookCost   = 100
	lookCredit = 32 * lookCost
)

// refusal keeps a period that cannot be replayed from being compared at each of its visits.
type refusal struct {
	next, pause int
	never       bool // refused because of its calls, and not because they are too few
}

// propose makes the last calls replayable, which the finder has reported as a repeat.
func (w *watcher) propose(found period.Repeat) {
	p := found.Period
	if minReplay*w.spentOn(p) <= p || minReplay*w.spentOn(2*p) <= 2*p {
		return // it is replayed: there is little more to gain
	}
	r := &w.refused[p]
	if found.Visits > 2 && p >= minReplay && !r.never { // hardly by chance: what has not paid yet may last
		w.idle = max(0, w.idle-matchWeight*found.Visits*p)
	}
	if w.n < r.next || w.looked > w.n+lookCredit {
		return
	}
	if w.tooFew(found) {
		if w.stats.Reason == "" {
			w.stats.Reason = fmt.Sprintf("%s: %v", w.describeLast(p), w.fewVisits(found.Visits))
		}
		return
	}
	err := w.adopt(found)
	if err == nil {
		*r = refusal{}
		return
	}
	r.never = !errors.Is(err, errFew)
	w.looked = max(w.looked, w.n) + lookCost
	if w.current == nil && w.replayed != w.n-1 {
		w.stats.Reason = err.Error()
	}
	if w.n-r.next > 8*r.pause {
		r.pause = 0 // of another part of the program
	}
	r.pause = max(p, min(2*r.pause, 1024*p))
	r.next = w.n + r.pause
}

// spentOn returns how many calls into the driver the last n calls of the program have taken.
func (w *watcher) spentOn(n int) int {
	if n >= w.n {
		return w.spent
	}
	return w.spent - w.at(w.n-1-n).spent
}

// adopt makes a body of the next visits of a period: one, or as many as it takes for all buffers to be back in their
// places and for a replay to be long enough.
func (w *watcher) adopt(found period.Repeat) error {
	visit, err := w.compare(found.Period)
	if err != nil {
		return err
	}
	order, err := visit.order(maxPeriod / found.Period)
	if err != nil {
		return err
	}
	copies := order
	for visit.breaks == 0 && copies*found.Period < minReplay {
		copies += order
	}
	if err := w.worth(visit, copies, found); err != nil {
		return fmt.Errorf("%s: %w", describe(visit.calls), err)
	}
	for _, list := range split(visit.unroll(copies)) {
		if len(list) > 1 {
			if err := w.install(list, found.Period); err != nil {
				return fmt.Errorf("%s: %w", describe(visit.calls), err)
			}
		}
	}
	return nil
}

// Upper bounds of what it costs the host to plan a body and to instantiate it, in launches of some 2.5 µs: 0.7 ms, and
// 45 µs for each call (strategy auto, as a graph, on a core of a 2.1 GHz Xeon; nimble takes a twentieth). The driver's
// part of it is about one launch for each call.
const (
	bodyCost = 250
	callCost = 15
	// trust is what planning may cost before replays have saved it: 10 ms.
	trust = 4000
)

// worth returns an error if replays would save too little. They are worth it when they take at most half as many calls
// into the driver, and would have saved by now half of what making them costs the driver: a repetition is expected to
// last as long again as it has lasted. The costs of other bodies that replays have not saved yet are added, and of what
// those have cost the host everything beyond trust, so that a program whose repetitions all end soon is left alone.
func (w *watcher) worth(v *visit, copies int, found period.Repeat) error {
	replays := copies * v.breaks
	if v.breaks == 0 {
		replays = 1
	}
	cost := replays + copies*v.free
	spent := w.spentOn(2*found.Period) * copies / 2
	switch visits := found.Visits; {
	case 2*cost > spent:
		return fmt.Errorf("its replays would take %d calls into the driver, and it takes %d", cost, spent)
	case copies*len(v.calls)+w.owed() > 2*(spent-cost)*visits/copies:
		return w.fewVisits(visits)
	}
	return nil
}

// tooFew reports whether a repetition would hardly be worth it even if its calls were the same each time. Then they need
// not be compared: where few different calls come in no order, one comes twice in a row all the time.
func (w *watcher) tooFew(found period.Repeat) bool {
	p := found.Period
	copies := (minReplay + p - 1) / p
	return copies*p+w.owed() > 2*(w.spentOn(2*p)*copies/2-1)*found.Visits/copies
}

// owed returns the cost of bodies that replays have not saved yet, as far as it counts.
func (w *watcher) owed() int { return w.debt + max(0, w.hostDebt-trust) }

func (w *watcher) fewVisits(visits int) error {
	return fmt.Errorf("it came %d %w, as others have cost as much as %d calls and not saved it", visits, errFew, max(w.debt, w.hostDebt))
}

var errFew = errors.New("times, which is too few to make it replayable")

// visit is what two visits of a period have in common.
type visit struct {
	buffers []ir.Buffer                 // of the program
	calls   []calls.Call                // of the second; a scalar that had another value in the first is a parameter
	free    int                         // number of these parameters
	breaks  int                         // interludes among the calls
	next    map[ir.BufferID]ir.BufferID // for each buffer that is used, the one in its place a visit later
}

// compare compares the last two visits of a period, and returns an error unless the calls of the next one follow from
// them: buffers may change places with each other, and scalars their values.
func (w *watcher) compare(period int) (*visit, error) {
	v := &visit{buffers: w.run.Buffers(), next: map[ir.BufferID]ir.BufferID{}}
	for i := range period {
		was, is := &w.at(w.n-2*period+i).Call, &w.at(w.n-period+i).Call
		if !alike(was, is) {
			return nil, fmt.Errorf("%s: the calls of two visits only have the same hash", describe(v.calls))
		}
		c := *is
		c.Operands = slices.Clone(is.Operands)
		for j := range c.Operands {
			if err := v.compare(&was.Operands[j], &c.Operands[j], c.Kind); err != nil {
				return nil, fmt.Errorf("%s: %w", &c, err)
			}
		}
		if c.Kind == ir.KindEmpty {
			v.breaks++
		}
		v.calls = append(v.calls, c)
	}
	return v, v.closed()
}

// compare compares two operands, and makes a scalar with two values a parameter.
func (v *visit) compare(was, is *calls.Operand, kind ir.Kind) error {
	switch {
	case is.Kind == ir.ArgBuffer && was.Kind == ir.ArgBuffer:
		from, to := was.Range().Buffer, is.Range().Buffer
		if next, ok := v.next[from]; ok && next != to {
			return fmt.Errorf("%s is followed by %s in one place and by %s in another", v.name(from), v.name(next), v.name(to))
		}
		v.next[from] = to
		if was.Bits != is.Bits || was.End != is.End {
			return fmt.Errorf("another part of %s is used each time", v.name(to))
		}
	case *was == *is:
	case kind != ir.KindLaunch || was.Kind != is.Kind || was.Type != is.Type:
		return errors.New("its value is another each time, and is no argument of a kernel")
	default:
		is.Kind = ir.ArgParam
		v.free++
	}
	return nil
}

// closed returns an error unless the buffers only change places among themselves.
func (v *visit) closed() error {
	taken := map[ir.BufferID]bool{}
	for _, b := range v.used() {
		next := v.next[b]
		if _, used := v.next[next]; !used || taken[next] {
			return fmt.Errorf("%s: %s is followed by %s, and what follows that does not show", describe(v.calls), v.name(b), v.name(next))
		}
		taken[next] = true
		if x, y := &v.buffers[b], &v.buffers[next]; x.Size() != y.Size() || x.Place != y.Place {
			return fmt.Errorf("%s: %s is followed by %s, which is of another size or place", describe(v.calls), v.name(b), v.name(next))
		}
	}
	return nil
}

func (v *visit) used() []ir.BufferID { return slices.Sorted(maps.Keys(v.next)) }

func (v *visit) name(b ir.BufferID) string { return "@" + v.buffers[b].Name }

// order returns the number of visits after which all buffers are back in their places: the least common multiple of the
// lengths of the cycles in which they change places.
func (v *visit) order(limit int) (int, error) {
	order := 1
	for _, b := range v.used() {
		length := 1
		for next := v.next[b]; next != b; next = v.next[next] {
			length++
		}
		if order = order / gcd(order, length) * length; order > limit {
			return 0, fmt.Errorf("%s: its buffers are back in their places after more than %d visits", describe(v.calls), limit)
		}
	}
	return order, nil
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// unroll returns the calls of the next visits.
func (v *visit) unroll(copies int) []calls.Call {
	var all []calls.Call
	visit := v.calls
	for range copies {
		next := make([]calls.Call, len(visit))
		for i, c := range visit {
			c.Operands = slices.Clone(c.Operands)
			for j := range c.Operands {
				if o := &c.Operands[j]; o.Kind == ir.ArgBuffer {
					o.ID = int32(v.next[ir.BufferID(o.ID)])
				}
			}
			next[i] = c
		}
		all = append(all, next...)
		visit = next
	}
	return all
}

// split cuts the calls of a repetition at its interludes, which are left out.
func split(list []calls.Call) [][]calls.Call {
	isBreak := func(c calls.Call) bool { return c.Kind == ir.KindEmpty }
	if first := slices.IndexFunc(list, isBreak); first >= 0 { // the calls before it follow the last
		list = slices.Concat(list[first+1:], list[:first+1])
	}
	var pieces [][]calls.Call
	for len(list) > 0 {
		end := slices.IndexFunc(list, isBreak)
		if end < 0 {
			return append(pieces, list)
		}
		pieces, list = append(pieces, list[:end:end]), list[end+1:]
	}
	return pieces
}

// install makes calls a body, which from now on is replayed.
func (w *watcher) install(list []calls.Call, period int) error {
	number(list)
	like := likeness(&list[0])
	if slices.ContainsFunc(w.bodies[like], func(b *body) bool { return b.is(list) }) {
		return nil
	}
	w.debt += len(list)
	w.hostDebt += bodyCost + callCost*len(list)
	b, err := w.newBody(list)
	if errors.Is(err, device.ErrOtherDevice) {
		w.run.Fail(list[0].PC, fmt.Errorf("the engine of package auto: %w", err))
	}
	if err != nil {
		return err
	}
	w.stats.Bodies++
	b.number, b.like, b.period, b.used = w.stats.Bodies, like, period, w.n
	if w.count == maxBodies {
		w.drop(w.idlest())
	}
	w.count++
	alike := append(w.bodies[like], b)
	slices.SortStableFunc(alike, func(x, y *body) int {
		return cmp.Or(cmp.Compare(len(x.values), len(y.values)), cmp.Compare(len(y.calls), len(x.calls)))
	})
	w.bodies[like] = alike
	w.firsts |= firstBit(like)
	return nil
}

// firstBit returns one of 64 bits for a likeness.
func firstBit(like uint64) uint64 { return 1 << (like >> 58) }

// number gives parameters their numbers.
func number(list []calls.Call) {
	n := int32(0)
	for i := range list {
		for j := range list[i].Operands {
			if o := &list[i].Operands[j]; o.Kind == ir.ArgParam {
				o.ID = n
				n++
			}
		}
	}
}

// all returns the bodies in the order in which they were made.
func (w *watcher) all() []*body {
	list := slices.Concat(slices.Collect(maps.Values(w.bodies))...)
	slices.SortFunc(list, func(x, y *body) int { return cmp.Compare(x.number, y.number) })
	return list
}

func (w *watcher) idlest() (idlest *body) {
	for _, b := range w.all() {
		if b != w.current && (idlest == nil || b.used < idlest.used) {
			idlest = b
		}
	}
	return idlest
}

// drop gives a body up. It is not made again for a while.
func (w *watcher) drop(b *body) {
	if w.last == b { // its stream goes; Close waits for its runs
		w.last, w.busy = nil, false
	}
	if err := b.replayer.Close(); err != nil {
		w.run.Fail(0, err)
	}
	w.count--
	w.bodies[b.like] = slices.DeleteFunc(w.bodies[b.like], func(o *body) bool { return o == b })
	if len(w.bodies[b.like]) == 0 {
		delete(w.bodies, b.like)
	}
	w.firsts = 0
	for like := range w.bodies {
		w.firsts |= firstBit(like)
	}
	r := &w.refused[b.period]
	r.pause = 64 * b.period
	r.next = w.n + r.pause
}

// describe returns the number of calls and the first of them: "4 calls from square at main.go:41 on".
func describe(list []calls.Call) string {
	for i := range list {
		if c := &list[i]; c.Kind != ir.KindEmpty {
			return fmt.Sprintf("%d calls from %s on", len(list), c)
		}
	}
	return fmt.Sprintf("%d calls", len(list))
}

func (w *watcher) describeLast(period int) string {
	list := make([]calls.Call, period)
	for i := range list {
		list[i] = w.at(w.n - period + i).Call
	}
	return describe(list)
}
