package calibrate

import "github.com/reprise-gpu/reprise/device"

// graph instantiates a graph of parallel chains of launches. It returns the host time of the instantiation.
func (s *session) graph(work device.Work, chains, length int) (x device.GraphExec, nodes []device.Node, took float64, err error) {
	g, err := s.dev.CreateGraph()
	if err != nil {
		return 0, nil, 0, err
	}
	defer func() {
		if failed := s.dev.DestroyGraph(g); err == nil {
			err = failed
		}
	}()
	for range chains {
		var after []device.Node
		for range length {
			n, err := s.dev.AddNode(g, after, work)
			if err != nil {
				return 0, nil, 0, err
			}
			after = []device.Node{n}
			nodes = append(nodes, n)
		}
	}
	start := s.now()
	x, err = s.dev.Instantiate(g)
	return x, nodes, s.now() - start, err
}

// withGraph calls f with an instance of such a graph.
func (s *session) withGraph(work device.Work, chains, length int, f func(x device.GraphExec, nodes []device.Node) (float64, error)) (float64, error) {
	x, nodes, _, err := s.graph(work, chains, length)
	if err != nil {
		return 0, err
	}
	v, err := f(x, nodes)
	if failed := s.dev.DestroyGraphExec(x); err == nil {
		err = failed
	}
	return v, err
}

// Numbers of nodes for slopes, and the maximum of a graph.
const (
	fewNodes  = 16
	manyNodes = 272
	mostNodes = 5000
)

// graphCalls measures the host time of graph calls.
func (s *session) graphCalls() error {
	empty, err := s.launch("empty", 1, 32)
	if err != nil {
		return err
	}
	instantiate := func(n int) (float64, error) {
		x, _, took, err := s.graph(empty, 1, n)
		if err != nil {
			return 0, err
		}
		return took, s.dev.DestroyGraphExec(x)
	}
	one, err := s.slope(fewNodes, manyNodes, mostNodes, instantiate)
	if err != nil {
		return err
	}
	few, err := s.repeat(func() (float64, error) { return instantiate(fewNodes) })
	if err != nil {
		return err
	}
	s.measure("call_instantiate_node_ns", one)
	s.measure("call_instantiate_ns", few.minus(one.times(fewNodes)))
	return first(func() error { return s.graphLaunches(empty) }, func() error { return s.nodeUpdates(empty) })
}

// launchCost returns the host time of launching a graph.
func (s *session) launchCost(work device.Work, chains, length int) (float64, error) {
	return s.withGraph(work, chains, length, func(x device.GraphExec, _ []device.Node) (float64, error) {
		const launches = 4
		if err := first(func() error { return s.dev.LaunchGraph(x, s.a) }, s.dev.SynchronizeAll); err != nil {
			return 0, err // the first launch uploads the graph
		}
		start := s.now()
		for range launches {
			if err := s.dev.LaunchGraph(x, s.a); err != nil {
				return 0, err
			}
		}
		took := s.now() - start
		return took / launches, s.dev.SynchronizeAll()
	})
}

func (s *session) graphLaunches(empty device.Work) error {
	node, err := s.slope(fewNodes, manyNodes, mostNodes, func(n int) (float64, error) { return s.launchCost(empty, 1, n) })
	if err != nil {
		return err
	}
	few, err := s.repeat(func() (float64, error) { return s.launchCost(empty, 1, fewNodes) })
	if err != nil {
		return err
	}
	wide, err := s.slope(fewNodes, manyNodes, mostNodes, func(n int) (float64, error) { return s.launchCost(empty, n, 1) })
	s.measure("call_graph_node_ns", node)
	s.measure("call_graph_launch_ns", few.minus(node.times(fewNodes)))
	s.measure("call_graph_branch_ns", wide.minus(node))
	return err
}

func (s *session) nodeUpdates(empty device.Work) error {
	e, err := s.repeat(func() (float64, error) {
		return s.withGraph(empty, 1, batch, func(x device.GraphExec, nodes []device.Node) (float64, error) {
			start := s.now()
			for _, n := range nodes {
				if err := s.dev.UpdateNode(x, n, empty); err != nil {
					return 0, err
				}
			}
			return (s.now() - start) / batch, nil
		})
	})
	s.measure("call_update_node_ns", e)
	return err
}
