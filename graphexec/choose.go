package graphexec

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-gpu/reprise/device"
)

// costs are what a device's calls were found to take, of the host's time.
type costs struct {
	launch time.Duration // of a graph
	submit time.Duration // of one piece of work
	look   time.Duration // to submit a copy of the scalar and to wait for it
	node   time.Duration // to add a node to a graph and to instantiate it
}

// measure makes the calls on a chain of nodes that do nothing. The first launch of a graph
// takes longer than the others on most drivers, so it does not count.
func (x *LoopExec) measure() (c costs, err error) {
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

// option is a way to lower a loop, and what it is expected to cost the host, over all
// iterations, beside the time of the bodies themselves.
type option struct {
	lowering Lowering
	batch    int // iterations of a graph
	cost     time.Duration
}

// moduleLoad is what a driver is taken to need to compile a kernel as small as until.
const moduleLoad = 2 * time.Millisecond

// mostNodes bounds the nodes of a graph that nobody asked for.
const mostNodes = 1 << 16

// options lists the best of each lowering that the loop allows. With K iterations, batches of n
// cost
//
//	n·c + K/n·l		c to instantiate an iteration, l to launch a graph
//
// which is least at n = sqrt(K·l/c) (J. Ekelund et al., "Boosting Performance of Iterative Applications
// on GPUs: Kernel Batching with CUDA Graphs", 2025), whatever the kernels do. Added to that is a look for
// each check, or for each batch when batches overrun; these waste up to a batch past the end, of which an
// iteration is taken to cost what its replay does. A round of the device's own loop is taken to cost
// what a launch does.
func (x *LoopExec) options(c costs) []option {
	l := &x.loop
	k, total := l.CheckEvery, l.MaxIterations
	if l.Expected > 0 {
		total = min(total, l.Expected)
	}
	ops := x.loop.Body.Graph.Len()
	times := func(n int, d time.Duration) time.Duration { return time.Duration(n) * d }
	upTo := func(n int) int { return (total + n - 1) / n }
	replay := c.launch
	if l.Backend == Streams {
		replay = times(ops, c.submit)
	}
	look := c.look
	if l.Overrun != Forbidden {
		look = 2 * c.submit // and the host's return from a wait, but for no round trip
	}
	var best [len(loweringNames)]option
	consider := func(lowering Lowering, n int, cost time.Duration) {
		if b := &best[lowering]; b.batch == 0 || cost < b.cost {
			*b = option{lowering, n, cost}
		}
	}
	consider(HostChecked, 1, times(total, replay)+times(upTo(k), look))
	for _, n := range l.batches(ops) {
		graphs := times(n*ops, c.node) + times(upTo(n), c.launch)
		if k%n == 0 {
			consider(WhileNode, n, moduleLoad+graphs+c.look)
		}
		if n > k {
			graphs += times(n, replay)
		}
		consider(Unrolled, n, graphs+times(upTo(max(n, k)), look))
	}
	return best[HostChecked:]
}

// batches are the sizes that a graph of the loop may have.
func (l *Loop) batches(ops int) (sizes []int) {
	if l.Batch > 0 {
		return []int{l.Batch}
	}
	for n := 1; n <= l.CheckEvery; n++ {
		if l.CheckEvery%n == 0 && (n == 1 || n*ops <= mostNodes) {
			sizes = append(sizes, n)
		}
	}
	if l.Overrun == Forbidden {
		return sizes
	}
	for n := 2 * l.CheckEvery; n*ops <= mostNodes && n <= l.MaxIterations; n += l.CheckEvery {
		sizes = append(sizes, n)
	}
	return sizes
}

// choose lowers the loop in the way that is asked for, or in the one that is expected to cost
// least among those that there are.
func (x *LoopExec) choose() error {
	l := &x.loop
	if l.Lowering == HostChecked || l.Lowering != Auto && l.Batch > 0 {
		return x.become(option{lowering: l.Lowering, batch: max(l.Batch, 1)})
	}
	c, err := x.measure()
	if err != nil {
		return err
	}
	options := slices.DeleteFunc(x.options(c), func(o option) bool {
		return o.batch == 0 || l.Lowering != Auto && l.Lowering != o.lowering
	})
	why := explain(c, options)
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
func (x *LoopExec) become(o option) error {
	x.chose, x.batch = o.lowering, o.batch
	switch o.lowering {
	case Unrolled:
		u := newUnrolled(x, o.batch)
		x.form = u
		return wrapped("unrolled", u.build())
	case WhileNode:
		w := &while{x: x, size: o.batch}
		x.form = w
		return wrapped("a while node", w.build())
	}
	h := newHostChecked(x)
	x.form = h
	return h.build(x.until.at, x.loop.Overrun)
}

// unfit is why a loop cannot be lowered in some way.
type unfit string

func (u unfit) Error() string { return string(u) }

func isUnfit(err error) bool {
	var u unfit
	return errors.As(err, &u) || device.CodeOf(err) == device.NotSupported
}

// explain says what was expected of each way.
func explain(c costs, options []option) string {
	var expected []string
	for _, o := range options {
		expected = append(expected, fmt.Sprintf("%v %v by batches of %d", o.lowering, o.cost.Round(time.Microsecond), o.batch))
	}
	return fmt.Sprintf("expected to cost the host %s, as launching a graph takes %v, a look %v, and a node %v to instantiate",
		strings.Join(expected, ", "), c.launch.Round(100), c.look.Round(100), c.node.Round(100))
}
