package transport

import (
	"context"
	"time"
)

// Transport connects one rank with the others. Its methods can be called from several goroutines, but collective calls
// only one after the other.
type Transport interface {
	// Rank returns the number of this rank, from 0 to Size-1.
	Rank() int
	// Size returns the number of ranks.
	Size() int
	// Gather returns the bytes of all ranks, by rank, on every rank. It is collective. Lengths may differ.
	Gather(ctx context.Context, mine []byte) ([][]byte, error)
	// Freeze prepares messages that are exchanged many times. It is collective: a rank without messages passes none. The
	// ith send of one rank to another with some tag belongs to the ith receive of the other with this tag, and their sizes
	// must be equal. Otherwise all ranks return the same *MismatchError. A rank may send to itself. The bytes stay in
	// place until the exchange is closed: package mpi pins those that Go manages.
	Freeze(messages []Message) (Exchange, error)
	// Close ends the use of the transport. It fails calls of other ranks that cannot complete without this rank. A second
	// call does nothing. A program that reports an error does so before: of processes of mpirun, the first two that exit
	// with an error end all others.
	// Close ends the use of the transport. It fails calls of other ranks that cannot complete without this rank. A second
	// call does nothing.
	Close() error
	// Abort ends the transport on all ranks. Calls of the others return a *LostError that names this rank and err. After
	// the first failure, it does nothing.
	Abort(err error)
}

// Message is one message of an exchange.
type Message struct {
	Peer  int    // the other rank
	Tag   int32  // distinguishes messages between two ranks
	Send  bool   // to Peer; otherwise it is received from Peer
	Bytes []byte // sent from here, or received into here; may be empty
}

// Exchange is a list of frozen messages. At most one run is in progress. Its methods are called by one goroutine at a
// time; different exchanges of one rank can be in progress together.
type Exchange interface {
	// Run is Start and Wait.
	Run(ctx context.Context) error
	// Start starts all messages. From here to the end of Wait, bytes to send must not change, and received bytes are
	// undefined. Start does not wait for other ranks.
	Start() error
	// Wait returns when all received bytes are in place and all bytes to send can be changed.
	Wait(ctx context.Context) error
	// Close frees the exchange. Closing it between Start and the end of Wait ends the transport on all ranks.
	Close() error
}

// Options are the limits of a transport. Zero values have defaults.
type Options struct {
	// Watch is how long one call may wait for other ranks, including their computations: 5 minutes by default. It then
	// ends with a *WaitError that names what is missing.
	Watch time.Duration
	// Lease is how long a rank may give no sign of life until it is lost: 10 s by default. It is checked between
	// processes, where each sends such signs in the background, also while it computes.
	Lease time.Duration
}

// WithDefaults returns the options with defaults for zero values.
func (o Options) WithDefaults() Options {
	if o.Watch <= 0 {
		o.Watch = 5 * time.Minute
	}
	if o.Lease <= 0 {
		o.Lease = 10 * time.Second
	}
	return o
}
