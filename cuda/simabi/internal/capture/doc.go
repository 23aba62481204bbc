// Package capture implements stream capture independently of the driver: the effect of
// work, events and waits on a captured stream, the calls that are refused meanwhile, and
// the code of each refusal.
//
// A captured stream contains no work. It has a set of nodes on which its next node
// depends. Recording an event copies the set. Waiting for the event adds the copy to
// the waiting stream's set, and adds that stream to the capture. Forks and joins thus
// become edges:
//
//	a ── A ─record e────── C ──────── wait f ── D        A ─► C ─► D
//	                 ╲              ╱                     ╲       ╱
//	b ──────────── wait e ── B ─record f                   ► B ──►
//
// A call that would order captured work with other work is refused and invalidates
// the capture: ending it then returns no graph.
package capture
