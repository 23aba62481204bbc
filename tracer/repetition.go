package tracer

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/period"
	"github.com/reprise-gpu/reprise/ir"
)

// Looking at a repetition and refusing it takes a microsecond or two, which is what 100 launches may cost that are watched. For a
// few looks there is credit, and none is charged for what is taken up.
const (
	lookCost   = 100
	lookCredit = 32 * lookCost
)

// refusal keeps a period that cannot be replayed from being looked at at each of its visits.
type refusal struct {
	next, pause int
	never       bool // for what its calls are, and not for how few
}

// propose makes the last calls replayable, of which the finder says that they came twice.
func (w *watcher) propose(found period.Repeat) {
	p := found.Period
	if fewestCalls*w.spentOn(p) <= p || fewestCalls*w.spentOn(2*p) <= 2*p {
		return // it is replayed: there is little more to gain
	}
	r := &w.refused[p]
	if found.Visits > 2 && p >= fewestCalls && !r.never { // hardly by chance: what has not paid yet may last
		w.idle = max(0, w.idle-effort*found.Visits*p)
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

// spentOn is how many calls into the driver the last calls of the program have taken.
func (w *watcher) spentOn(calls int) int {
	if calls >= w.n {
		return w.spent
	}
	return w.spent - w.at(w.n-1-calls).spent
}

// adopt makes the next visits of a period replays: one, or as many as it takes for all buffers to be back in their
// places and for a replay to be worth it.
func (w *watcher) adopt(found period.Repeat) error {
	visit, err := w.compare(found.Period)
	if err != nil {
		return err
	}
	order, err := visit.order(mostCalls / found.Period)
	if err != nil {
		return err
	}
	copies := order
	for visit.breaks == 0 && copies*found.Period < fewestCalls {
		copies += order
	}
	if err := w.worth(visit, copies, found); err != nil {
		return fmt.Errorf("%s: %w", describe(visit.calls), err)
	}
	for _, calls := range split(visit.unroll(copies)) {
		if len(calls) > 1 {
			if err := w.install(calls, found.Period); err != nil {
				return fmt.Errorf("%s: %w", describe(visit.calls), err)
			}
		}
	}
	return nil
}

// What planning a body and instantiating it may cost the host, in launches of some 2.5 µs: 0.7 ms, and 45 µs for each call
// (auto.Engine with strategy auto, as a graph, on a core of a 2.1 GHz Xeon; nimble takes a twentieth). The driver's part of it is about one
// launch for each call.
const (
	bodyCost = 250
	callCost = 15
	// trust is what bodies may cost that have not saved it: 10 ms.
	trust = 4000
)

// worth reports an error if replays would save too little. They are worth it when they need half as many calls into the driver, and
// would have saved by now half of what the driver takes to make them: what has lasted is likely to last as long again. What other
// bodies have cost and not saved counts, too, and of what they have cost the host all beyond what a program is trusted with, so that one
// whose repetitions all end soon is left alone.
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

// tooFew reports that a repetition would hardly be worth it even if its calls were the same each time, which spares a look at them: where
// a stream has few calls in no order, one comes twice in a row all the time.
func (w *watcher) tooFew(found period.Repeat) bool {
	p := found.Period
	copies := (fewestCalls + p - 1) / p
	return copies*p+w.owed() > 2*(w.spentOn(2*p)*copies/2-1)*found.Visits/copies
}

// owed is what bodies have cost and not saved, as far as it counts.
func (w *watcher) owed() int { return w.debt + max(0, w.hostDebt-trust) }

func (w *watcher) fewVisits(visits int) error {
	return fmt.Errorf("it came %d %w, as others have cost as much as %d calls and not saved it", visits, errFew, max(w.debt, w.hostDebt))
}

var errFew = errors.New("times, which is too few to make it replayable")

// visit is what two visits of a period have in common.
type visit struct {
	t      *Tracer
	calls  []call                      // of the second; a scalar that was another in the first is a parameter
	free   int                         // how many such there are
	breaks int                         // interludes among the calls
	next   map[ir.BufferID]ir.BufferID // the buffer in its place a visit later, of all that are used
}

// compare looks whether the last calls are two visits of a period, and whether what the next will do follows from
// that: buffers may change places with each other, and scalars their values.
func (w *watcher) compare(period int) (*visit, error) {
	v := &visit{t: w.t, next: map[ir.BufferID]ir.BufferID{}}
	for i := range period {
		was, is := &w.at(w.n-2*period+i).call, &w.at(w.n-period+i).call
		if !was.alike(is) {
			return nil, fmt.Errorf("%s: the calls of two visits only have the same hash", describe(v.calls))
		}
		c := *is
		c.operands = slices.Clone(is.operands)
		for j := range c.operands {
			if err := v.compare(&was.operands[j], &c.operands[j], c.kind); err != nil {
				return nil, fmt.Errorf("%s: %w", c.name(), err)
			}
		}
		if c.kind == ir.KindEmpty {
			v.breaks++
		}
		v.calls = append(v.calls, c)
	}
	return v, v.closed()
}

// compare makes an operand a parameter if it is to be one.
func (v *visit) compare(was, is *operand, kind ir.Kind) error {
	switch {
	case is.kind == ir.ArgBuffer && was.kind == ir.ArgBuffer:
		from, to := was.span().Buffer, is.span().Buffer
		if next, ok := v.next[from]; ok && next != to {
			return fmt.Errorf("%s is followed by %s in one place and by %s in another", v.name(from), v.name(next), v.name(to))
		}
		v.next[from] = to
		if was.bits != is.bits || was.end != is.end {
			return fmt.Errorf("another part of %s is used each time", v.name(to))
		}
	case *was == *is:
	case kind != ir.KindLaunch || was.kind != is.kind || was.typ != is.typ:
		return errors.New("its value is another each time, and is no argument of a kernel")
	default:
		is.kind = ir.ArgParam
		v.free++
	}
	return nil
}

// closed reports an error unless the buffers change places among themselves alone.
func (v *visit) closed() error {
	taken := map[ir.BufferID]bool{}
	for _, b := range v.buffers() {
		next := v.next[b]
		if _, used := v.next[next]; !used || taken[next] {
			return fmt.Errorf("%s: %s is followed by %s, and what follows that does not show", describe(v.calls), v.name(b), v.name(next))
		}
		taken[next] = true
		if x, y := &v.t.graph.Buffers[b], &v.t.graph.Buffers[next]; x.Size() != y.Size() || x.Place != y.Place {
			return fmt.Errorf("%s: %s is followed by %s, which is of another size or place", describe(v.calls), v.name(b), v.name(next))
		}
	}
	return nil
}

func (v *visit) buffers() []ir.BufferID { return slices.Sorted(maps.Keys(v.next)) }

func (v *visit) name(b ir.BufferID) string { return "@" + v.t.graph.Buffers[b].Name }

// order is after how many visits all buffers are where they were: the least common multiple of the lengths of the
// cycles in which they change places.
func (v *visit) order(most int) (int, error) {
	order := 1
	for _, b := range v.buffers() {
		length := 1
		for next := v.next[b]; next != b; next = v.next[next] {
			length++
		}
		if order = order / gcd(order, length) * length; order > most {
			return 0, fmt.Errorf("%s: its buffers are back in their places after more than %d visits", describe(v.calls), most)
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

// unroll is the calls of the next visits.
func (v *visit) unroll(copies int) []call {
	var all []call
	visit := v.calls
	for range copies {
		next := make([]call, len(visit))
		for i, c := range visit {
			c.operands = slices.Clone(c.operands)
			for j := range c.operands {
				if o := &c.operands[j]; o.kind == ir.ArgBuffer {
					o.id = int32(v.next[ir.BufferID(o.id)])
				}
			}
			next[i] = c
		}
		all = append(all, next...)
		visit = next
	}
	return all
}

// split cuts calls that come again and again at their interludes, of which none is left.
func split(calls []call) [][]call {
	isBreak := func(c call) bool { return c.kind == ir.KindEmpty }
	if first := slices.IndexFunc(calls, isBreak); first >= 0 { // what is before it comes after the last
		calls = slices.Concat(calls[first+1:], calls[:first+1])
	}
	var pieces [][]call
	for len(calls) > 0 {
		end := slices.IndexFunc(calls, isBreak)
		if end < 0 {
			return append(pieces, calls)
		}
		pieces, calls = append(pieces, calls[:end:end]), calls[end+1:]
	}
	return pieces
}

// install makes calls a body, which from now on is replayed.
func (w *watcher) install(calls []call, period int) error {
	number(calls)
	like := calls[0].likeness()
	if slices.ContainsFunc(w.bodies[like], func(b *body) bool { return b.is(calls) }) {
		return nil
	}
	w.debt += len(calls)
	w.hostDebt += bodyCost + callCost*len(calls)
	b, err := w.t.newBody(calls, w.engine)
	if errors.Is(err, device.ErrOtherDevice) {
		w.t.fail(calls[0].pc, "the engine of tracer.Auto: %w", err)
	}
	if err != nil {
		return err
	}
	w.stats.Bodies++
	b.number, b.like, b.period, b.used = w.stats.Bodies, like, period, w.n
	if w.count == mostBodies {
		w.drop(w.idlest())
	}
	w.count++
	list := append(w.bodies[like], b)
	slices.SortStableFunc(list, func(x, y *body) int {
		return cmp.Or(cmp.Compare(len(x.values), len(y.values)), cmp.Compare(len(y.calls), len(x.calls)))
	})
	w.bodies[like] = list
	w.firsts |= firstBit(like)
	return nil
}

// firstBit is one of 64, for what a call is like.
func firstBit(like uint64) uint64 { return 1 << (like >> 58) }

// number gives parameters their numbers.
func number(calls []call) {
	n := int32(0)
	for i := range calls {
		for j := range calls[i].operands {
			if o := &calls[i].operands[j]; o.kind == ir.ArgParam {
				o.id = n
				n++
			}
		}
	}
}

// all are the bodies there are, in the order in which they were made.
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

// drop gives a body up; it is not made again for a while.
func (w *watcher) drop(b *body) {
	if w.last == b { // what is behind that has to find where it ends
		w.last, w.busy = nil, false // Close waits for it
	}
	if err := b.replayer.Close(); err != nil {
		w.t.err = device.Join(w.t.err, err)
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

// describe says which calls are meant.
func describe(calls []call) string {
	for i := range calls {
		if c := &calls[i]; c.kind != ir.KindEmpty {
			return fmt.Sprintf("%d calls from %s on", len(calls), c.name())
		}
	}
	return fmt.Sprintf("%d calls", len(calls))
}

func (w *watcher) describeLast(period int) string {
	calls := make([]call, period)
	for i := range calls {
		calls[i] = w.at(w.n - period + i).call
	}
	return describe(calls)
}

// name is what a call is and where: "square at main.go:41".
func (c *call) name() string {
	name := c.kind.String()
	if c.kernel != nil {
		name = c.kernel.entry
	}
	pos := positionOf(c.pc)
	return fmt.Sprintf("%s at %s:%d", name, pos.File, pos.Line)
}
