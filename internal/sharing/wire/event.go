package wire

import "errors"

// EventKind is what an event reports.
type EventKind uint8

const (
	Granted  EventKind = iota // units may run
	Ended                     // a stage has ended
	Canceled                  // the answer to Cancel
)

// Event is a message of the server.
type Event struct {
	Kind  EventKind
	Stage int
	First int // of the granted units
	Units int
}

// ErrClosed is the error of a client that was closed.
var ErrClosed = errors.New("sharing: the connection is closed")
