package graphexec

import (
	"slices"

	"github.com/reprise-gpu/reprise/device"
)

// unrolled is a loop of graphs with several iterations in each.
type unrolled struct {
	batches
	graph device.Graph
	exec  device.GraphExec
	runs  commands   // one of the graph
	ring  device.Ptr // the scalar of each check, when a graph has several
}

// newUnrolled lowers a loop to launches of graphs with so many iterations.
func newUnrolled(x *LoopExec, size int) *unrolled {
	u := &unrolled{batches: batches{x: x, size: size, period: max(size, x.loop.CheckEvery)}}
	u.launch = func(n int) error { return u.runs.submit(x.dev, n) }
	return u
}

func (u *unrolled) build(over Overrun) (err error) {
	if slices.ContainsFunc(u.x.body.prog.work, moves) {
		return unfit("the body has a prefetch, which a graph cannot hold")
	}
	if u.graph, err = u.x.dev.CreateGraph(); err != nil {
		return err
	}
	values := u.x.until.at
	if u.checks() > 1 {
		if u.ring, err = u.x.dev.Alloc(int64(u.checks()) * u.x.until.bytes); err != nil {
			return err
		}
		values = u.ring
	}
	if err := u.fill(); err != nil {
		return err
	}
	if u.exec, err = u.x.dev.Instantiate(u.graph); err != nil {
		return err
	}
	if u.runs, err = compile(u.x.dev, []device.Command{{Kind: device.RunGraph, Stream: u.x.stream, Exec: u.exec}}); err != nil {
		return err
	}
	return u.batches.build(values, over)
}

// fill adds the iterations to the graph. A check is a branch of its own: only what writes the
// scalar next waits for it.
func (u *unrolled) fill() error {
	x := u.x
	q := x.sequence(u.graph)
	for i := 1; i <= u.size; i++ {
		nodes, err := q.add()
		if err != nil {
			return err
		}
		if u.ring == 0 || i%x.loop.CheckEvery != 0 {
			continue
		}
		slot := int64(i/x.loop.CheckEvery-1) * x.until.bytes
		check := &device.Copy{Dst: u.ring + device.Ptr(slot), Src: x.until.at, Bytes: x.until.bytes, Label: "check " + x.until.name}
		n, err := x.dev.AddNode(u.graph, x.behind(nodes), check)
		if err != nil {
			return err
		}
		q.readers = []device.Node{n}
	}
	return nil
}

// sequence adds iterations to a graph. Who reads the scalar in between says so in readers.
func (x *LoopExec) sequence(g device.Graph) *sequence {
	p := x.body.prog
	return &sequence{dev: x.dev, graph: g, prog: p, when: make([]surrounding, len(p.work)), opening: x.opening}
}

// behind are the nodes of an iteration after which the scalar has its value.
func (x *LoopExec) behind(nodes []device.Node) (behind []device.Node) {
	for _, op := range x.closing {
		behind = append(behind, nodes[op])
	}
	return behind
}

func (u *unrolled) close() error {
	dev := u.x.dev
	errs := []error{u.batches.close(), u.runs.close(dev), destroyGraph(dev, u.exec, u.graph)}
	if u.ring != 0 {
		errs = append(errs, dev.Free(u.ring))
	}
	return device.Join(errs...)
}
