package auto

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	"github.com/reprise-gpu/reprise/auto/internal/period"
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/calls"
	"github.com/reprise-gpu/reprise/internal/observe"
	"github.com/reprise-gpu/reprise/internal/ranking"
	"github.com/reprise-gpu/reprise/ir"
)

// Budget of comparisons. Comparing a repetition and refusing it takes one or two microseconds, the same as
// watching 100 launches. A refused comparison is therefore charged as lookCost calls; the account may be
// lookCredit calls in advance. A repetition that is replayed is not charged.
const (
	lookCost   = 100           // calls
	lookCredit = 32 * lookCost // calls
)

// refusal is the state of a period that could not be replayed. The pause between comparisons doubles with each
// refusal, so that a period is not compared at each of its occurrences.
type refusal struct {
	next  int  // position from which on the period is compared again
	pause int  // latest pause, in calls
	never bool // the calls cannot be replayed; false if there were too few occurrences
}

// propose examines a repeat that a finder has reported at the end of the latest calls, and installs it for replay
// if that pays. In order of cost:
//
//	1  skip a period that is being replayed: few calls into the driver were made in it
//	2  skip a period during its pause after a refusal, or if the budget of comparisons is used up
//	3  skip it if even equal calls would not pay (tooFew)
//	4  compare, plan and instantiate (adopt); after an error, double the pause
func (w *watcher) propose(found period.Repeat) {
	p := found.Period
	if minReplay*w.spentOn(p) <= p || minReplay*w.spentOn(2*p) <= 2*p {
		return // most of it is replayed already
	}
	r := &w.refused[p]
	if found.Visits > 2 && p >= minReplay && !r.never { // unlikely by chance, so watching goes on: it may pay later
		w.idle = max(0, w.idle-matchWeight*found.Visits*p)
	}
	if w.n < r.next || w.looked > w.n+lookCredit {
		return
	}
	if w.tooFew(found) {
		if w.stats.Reason == "" {
			w.refuse(fmt.Sprintf("%s: %v", w.describeLast(p), w.fewVisits(found.Visits)))
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
		w.refuse(err.Error())
	}
	if w.n-r.next > 8*r.pause {
		r.pause = 0 // the refusals were in an earlier part of the program
	}
	r.pause = max(p, min(2*r.pause, 1024*p))
	r.next = w.n + r.pause
}

// spentOn returns the number of calls into the driver for the last n calls of the program.
func (w *watcher) spentOn(n int) int {
	if n >= w.n {
		return w.spent
	}
	return w.spent - w.at(w.n-1-n).spent
}

// adopt makes bodies for the next occurrences of a period. A body covers as many occurrences as it takes until
// all buffers are back in their places, and more if a replay would be shorter than minReplay. At interludes, which
// no replay crosses, it is split into several bodies.
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

// Costs of making a body, in launches of about 2.5 µs. bodyCost and callCost are upper bounds of the host's time to
// plan and to instantiate it: 0.7 ms, and 45 µs for each call (strategy auto, as a graph, on a core of a 2.1 GHz
// Xeon; nimble takes a twentieth). The driver's part is about one launch for each call.
const (
	bodyCost = 250 // for a body
	callCost = 15  // for each call of a body
	// hostCredit is the host's time for planning that is spent before replays have saved as much: 10 ms.
	hostCredit = 4000
)

// worth returns an error if replays would save too little. Two conditions must hold:
//
//	calls     replays take at most half as many calls into the driver as the occurrences do now
//	savings   had the occurrences so far been replayed, the savings would cover half the cost of the body
//
// The second condition assumes that a repetition lasts as long again as it has lasted, a rule of ski rental. Costs
// of other bodies that their replays have not saved yet are added (see owed), so that a program whose repetitions
// all end soon is not slowed down.
func (w *watcher) worth(v *occurrence, copies int, found period.Repeat) error {
	replays := copies * v.breaks
	if v.breaks == 0 {
		replays = 1
	}
	cost := replays + copies*v.free
	spent := w.spentOn(2*found.Period) * copies / 2
	switch {
	case 2*cost > spent:
		return fmt.Errorf("its replays would take %d calls into the driver, and it takes %d", cost, spent)
	case !w.pays(copies*len(v.calls), cost, spent, copies, found.Visits):
		return w.fewVisits(found.Visits)
	}
	return nil
}

// pays reports whether a body of a number of calls would have saved half its cost in the visits so far. For a number of copies of
// a visit, a replay of the body costs so many calls into the driver, and spent are those without it. The rule is that of the command
// advise.
func (w *watcher) pays(body, cost, spent, copies, visits int) bool {
	without := ranking.Plan{Replay: float64(spent) / float64(copies)}
	with := ranking.Plan{Prepare: float64(body + w.owed()), Replay: float64(cost) / float64(copies)}
	return with.BreakEven(&without) <= 2*float64(visits)
}

// tooFew reports whether a repetition would not be worth its cost even if all of its calls were equal. Then the
// calls need not be compared. This filters the many short repeats that occur by chance in a random sequence of few
// different calls.
func (w *watcher) tooFew(found period.Repeat) bool {
	p := found.Period
	copies := (minReplay + p - 1) / p
	return !w.pays(copies*p, 1, w.spentOn(2*p)*copies/2, copies, found.Visits)
}

// owed returns the cost of bodies that replays have not saved yet, in launches: all of the driver's part, and the
// host's part beyond hostCredit.
func (w *watcher) owed() int { return w.debt + max(0, w.hostDebt-hostCredit) }

func (w *watcher) fewVisits(visits int) error {
	return fmt.Errorf("it came %d %w, as others have cost as much as %d calls and not saved it", visits, errFew, max(w.debt, w.hostDebt))
}

var errFew = errors.New("times, which is too few to make it replayable")

// occurrence is the pattern of one occurrence of a repetition, from a comparison of two. Operands equal in both are
// constants. Scalars that differ are parameters. Buffers that differ must form a permutation:
//
//	first    square x → y     add y, 1
//	second   square y → x     add x, 2         next: x → y, y → x; one parameter: 1, 2, ...
type occurrence struct {
	buffers []ir.Buffer                 // of the program
	calls   []calls.Call                // of the second occurrence, with parameters in place of scalars that differ
	free    int                         // number of these parameters
	breaks  int                         // number of interludes among the calls
	next    map[ir.BufferID]ir.BufferID // by used buffer: the buffer in its place in the next occurrence
}

// compare compares the last two occurrences of a period. It returns an error unless they determine the calls of the
// next one, but for the values of parameters.
func (w *watcher) compare(period int) (*occurrence, error) {
	v := &occurrence{buffers: w.run.Buffers(), next: map[ir.BufferID]ir.BufferID{}}
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

// compare compares an operand of the first occurrence with that of the second. It makes a scalar with two values
// a parameter.
func (v *occurrence) compare(was, is *calls.Operand, kind ir.Kind) error {
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

// closed returns an error unless next is a permutation of the used buffers. Buffers that replace each other must
// have the same size and kind of memory.
func (v *occurrence) closed() error {
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

func (v *occurrence) used() []ir.BufferID { return slices.Sorted(maps.Keys(v.next)) }

func (v *occurrence) name(b ir.BufferID) string { return "@" + v.buffers[b].Name }

// order returns the number of occurrences after which all buffers are back in their places: the order of the
// permutation next, which is the least common multiple of the lengths of its cycles. The error reports an order
// above the limit.
func (v *occurrence) order(limit int) (int, error) {
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

// unroll returns the calls of the next occurrences, as many as copies. Each applies the permutation once more.
func (v *occurrence) unroll(copies int) []calls.Call {
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

// split cuts the calls of a repetition at its interludes and drops these. The calls before the first interlude
// follow those behind the last one, as the repetition is a cycle.
func split(list []calls.Call) [][]calls.Call {
	isBreak := func(c calls.Call) bool { return c.Kind == ir.KindEmpty }
	if first := slices.IndexFunc(list, isBreak); first >= 0 { // rotate it to the end
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

// install makes a body of the calls in list, which is replayed from now on, unless there is an equal one. If the
// cache is full, it drops the body that is used least recently. Bodies with the same first call are sorted by the
// number of parameters, and then the longest first: the most specific one is tried first.
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
	observe.Log("replaying a repetition", func() []slog.Attr {
		return []slog.Attr{slog.Int("calls", len(list)), slog.Int("period", period), slog.Int("parameters", len(b.values)), slog.String("first", describe(list[:1]))}
	})
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

// firstBit returns a word with one bit set, which depends on a likeness. watcher.firsts unites these bits as a
// Bloom filter with one hash function.
func firstBit(like uint64) uint64 { return 1 << (like >> 58) }

// number numbers the parameters in the order of the calls.
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

// idlest returns the body that was used least recently, except the current one.
func (w *watcher) idlest() (idlest *body) {
	for _, b := range w.all() {
		if b != w.current && (idlest == nil || b.used < idlest.used) {
			idlest = b
		}
	}
	return idlest
}

// drop removes and closes a body. Its period is not compared again during a long pause.
func (w *watcher) drop(b *body) {
	if w.last == b { // its stream is destroyed; Close of the replayer waits for its runs
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

// describeLast describes the last calls of the program, as many as a period has.
func (w *watcher) describeLast(period int) string {
	list := make([]calls.Call, period)
	for i := range list {
		list[i] = w.at(w.n - period + i).Call
	}
	return describe(list)
}
