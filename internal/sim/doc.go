// Package sim implements a simulated GPU. It runs the real PTX and predicts, on a virtual clock, when a real device
// would finish. The same program gives the same bytes and the same times on every machine and in every run.
//
// There are two clocks. The host's clock advances by the cost of each driver call. Work reaches the device shortly
// after the call that enqueued it. The device's clock is a discrete-event simulation (internal/des) of kernels that
// share multiprocessors and memory bandwidth, of copy engines, and of the thread for host callbacks. It runs lazily,
// only as far as a waiting call requires. The host's clock then advances to the end of the work.
//
//	host    ─Submit─Submit─LaunchGraph──Synchronize·················╷─►
//	              ╲       ╲            ╲                            ╎
//	device         ▐kernel▌ ▐kernel▌     ▐node▌▐node▌▐node▌─────────╯
//
// A kernel executes at once, in Go, when it starts on the device's clock. A copy moves its bytes, and a host call
// runs, when all its dependencies have ended, which may be before a busy copy engine or host thread serves it.
// Dependent work starts after its dependencies have ended, so an ordered program computes the same results as on a
// GPU. The results of unordered work are deterministic as well, but not meaningful.
package sim
