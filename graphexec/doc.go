// Package graphexec turns a schedule into something a device replays: an
// explicit graph, or a multi-stream command list. All lowering happens in
// Instantiate; a replay is one call into the device and allocates nothing.
//
// Package graphexec/loop repeats a schedule until a scalar that it computes ends the loop.
package graphexec
