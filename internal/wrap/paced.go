package wrap

import (
	"sync"
	"time"

	"github.com/reprise-gpu/reprise/device"
)

// Paced wraps a device and lets work take real time, of the length that took returns: Synchronize returns when the
// work on the stream, and the work that its events waited for, would have ended. A graph takes the time of its nodes
// one after another. Command lists take none. Paced returns d if took is nil, and nil if d is nil.
func Paced(d device.Device, took func(device.Work) time.Duration) device.Device {
	if took == nil {
		return d
	}
	p := &pace{took: took, streams: map[device.Stream]time.Time{}, events: map[device.Event]time.Time{},
		graphs: map[device.Graph]time.Duration{}, execs: map[device.GraphExec]time.Duration{}}
	return Intercept(d, p.call)
}

// pace holds when the work of each stream ends, and what each event waits for.
type pace struct {
	took func(device.Work) time.Duration

	mu      sync.Mutex
	streams map[device.Stream]time.Time
	events  map[device.Event]time.Time
	graphs  map[device.Graph]time.Duration
	execs   map[device.GraphExec]time.Duration
}

func (p *pace) call(c *Call, next func() error) error {
	if err := next(); err != nil {
		return err
	}
	time.Sleep(time.Until(p.end(c)))
	return nil
}

// end notes what a call does, and returns the time for which it waits.
func (p *pace) end(c *Call) (wait time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch c.Method {
	case "Submit":
		p.run(c.Args[0].(device.Stream), p.took(c.Args[1].(device.Work)))
	case "AddNode":
		p.graphs[c.Args[0].(device.Graph)] += p.took(c.Args[2].(device.Work))
	case "Instantiate":
		p.execs[c.Results[0].(device.GraphExec)] = p.graphs[c.Args[0].(device.Graph)]
	case "LaunchGraph":
		p.run(c.Args[1].(device.Stream), p.execs[c.Args[0].(device.GraphExec)])
	case "Record":
		p.events[c.Args[0].(device.Event)] = p.streams[c.Args[1].(device.Stream)]
	case "Wait":
		s := c.Args[0].(device.Stream)
		p.streams[s] = later(p.streams[s], p.events[c.Args[1].(device.Event)])
	case "Synchronize":
		return p.streams[c.Args[0].(device.Stream)]
	case "SynchronizeAll":
		for _, at := range p.streams {
			wait = later(wait, at)
		}
	}
	return wait
}

// run adds work to a stream.
func (p *pace) run(s device.Stream, d time.Duration) {
	p.streams[s] = later(p.streams[s], time.Now()).Add(d)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
