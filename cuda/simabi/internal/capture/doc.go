// Package capture is stream capture without the driver: what a stream that is being
// captured makes of work, events and waits, which calls are refused meanwhile, and
// with which code.
//
// A captured stream holds no work. It holds a set of nodes, after which its next one
// comes. Recording an event copies that set; waiting for the event adds the copy to
// the waiting stream's set, and takes that stream into the capture. So forks and joins
// become edges:
//
//	a ── A ─record e────── C ──────── wait f ── D        A ─► C ─► D
//	                 ╲              ╱                     ╲       ╱
//	b ──────────── wait e ── B ─record f                   ► B ──►
//
// What would connect captured work with other work is refused, and ends the use of
// the capture: it is invalid then, and ending it yields no graph.
package capture
