// Package timings stores how long operations, replays and gaps between replays took on a device.
//
//	measure ──► Timings ──► file.json ──► Timings ──► Find: a node's own times, those of its kernel, or a model's
//	   ▲                        ▲
//	events around each          └─ Merge: the times of several runs on one device
//	operation of a program
//
// Times are identified by what ran. A [Node] is an operation of a program, a [Kernel] is code with a launch shape, and a
// [Gap] is a point at which the program waits for its host. A [Sketch] keeps all times of one of them in fixed memory. A
// [Window] keeps the latest times of a gap, and states how long a gap will still last.
//
// A profile is something else: the figures of a device, which package internal/profiles holds.
package timings
