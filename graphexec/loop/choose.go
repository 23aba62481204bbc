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
)

// costs are the measured times of calls into a device, on the host's clock.
type costs struct {
	launch time.Duration // of a graph
	submit time.Duration // of one piece of work
	look   time.Duration // to submit a copy of the scalar and to wait for it
	node   time.Duration // to add a node to a graph and to instantiate it
}

// measure makes the calls on a chain of nodes that do nothing. The first launch of a graph
// takes longer than the others on most drivers, so it does not count.
func (x *Exec) measure() (c costs, err error) {
	const nodes = 16
	dev := x.dev
	start := dev.Now()
	g, err := dev.CreateGraph()
	if err != nil {
		return c, err
	}
	defer func() { err = device.Join(err, dev.DestroyGraph(g)) }()
	var last []device.Node
	for range nodes {
		n, err := dev.AddNode(g, last, device.Nothing{})
		if err != nil {
			return c, err
		}
		last = []device.Node{n}
	}
	exec, err := dev.Instantiate(g)
	if err != nil {
		return c, err
	}
	defer func() { err = device.Join(err, dev.DestroyGraphExec(exec)) }()
	c.node = (dev.Now() - start) / nodes
	for range 2 {
		start = dev.Now()
		if err := dev.LaunchGraph(exec, x.stream); err != nil {
			return c, err
		}
		c.launch = dev.Now() - start
		if err := dev.Synchronize(x.stream); err != nil {
			return c, err
		}
		start = dev.Now()
		if err := dev.Submit(x.stream, x.host.looks[0].copy); err != nil {
			return c, err
		}
		c.submit = dev.Now() - start
		if err := dev.Synchronize(x.stream); err != nil {
			return c, err
		}
		c.look = dev.Now() - start
	}
	return c, nil
}

// option is a way to lower a loop, and its expected overhead: the time of all iterations without
// that of the bodies.
type option struct {
	lowering Lowering
	batch    int  // iterations of a graph
	overrun  bool // the next period begins before the result of a check has arrived
	cost     time.Duration
}

// Costs that are assumed for every device, because they cannot be measured without side effects.
const (
	moduleLoad = 2 * time.Millisecond // for a driver to compile a kernel as small as until
	rootGap    = time.Microsecond     // from a graph in a stream to the next
)

const (
	maxNodes = 1 << 16 // limit of the nodes of an unrolled graph whose size the caller did not choose
	maxTimes = 1 << 30 // more iterations are estimated like this number, so that a Duration does not overflow
)

// options lists the best of each lowering that the loop allows. With K iterations, batches of n
// cost
//
//	n·c + K/n·l		c to instantiate an iteration, l to launch a graph
//
// which is least at n = sqrt(K·l/c) (J. Ekelund et al., "Boosting Performance of Iterative Applications
// on GPUs: Kernel Batching with CUDA Graphs", 2025), independent of the kernels. Here l is the part of a
// launch that a batch on the device does not hide. The time of a batch is the prediction of the schedule or, without one,
// the host's cost of a replay. Added is the cost of a look for each check. If periods overlap, the host does not wait for
// a look, which then costs less, but the iterations past the end are added. A round of the device's own loop is
// assumed to cost as much as a launch.
func (x *Exec) options(c costs) []option {
	e := x.estimate(c)
	l := &x.loop
	k := l.CheckEvery
	var best [len(loweringNames)]option
	consider := func(o option) {
		auto := l.Lowering == Auto
		if o.overrun && l.Overrun == Forbidden || !o.overrun && l.Overrun != Forbidden && o.lowering != WhileNode && !auto {
			return
		}
		if b := &best[o.lowering]; b.batch == 0 || o.cost < b.cost {
			*b = o
		}
	}
	for _, over := range []bool{false, true} {
		consider(option{HostChecked, 1, over, e.launches(1, e.replay) + e.looks(k, over)})
	}
	for _, n := range l.batches(e.ops) {
		build := time.Duration(n*e.ops) * c.node
		if k%n == 0 {
			consider(option{WhileNode, n, false, build + moduleLoad + e.times(n, c.launch) + c.look})
			consider(option{Unrolled, n, false, build + e.launches(n, c.launch) + e.looks(k, false)})
		}
		consider(option{Unrolled, n, true, build + e.launches(n, c.launch) + e.looks(max(n, k), true)})
	}
	return best[HostChecked:]
}

// estimate holds the costs, and the numbers that they are multiplied by.
type estimate struct {
	costs
	total  int           // iterations
	ops    int           // of an iteration
	replay time.Duration // of an iteration, of the host's time
	body   time.Duration // of an iteration, of the device's
	save   time.Duration // of the device's, for each period that may have to be undone
}

func (x *Exec) estimate(c costs) estimate {
	l := &x.loop
	e := estimate{costs: c, total: l.MaxIterations, ops: l.Body.Graph.Len(), replay: c.launch}
	if l.Expected > 0 {
		e.total = min(e.total, l.Expected)
	}
	e.total = min(e.total, maxTimes)
	if l.Backend == graphexec.Streams {
		e.replay = time.Duration(e.ops) * c.submit
	}
	e.body = e.replay
	if l.Body.Profile != "" {
		e.body = time.Duration(l.Body.Predicted)
	}
	if l.Overrun == Undone {
		if pieces, bytes, err := x.carried(); err == nil {
			e.save = time.Duration(len(pieces))*rootGap + time.Duration(2*float64(bytes)/max(x.dev.Info().MemoryGBps, 1))
		}
	}
	return e
}

// times returns the time of all iterations if n iterations take d.
func (e *estimate) times(n int, d time.Duration) time.Duration {
	return time.Duration((e.total+n-1)/n) * d
}

// launches returns the overhead of launching n iterations at a time.
func (e *estimate) launches(n int, d time.Duration) time.Duration {
	return e.times(n, max(d-time.Duration(n)*e.body, rootGap))
}

// looks returns the overhead of a check after every n iterations.
func (e *estimate) looks(n int, over bool) time.Duration {
	n = min(n, maxTimes)
	if !over {
		return e.times(n, e.look)
	}
	hidden := max(2*e.submit-time.Duration(n)*e.body, rootGap) // submitting the copy and returning from the wait, without a round trip
	return e.times(n, hidden+e.save) + time.Duration(n+n/2)*e.body
}

// batches returns the numbers of iterations that a graph of the loop may hold.
func (l *Loop) batches(ops int) (sizes []int) {
	if l.Batch > 0 {
		return []int{l.Batch}
	}
	most := max(1, maxNodes/ops)
	for n := 1; n <= min(l.CheckEvery, most); n++ {
		if l.CheckEvery%n == 0 {
			sizes = append(sizes, n)
		}
	}
	if l.Overrun == Forbidden {
		return sizes
	}
	for n := 2; n <= min(most, l.MaxIterations)/l.CheckEvery; n++ {
		sizes = append(sizes, n*l.CheckEvery)
	}
	return sizes
}

// choose lowers the loop as Lowering requires. For Auto it takes the option with the least expected
// overhead among those that the device supports.
func (x *Exec) choose() error {
	l := &x.loop
	if l.Lowering == HostChecked || l.Lowering != Auto && l.Batch > 0 {
		return x.become(option{lowering: l.Lowering, batch: max(l.Batch, 1), overrun: true})
	}
	c, err := x.measure()
	if err != nil {
		return err
	}
	options := slices.DeleteFunc(x.options(c), func(o option) bool {
		return o.batch == 0 || l.Lowering != Auto && l.Lowering != o.lowering
	})
	why := explain(x.estimate(c).total, c, options)
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
func explain(iterations int, c costs, options []option) string {
	var expected []string
	for _, o := range options {
		expected = append(expected, fmt.Sprintf("%v %v (batch %d)", o.lowering, o.cost.Round(time.Microsecond), o.batch))
	}
	return fmt.Sprintf("expected overhead of %d iterations: %s; launching a graph takes %v, a check %v, and instantiating a node %v",
		iterations, strings.Join(expected, ", "), c.launch.Round(100), c.look.Round(100), c.node.Round(100))
}
