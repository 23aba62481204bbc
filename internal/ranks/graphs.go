package ranks

import (
	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/distribute"
	"github.com/reprise-gpu/reprise/internal/ranks/launches"
)

// graphs instantiates the graphs of a rank. They belong to its first device.
type graphs struct {
	p  *Plan
	st *staging
}

// part is a graph and the stream on which it is launched.
type part struct {
	exec  device.GraphExec
	waits [streams]bool // it depends on earlier graphs of these streams
}

// The streams of a rank.
const (
	urgentStream = launches.Urgent
	restStream   = launches.Rest
	asideStream  = launches.Aside
	streams      = launches.Streams
)

// round instantiates the graphs of a round.
func (g *graphs) round(r int, segments []launches.Segment, exchanges []*exchange) (one round, err error) {
	for i := range g.p.plan.Rounds[r].Ops {
		op := &g.p.plan.Rounds[r].Ops[i]
		if d, is := g.p.mine(op); is && op.Kind == distribute.Load {
			one.loads = append(one.loads, load{d, op.Bytes})
		}
	}
	for i := range segments {
		seg, err := g.segment(&segments[i], exchanges)
		if err != nil {
			return one, err
		}
		one.segments = append(one.segments, seg)
	}
	return one, nil
}

// segment instantiates the graphs of a segment. exchanges are those of the round in which it ends.
func (g *graphs) segment(src *launches.Segment, exchanges []*exchange) (one segment, err error) {
	one.restLater = src.RestLater
	for s := range streams {
		if one.parts[s], err = g.graph(&src.Graphs[s]); err != nil {
			return one, err
		}
	}
	if x := src.Exchange; x >= 0 {
		one.exchange = exchanges[x]
	}
	return one, nil
}

// graph instantiates a graph.
func (g *graphs) graph(src *launches.Graph) (one part, err error) {
	one.waits = src.Waits
	if len(src.Nodes) == 0 {
		return one, nil
	}
	dev := g.p.rank.devices[0]
	h, err := dev.CreateGraph()
	if err != nil {
		return one, g.p.at(0, err)
	}
	nodes := make([]device.Node, len(src.Nodes))
	for i, n := range src.Nodes {
		var deps []device.Node
		for _, d := range n.Deps {
			deps = append(deps, nodes[d])
		}
		if nodes[i], err = g.node(h, deps, n.At); err != nil {
			return one, err
		}
	}
	if one.exec, err = dev.Instantiate(h); err != nil {
		return one, g.p.at(0, err)
	}
	g.p.execs = append(g.p.execs, one.exec)
	return one, g.p.at(0, dev.DestroyGraph(h))
}

// node adds the nodes of an operation, a chain, and returns the last.
func (g *graphs) node(h device.Graph, deps []device.Node, at distribute.Wait) (n device.Node, err error) {
	op := &g.p.plan.Rounds[at.Round].Ops[at.Op]
	d, _ := g.p.mine(op)
	list, err := g.p.work(int(at.Round), int(at.Op), d, op, g.st)
	if err != nil {
		return 0, g.p.at(d, err)
	}
	for _, w := range list {
		if l, is := w.(*device.Launch); is && g.p.plan.Lane(op) != distribute.Compute {
			l.Priority = g.p.rank.devices[d].Info().GreatestPriority
		}
		if n, err = g.add(h, deps, d, w); err != nil {
			return 0, g.p.at(d, err)
		}
		deps = []device.Node{n}
	}
	return n, nil
}

// add adds a node of a device of the rank.
func (g *graphs) add(h device.Graph, deps []device.Node, d int, w device.Work) (device.Node, error) {
	first := g.p.rank.devices[0]
	if d == 0 {
		return first.AddNode(h, deps, w)
	}
	return first.(device.Peer).AddPeerNode(h, deps, g.p.rank.devices[d], w)
}
