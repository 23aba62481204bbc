package capture

import (
	"slices"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/graph"
)

// Mode says which threads may make potentially unsafe calls during a capture, such as
// allocating memory, with the driver's numbers.
type Mode uint8

// The modes, from the strictest.
const (
	Global      Mode = iota // none
	ThreadLocal             // all but the one that captures
	Relaxed                 // all
)

// Status is what a stream answers about its capture, with the driver's numbers.
type Status uint8

// The states of a stream.
const (
	None Status = iota
	Active
	Invalidated
)

// Session is all captures of a process.
type Session struct {
	captures []*Capture // that have begun and not ended
	last     uint64
}

// Capture is a graph in the making.
type Capture struct {
	ID    uint64 // never used again
	Graph *graph.Graph

	mode    Mode
	thread  *Thread
	origin  *Stream
	streams []*Stream // origin first
	invalid bool
	ended   bool
}

// Thread is a host thread. The zero Thread is one that has not exchanged its mode.
type Thread struct{ Mode Mode }

// Stream is a stream's part in a capture.
type Stream struct {
	// Owner is the context: the legacy stream is that of the blocking streams which
	// have the same owner.
	Owner            any
	Legacy, Blocking bool

	capture *Capture
	set     []*graph.Node // what its next node comes after
}

// Event is the mark of its last record, if that was captured.
type Event struct {
	capture *Capture // may have ended
	set     []*graph.Node
}

// Begin has a stream captured into a graph, where its first node comes after set.
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

// End takes all streams of the capture that began in the stream out of it, and
// returns the graph, which is nil with an error.
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

// joined reports whether all that the other streams were left with comes before the
// origin's next node.
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

// Forget ends the captures that began in a stream of the owner, which is going away.
func (s *Session) Forget(owner any) {
	for _, c := range slices.Clone(s.captures) {
		if c.origin.Owner == owner {
			s.drop(c)
		}
	}
}

// Destroyed tells that a stream is gone. Its work has to be joined all the same; a
// capture that began in it can never end.
func (s *Session) Destroyed(st *Stream) {
	if c := st.capture; c != nil && c.origin == st {
		s.drop(c)
	}
}
