// Package sim is a simulated GPU: it runs the real PTX and tells when a real
// device would have been done, on a virtual clock, so the same program gives
// the same bytes and the same times on every machine and in every run.
//
// Two clocks run. The host's clock advances by what each call costs a driver;
// work reaches the device a little after the call that enqueued it. The
// device's clock is a discrete-event simulation (internal/des) of kernels that
// share multiprocessors and memory bandwidth, copy engines, and the thread of
// host callbacks. It is run lazily, as far as a call that waits has to know;
// then the host's clock jumps to when the work was done.
//
//	host    ─Submit─Submit─LaunchGraph──Synchronize·················╷─►
//	              ╲       ╲            ╲                            ╎
//	device         ▐kernel▌ ▐kernel▌     ▐node▌▐node▌▐node▌─────────╯
//
// A kernel executes, functionally and at once, at the moment it starts on the
// device's clock; a copy moves its bytes, and a host call runs, when all it waits
// for has ended, which is before its turn at a busy copy engine or host thread.
// Work that depends on other work starts after that has ended, so every ordered
// program computes what it would on a GPU; what unordered work computes is
// deterministic, too, but means nothing.
package sim
