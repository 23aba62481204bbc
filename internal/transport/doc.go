// Package transport exchanges bytes between the ranks of a program: messages that are frozen once and sent many times,
// and a gather. Local connects ranks inside one process. Package mpi connects processes.
//
// # Rules
//
// Gather and Freeze are collective: all ranks call them, in the same order. A rank that calls another one than the
// others ends the call with an *OrderError on all ranks.
//
// The first failure ends the transport on all ranks. Failures are: a lost rank, Abort, Close while another rank waits
// for a message, a context that is done, and a wait that exceeds the limit of the watchdog. Every call in progress and
// every later call then returns an error. On the rank that gave up, it is the reason; on all others, it is a *LostError
// that names this rank. An *OrderError or a *MismatchError is returned on all ranks alike, and does not end the transport.
//
// When a call has returned an error, Local accesses the buffers of this rank no more. MPI may still write into buffers of
// messages in progress: they must stay allocated until the process ends.
package transport
