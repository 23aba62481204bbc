package capture

import (
	"slices"

	"github.com/reprise-gpu/reprise/cuda/simabi/internal/graph"
	"github.com/reprise-gpu/reprise/device"
)

// Capturing reports whether the stream's work becomes nodes, or is refused because
// the capture is invalid.
func (st *Stream) Capturing() bool { return st.capture != nil }

// Capture is what the stream is in, or nil.
func (st *Stream) Capture() *Capture { return st.capture }

// Set is the nodes that the next one comes after. The caller must not change it.
func (st *Stream) Set() []*graph.Node { return st.set }

// Status is the state of the stream's capture.
func (st *Stream) Status() Status {
	switch {
	case st.capture == nil:
		return None
	case st.capture.invalid:
		return Invalidated
	}
	return Active
}

// valid says why the stream's capture cannot go on.
func (st *Stream) valid() error {
	switch {
	case st.capture == nil:
		return refuse(IllegalState, "the stream is not being captured")
	case st.capture.invalid:
		return st.capture.invalidated()
	}
	return nil
}

// Add makes work of a captured stream a node.
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

// Replace makes nodes the set of a captured stream. What was in it before need not be
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

// Refuse says why a call cannot be made that no captured stream allows, such as
// waiting for it, and invalidates the capture.
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
