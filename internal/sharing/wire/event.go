package wire

import (
	"github.com/reprise-gpu/reprise/internal/sentinel"
)

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
var ErrClosed = sentinel.New(sentinel.ErrClosed, "sharing: the connection is closed")
