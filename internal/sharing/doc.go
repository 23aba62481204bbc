// Package sharing decides which of several programs uses a device next, where some programs matter more than others.
//
// A program submits requests. A request is a list of units, which run in order and are not interrupted: kernels, parts of
// kernels, or pieces of a graph. A Core holds the requests of all programs, and a Policy grants units:
//
//	Arrive ──► Core ──► Policy.Next ──► Grant ──► an executor submits the units
//	             ▲                                   │
//	             └────────── Completed ◄─────────────┘
//
// The core has no device and no clock: times are arguments. Executors are package local (a device of this process) and
// package wire (programs of other processes).
//
// Policies that others have published, or that devices have, are here for comparison: Exclusive, Streams, Slices, Fikit,
// Orion, Tally. Fill is ours. Its idea is that of FIKIT (W. Wu, "FIKIT: Priority-Based Real-time GPU Multi-tasking
// Scheduling with Kernel Identification", 2023): the important program leaves gaps, and others run in the gaps that
// they fit into. Here the units are pieces with a bound on their time, a gap is predicted by a quantile, and
// the result is a bound on the delay of the important program.
//
// A Core is used by one goroutine at a time. Steady state allocates nothing.
package sharing
