package loop

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/graphexec"
	"github.com/reprise-gpu/reprise/graphexec/internal/parts"
	"github.com/reprise-gpu/reprise/internal/loopcost"
)

// lowerings are the lowerings of package loopcost.
var lowerings = [...]Lowering{loopcost.Host: HostChecked, loopcost.Unrolled: Unrolled, loopcost.While: WhileNode}

// option is a way to lower a loop.
type option struct {
	lowering Lowering
	batch    int           // iterations of a graph
	overrun  bool          // the next period begins before the result of a check has arrived
	cost     time.Duration // expected, to prepare and of all iterations without their bodies
}

// options lists the best of each lowering that the loop allows.
func (x *Exec) options(c loopcost.Costs) []option {
	l := &x.loop
	auto := l.Lowering == Auto
	estimate := x.estimate(c)
	var best [loopcost.Lowerings]option
	for _, o := range estimate.Options(c) {
		must := l.Overrun != Forbidden && o.Lowering != loopcost.While && !auto
		if o.Ahead && l.Overrun == Forbidden || !o.Ahead && must {
			continue
		}
		cost := o.Prepare + o.Overhead
		if b := &best[o.Lowering]; b.batch == 0 || cost < b.cost {
			*b = option{lowerings[o.Lowering], o.Batch, o.Ahead, cost}
		}
	}
	return best[:]
}

// estimate returns the numbers on which the choice depends. The time of a body is the prediction of the schedule or, without
// one, the host's cost of a replay.
func (x *Exec) estimate(c loopcost.Costs) loopcost.Loop {
	l := &x.loop
	e := loopcost.Loop{
		Iterations: l.expected(), Limit: l.MaxIterations, CheckEvery: l.CheckEvery, Batch: l.Batch, Ahead: l.Overrun != Forbidden,
		Ops: l.Body.Graph.Len(), Replay: c.Launch,
	}
	if l.Backend == graphexec.Streams {
		e.Replay = time.Duration(e.Ops) * c.Submit
	}
	e.Body = e.Replay
	if l.Body.Profile != "" {
		e.Body = time.Duration(l.Body.Predicted)
	}
	if l.Overrun == Undone {
		if pieces, bytes, err := x.carried(); err == nil {
			e.Save = time.Duration(len(pieces))*loopcost.RootGap + time.Duration(2*float64(bytes)/max(x.dev.Info().MemoryGBps, 1))
		}
	}
	return e
}

// expected returns the expected number of iterations.
func (l *Loop) expected() int {
	if l.Expected > 0 {
		return min(l.MaxIterations, l.Expected)
	}
	return l.MaxIterations
}

// choose lowers the loop as Lowering requires. For Auto it takes the option with the least expected
// overhead among those that the device supports.
func (x *Exec) choose() error {
	l := &x.loop
	if l.Lowering == HostChecked || l.Lowering != Auto && l.Batch > 0 {
		return x.become(option{lowering: l.Lowering, batch: max(l.Batch, 1), overrun: true})
	}
	c, err := loopcost.Measure(x.dev, x.stream, x.host.looks[0].copy)
	if err != nil {
		return err
	}
	options := slices.DeleteFunc(x.options(c), func(o option) bool {
		return o.batch == 0 || l.Lowering != Auto && l.Lowering != o.lowering
	})
	why := explain(l.expected(), c, options)
	slices.SortStableFunc(options, func(a, b option) int { return cmp.Compare(a.cost, b.cost) })
	for _, o := range options {
		err := x.become(o)
		if err == nil {
			x.why = why
			return nil
		}
		if l.Lowering != Auto || !isUnfit(err) {
			return err
		}
		why += "; " + err.Error()
		if err := x.form.close(); err != nil {
			return err
		}
	}
	panic("BUG: a loop cannot be lowered to replays")
}

// become lowers the loop in one way.
func (x *Exec) become(o option) error {
	x.chose, x.batch = o.lowering, o.batch
	over := Forbidden
	if o.overrun {
		over = x.loop.Overrun
	}
	switch o.lowering {
	case Unrolled:
		u := newUnrolled(x, o.batch)
		x.form = u
		return parts.Wrapped("unrolled", u.build(over))
	case WhileNode:
		w := &while{x: x, size: o.batch}
		x.form = w
		return parts.Wrapped("a while node", w.build())
	}
	h := newHostChecked(x)
	x.form, x.batch = h, h.size
	return h.build(over)
}

// unfit is the reason for which a loop cannot be lowered in some way.
type unfit string

func (u unfit) Error() string { return string(u) }

func isUnfit(err error) bool {
	var u unfit
	return errors.As(err, &u) || device.CodeOf(err) == device.NotSupported
}

// explain states the expected overhead of a number of iterations for each lowering, and the costs that determine it.
func explain(iterations int, c loopcost.Costs, options []option) string {
	var expected []string
	for _, o := range options {
		expected = append(expected, fmt.Sprintf("%v %v (batch %d)", o.lowering, o.cost.Round(time.Microsecond), o.batch))
	}
	return fmt.Sprintf("expected overhead of %d iterations: %s; launching a graph takes %v, a check %v, and instantiating a node %v",
		iterations, strings.Join(expected, ", "), c.Launch.Round(100), c.Look.Round(100), c.Node.Round(100))
}
