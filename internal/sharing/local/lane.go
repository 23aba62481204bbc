package local

import (
	"slices"

	"github.com/reprise-gpu/reprise/device"
	"github.com/reprise-gpu/reprise/internal/sharing"
)

// Lane is the stream of a program, and an event behind each grant in flight.
type Lane struct {
	dev     device.Device
	virtual virtualTime // nil on a device in real time
	stream  device.Stream
	marks   []device.Event // a ring
	first   int            // the mark of the oldest grant in flight
	flying  int
}

// NewLane creates the stream of a program.
func NewLane(dev device.Device, form sharing.Form, class int) (*Lane, error) {
	s, err := dev.CreateStream(priority(dev, form, class))
	if err != nil {
		return nil, err
	}
	return &Lane{dev: dev, virtual: virtualOf(dev), stream: s}, nil
}

// priority returns the priority of the stream of a class.
func priority(dev device.Device, form sharing.Form, class int) int {
	if !form.Priorities {
		return 0
	}
	i := dev.Info()
	return i.GreatestPriority + (i.LeastPriority-i.GreatestPriority)*(sharing.Classes-1-class)/(sharing.Classes-1)
}

// Stream returns the stream.
func (l *Lane) Stream() device.Stream { return l.stream }

// Virtual reports whether time passes only while Ended waits.
func (l *Lane) Virtual() bool { return l.virtual != nil }

// Flying returns the number of grants in flight.
func (l *Lane) Flying() int { return l.flying }

// Mark records an event behind the work of a grant.
func (l *Lane) Mark() error {
	if l.flying == len(l.marks) {
		e, err := l.dev.CreateEvent()
		if err != nil {
			return err
		}
		l.marks = slices.Insert(l.marks, l.first, e)
		l.first = (l.first + 1) % len(l.marks)
	}
	err := l.dev.Record(l.marks[(l.first+l.flying)%len(l.marks)], l.stream)
	l.flying++
	return err
}

// oldest returns the event behind the oldest grant in flight.
func (l *Lane) oldest() device.Event { return l.marks[l.first] }

// drop removes the oldest grant in flight, which has ended.
func (l *Lane) drop() {
	l.first = (l.first + 1) % len(l.marks)
	l.flying--
}

// Ended reports whether the oldest grant in flight has ended, which is then no longer in flight. On a device in virtual time,
// it waits for that.
func (l *Lane) Ended() (bool, error) {
	e := l.oldest()
	if l.virtual != nil {
		if err := l.virtual.WaitFirst(sharing.Never, e); err != nil {
			return false, err
		}
	}
	if _, err := l.dev.Elapsed(e, e); err != nil {
		if device.CodeOf(err) == device.NotReady {
			return false, nil
		}
		return false, err
	}
	l.drop()
	return true, nil
}

// Close waits for the work on the stream and frees it.
func (l *Lane) Close() error {
	err := l.dev.Synchronize(l.stream)
	for _, e := range l.marks {
		err = device.Join(err, l.dev.DestroyEvent(e))
	}
	return device.Join(err, l.dev.DestroyStream(l.stream))
}
