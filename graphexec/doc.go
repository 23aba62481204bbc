// Package graphexec turns a schedule into something a device replays: an
// explicit graph, or a multi-stream command list. All lowering happens in
// Instantiate; a replay is one call into the device and allocates nothing.
//
// A [Loop] replays a schedule until a scalar that it computes says that it is enough,
// decided on the host or on the device.
package graphexec
