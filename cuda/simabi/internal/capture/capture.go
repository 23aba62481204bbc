package capture

import (
	"slices"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/graph"
)

// Mode determines which threads may make potentially unsafe calls during a capture,
// such as allocating memory. The values are the driver's.
type Mode uint8

// The modes, from the strictest.
const (
	Global      Mode = iota // none
	ThreadLocal             // all except the capturing thread
	Relaxed                 // all
)

// Status is the state of a stream's capture. The values are the driver's.
type Status uint8

// The states of a stream.
const (
	None Status = iota
	Active
	Invalidated
)

// Session contains all captures of a process.
type Session struct {
	captures []*Capture // captures that have begun and not ended
	last     uint64
}

// Capture is the construction of a graph from the work of streams.
type Capture struct {
	ID    uint64 // never reused
	Graph *graph.Graph

	mode    Mode
	thread  *Thread
	origin  *Stream
	streams []*Stream // origin first
	invalid bool
	ended   bool
}

// Thread is a host thread. The zero Thread has not exchanged its mode.
type Thread struct{ Mode Mode }

// Stream is the capture state of a stream.
type Stream struct {
	// Owner is the context. A legacy stream is ordered with the blocking streams that
	// have the same owner.
	Owner            any
	Legacy, Blocking bool

	capture *Capture
	set     []*graph.Node // the dependencies of its next node
}

// Event is an event's last record, if it was captured.
type Event struct {
	capture *Capture // may have ended
	set     []*graph.Node
}

// Begin starts the capture of a stream into a graph. The first node depends on set.
func (s *Session) Begin(t *Thread, st *Stream, m Mode, into *graph.Graph, set []*graph.Node) error {
	switch {
	case st.Legacy:
		return refuse(Unsupported, "the legacy default stream cannot be captured; create a stream")
	case st.capture != nil:
		return refuse(IllegalState, "the stream is in capture %d already", st.capture.ID)
	}
	s.last++
	c := &Capture{ID: s.last, Graph: into, mode: m, thread: t, origin: st}
	c.join(st, set)
	s.captures = append(s.captures, c)
	return nil
}

func (c *Capture) join(st *Stream, set []*graph.Node) {
	st.capture, st.set = c, slices.Clone(set)
	c.streams = append(c.streams, st)
}

// End ends the capture that began in the stream, for all of its streams, and
// returns the graph. The graph is nil if there is an error.
func (s *Session) End(t *Thread, st *Stream) (*graph.Graph, error) {
	c := st.capture
	switch {
	case c == nil:
		return nil, refuse(IllegalState, "the stream is not being captured")
	case c.origin != st:
		c.invalid = true
		return nil, refuse(Unmatched, "capture %d began in another stream; end it there", c.ID)
	case c.mode != Relaxed && c.thread != t:
		return nil, refuse(WrongThread, "capture %d began in another thread; end it there, or begin it in relaxed mode", c.ID)
	}
	err := c.check()
	s.drop(c)
	if err != nil {
		return nil, err
	}
	return c.Graph, nil
}

func (c *Capture) check() error {
	switch {
	case c.invalid:
		return c.invalidated()
	case !c.joined():
		return refuse(Unjoined, "capture %d forked into a stream whose work does not come before the end of the stream it began in; record an event and wait for it", c.ID)
	}
	return nil
}

// joined reports whether the last nodes of all other streams precede the origin's
// next node.
func (c *Capture) joined() bool {
	before := map[*graph.Node]bool{}
	var visit func(nodes []*graph.Node)
	visit = func(nodes []*graph.Node) {
		for _, n := range nodes {
			if !before[n] {
				before[n] = true
				visit(n.Deps())
			}
		}
	}
	visit(c.origin.set)
	for _, st := range c.streams {
		for _, n := range st.set {
			if !before[n] {
				return false
			}
		}
	}
	return true
}

func (s *Session) drop(c *Capture) {
	c.ended = true
	for _, st := range c.streams {
		st.capture, st.set = nil, nil
	}
	s.captures = slices.DeleteFunc(s.captures, func(o *Capture) bool { return o == c })
}

// Forget ends the captures that began in a stream of the owner, which is being
// destroyed.
func (s *Session) Forget(owner any) {
	for _, c := range slices.Clone(s.captures) {
		if c.origin.Owner == owner {
			s.drop(c)
		}
	}
}

// Destroyed records that a stream was destroyed. Its work must be joined
// nevertheless. A capture that began in it can no longer be ended.
func (s *Session) Destroyed(st *Stream) {
	if c := st.capture; c != nil && c.origin == st {
		s.drop(c)
	}
}
