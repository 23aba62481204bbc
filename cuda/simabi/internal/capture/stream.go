package capture

import (
	"slices"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/graph"
	"github.com/reprise-gpu/reprise/device"
)

// Capturing reports whether the stream's work becomes nodes, or is refused because
// the capture is invalid.
func (st *Stream) Capturing() bool { return st.capture != nil }

// Capture returns the capture of the stream, or nil.
func (st *Stream) Capture() *Capture { return st.capture }

// Set returns the dependencies of the next node. The caller must not change it.
func (st *Stream) Set() []*graph.Node { return st.set }

// Status returns the state of the stream's capture.
func (st *Stream) Status() Status {
	switch {
	case st.capture == nil:
		return None
	case st.capture.invalid:
		return Invalidated
	}
	return Active
}

// valid returns an error if the stream's capture cannot continue.
func (st *Stream) valid() error {
	switch {
	case st.capture == nil:
		return refuse(IllegalState, "the stream is not being captured")
	case st.capture.invalid:
		return st.capture.invalidated()
	}
	return nil
}

// Add adds work of a captured stream as a node.
func (st *Stream) Add(p graph.Params) (*graph.Node, error) {
	if err := st.valid(); err != nil {
		return nil, err
	}
	n, err := st.capture.Graph.Add(p, st.set...)
	if err != nil {
		return nil, err
	}
	st.set = []*graph.Node{n}
	return n, nil
}

// Extend adds nodes to the set of a captured stream.
func (st *Stream) Extend(nodes []*graph.Node) error {
	err := st.valid()
	if err == nil {
		err = st.own(nodes)
	}
	if err == nil {
		st.add(nodes)
	}
	return err
}

// Replace sets the set of a captured stream. The nodes in the old set need not be
// joined.
func (st *Stream) Replace(nodes []*graph.Node) error {
	err := st.valid()
	if err == nil {
		err = st.own(nodes)
	}
	if err == nil {
		st.set = nil
		st.add(nodes)
	}
	return err
}

func (st *Stream) own(nodes []*graph.Node) error {
	for _, n := range nodes {
		if n.Graph() != st.capture.Graph {
			return refuse(device.InvalidValue, "a node is not of the graph that capture %d makes", st.capture.ID)
		}
	}
	return nil
}

func (st *Stream) add(nodes []*graph.Node) {
	for _, n := range nodes {
		if !slices.Contains(st.set, n) {
			st.set = append(st.set, n)
		}
	}
}

// Refuse returns the error of a call that is not permitted on a captured stream,
// such as a wait for it, and invalidates the capture.
func (st *Stream) Refuse() error {
	c := st.capture
	switch {
	case c == nil:
		return nil
	case c.invalid:
		return c.invalidated()
	}
	c.invalid = true
	return refuse(Unsupported, "the stream is in capture %d, so that nothing runs in it and nothing can be waited for", c.ID)
}
