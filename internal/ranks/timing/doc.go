// Package timing computes the time that a plan takes on a machine that is too large to execute its kernels. It makes the
// calls that internal/ranks makes, in their order, on a clock without memory:
//
//	distribute.Plan ─► graphs of each rank ─► tasks of internal/des, one engine for each device
//	(internal/ranks/launches)  │                   │
//	                   host calls at the costs   kernels: demands that the caller has counted
//	                   of the device profile     copies: bytes, over the links of the machine
//	                           │
//	                   exchanges: messages of the machine's network
//
// The ranks have clocks of their own, which only messages connect. A segment is run for one rank after the other, then the
// exchange behind it for all of them. The time is therefore linear in the operations of the plan and the messages.
package timing
