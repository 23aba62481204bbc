package capture

import "slices"

// Record records the current position of a stream. For a stream that is not
// captured, the caller keeps the record.
func (e *Event) Record(st *Stream) error {
	if st.capture == nil {
		*e = Event{}
		return nil
	}
	if err := st.valid(); err != nil {
		return err
	}
	*e = Event{st.capture, slices.Clone(st.set)}
	return nil
}

// Refuse returns the error of a host wait for, or a query of, a captured event, and
// invalidates its capture.
func (e *Event) Refuse() error {
	c := e.capture
	if c == nil {
		return nil
	}
	c.invalid = true
	return refuse(Captured, "the event was last recorded in capture %d, where nothing runs; record it in a stream that is not being captured", c.ID)
}

// Wait orders a stream after an event's record, if the stream or the record is
// captured. recorded reports whether the event has a record outside of captures.
func (e *Event) Wait(st *Stream, recorded bool) error {
	from, to := e.capture, st.capture
	switch {
	case to != nil && to.invalid:
		return to.invalidated()
	case from == nil && (to == nil || !recorded):
		return nil
	case from == nil || from.ended && to != nil:
		to.invalid = true
		return refuse(Isolation, "the event was recorded outside capture %d, whose graph cannot wait for that; wait before it begins", to.ID)
	case from.ended:
		return e.Refuse()
	case from.invalid:
		return from.invalidated()
	case to == nil && st.Legacy:
		from.invalid = true
		return refuse(Implicit, "the legacy default stream cannot become part of capture %d", from.ID)
	case to == nil:
		from.join(st, e.set)
		return nil
	case from != to:
		from.invalid, to.invalid = true, true
		return refuse(Merge, "the wait would merge captures %d and %d", from.ID, to.ID)
	}
	st.add(e.set)
	return nil
}
