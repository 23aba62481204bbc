// Package shares measures policies that share one device among programs of unequal priority (package internal/sharing).
//
// A pair is an important program (high) and one that always has work (low). Each policy runs the pair on the same device:
//
//	Trace, workload ─► Program ─► Instance: stages of operations ─► Form of the policy ─► local.Host ─► Record
//
// A trace is a list of kernels that others have published. A spin kernel with the same grid, block, occupancy and length
// replays each of them. Times are virtual on a simulated device.
package shares
