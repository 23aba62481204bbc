package loopcost

import (
	"time"

	"github.com/reprise-gpu/reprise/device"
)

// Costs are the times of calls into a device, on the host's clock.
type Costs struct {
	Launch time.Duration // of a graph
	Submit time.Duration // of one piece of work
	Look   time.Duration // to submit a copy of the scalar and to wait for it
	Node   time.Duration // to add a node to a graph and to instantiate it
}

// Measure makes the calls on a chain of nodes that do nothing, and the given copy to the host. The first launch of a graph
// takes longer than the others on most drivers, so it does not count.
func Measure(dev device.Device, stream device.Stream, look *device.Copy) (c Costs, err error) {
	const nodes = 16
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
	c.Node = (dev.Now() - start) / nodes
	for range 2 {
		start = dev.Now()
		if err := dev.LaunchGraph(exec, stream); err != nil {
			return c, err
		}
		c.Launch = dev.Now() - start
		if err := dev.Synchronize(stream); err != nil {
			return c, err
		}
		start = dev.Now()
		if err := dev.Submit(stream, look); err != nil {
			return c, err
		}
		c.Submit = dev.Now() - start
		if err := dev.Synchronize(stream); err != nil {
			return c, err
		}
		c.Look = dev.Now() - start
	}
	return c, nil
}
