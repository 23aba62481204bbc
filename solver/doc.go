// Package solver solves systems of linear equations on a device. Each method is a short program for one iteration.
// The program is traced once, and the trace is replayed until the residual is small. All scalars stay on the device,
// so an iteration needs no data from the host. The host checks the residual every few iterations.
//
//	x, result, err := solver.Solve(ctx, dev, a, b, solver.Options{Method: solver.CG})
//
// The mode selects how iterations reach the device: as a graph, over streams, or as single launches without a trace.
// It affects the time only. The order of additions in sums depends only on the system. Iterations that are enqueued
// after the device has found a small residual change nothing. So every mode stops at the same iteration with the same
// bits, however often the host checks.
//
// This also holds for a Method of your own: see examples/mysolver.
//
// Options.Devices shares each iteration among the devices of a machine. The bits are those of one device as long as one
// device has a thread for each row.
package solver
