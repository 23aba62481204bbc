package tenants

import (
	"slices"

	"github.com/reprise-gpu/reprise/device"
)

// branches is one graph with a branch per tenant. A round enables the branches of its members and disables the others.
type branches struct {
	dev   device.Device
	exec  device.GraphExec
	nodes [][]device.Node // by tenant and operation
	works []*work
	on    []bool // by tenant: its branch is enabled
}

// newBranches returns a service that runs rounds as one graph.
func newBranches(h *host, works []*work) (_ service, err error) {
	b := &branches{dev: h.dev, works: works, on: slices.Repeat([]bool{true}, len(works))}
	s := &rounds{host: h, base: h.stack.Base[Branches], limit: len(works), apart: true}
	defer func() {
		if err != nil {
			err = device.Join(err, s.close())
		}
	}()
	s.free = func() error { return device.Join(b.close(), destroyStream(h.dev, s.stream)) }
	if s.stream, err = h.dev.CreateStream(0); err != nil {
		return nil, err
	}
	if s.mark, err = h.newMark(); err != nil {
		return nil, err
	}
	if err = b.build(); err != nil {
		return nil, err
	}
	s.run = func(members []*request) error {
		if err := b.enable(members); err != nil {
			return err
		}
		return h.dev.LaunchGraph(b.exec, s.stream)
	}
	return s, nil
}

func destroyStream(dev device.Device, s device.Stream) error {
	if s == 0 {
		return nil
	}
	return dev.DestroyStream(s)
}

// build makes the graph.
func (b *branches) build() (err error) {
	g, err := b.dev.CreateGraph()
	if err != nil {
		return err
	}
	defer func() { err = device.Join(err, b.dev.DestroyGraph(g)) }()
	for _, w := range b.works {
		nodes := make([]device.Node, len(w.ops))
		for i, op := range w.ops {
			var deps []device.Node
			for _, d := range w.deps[i] {
				deps = append(deps, nodes[d])
			}
			if nodes[i], err = b.dev.AddNode(g, deps, op); err != nil {
				return err
			}
		}
		b.nodes = append(b.nodes, nodes)
	}
	b.exec, err = b.dev.Instantiate(g)
	return err
}

// enable enables exactly the branches of the members.
func (b *branches) enable(members []*request) error {
	var changes []device.NodeWork
	for t, w := range b.works {
		on := slices.ContainsFunc(members, func(r *request) bool { return r.tenant == t })
		if on == b.on[t] {
			continue
		}
		b.on[t] = on
		for i, op := range w.ops {
			if !on {
				op = disabled(op)
			}
			if _, nothing := op.(device.Nothing); !nothing {
				changes = append(changes, device.NodeWork{Node: b.nodes[t][i], Work: op})
			}
		}
	}
	if len(changes) == 0 {
		return nil
	}
	return b.dev.UpdateNodes(b.exec, changes)
}

func (b *branches) close() error {
	if b.exec == 0 {
		return nil
	}
	return b.dev.DestroyGraphExec(b.exec)
}
