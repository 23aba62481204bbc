package wire

import "fmt"

// Code is why a connection ended.
type Code uint8

const (
	Lost      Code = iota + 1 // a grant was not completed in time
	Stopped                   // the server has stopped
	Malformed                 // a message broke the protocol
	Version                   // the versions of the protocol differ
	Silent                    // the client did not register in time
	Slow                      // the client does not read its messages
	Clients                   // a limit of the server: clients
	Stages                    // stages of a program
	Units                     // units of a program
	Times                     // predicted time of a stage, in ns
	Waiting                   // stages that wait
	Rate                      // messages per second
	codes
)

var codeTexts = [codes]string{
	Lost:      "the device was given to others, because a grant was not completed in time: connect and register again",
	Stopped:   "the server has stopped",
	Malformed: "a message broke the protocol",
	Version:   "the server has version %d of the protocol: use the same release on both sides",
	Silent:    "the client did not register in time",
	Slow:      "the client did not read its messages",
	Clients:   "the server has its limit of %d clients: try later, or raise the limit",
	Stages:    "a program may have %d stages: submit fewer",
	Units:     "a program may have %d units: cut it into fewer",
	Times:     "the units of a stage may take %d ns together: cut it into more stages",
	Waiting:   "%d stages of a program may wait: submit the next when one has ended",
	Rate:      "a client may send %d messages per second",
}

// Error implements error. errors.Is finds the code in the errors of clients.
func (c Code) Error() string { return fmt.Sprintf("sharing: connection ended with code %d", uint8(c)) }

// Error is the error of a connection that the server ended.
type Error struct {
	Code  Code
	Limit int64 // of the server, if the code is one of a limit
}

func (e *Error) Error() string {
	if e.Code == 0 || e.Code >= codes {
		return e.Code.Error()
	}
	format := codeTexts[e.Code]
	if e.Code == Version || e.Code >= Clients {
		format = fmt.Sprintf(format, e.Limit)
	}
	return "sharing: " + format
}

// Unwrap returns the code.
func (e *Error) Unwrap() error { return e.Code }
