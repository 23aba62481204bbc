// Package solver solves systems of linear equations on a device. Each method is a short program of
// one iteration: it is traced once, and the trace is replayed until the residual is
// small. All scalars stay on the device, so an iteration needs nothing of the host, which looks at
// the residual every few iterations.
//
//	x, result, err := solver.Solve(ctx, dev, a, b, solver.Options{Method: solver.CG})
//
// The mode says how iterations reach the device: as a graph, over streams, or launch by
// launch as without a trace. It changes the time and nothing else: sums are added up
// in an order that depends on the system alone, and once the device has found that
// the residual is small, the iterations that are still enqueued change nothing. So every mode
// stops at the same iteration with the same bits, however often the host looks.
//
// A method of one's own is a Method, too, and this holds for it as well: see examples/mysolver.
package solver
