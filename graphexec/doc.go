// Package graphexec instantiates a schedule on a device, as an explicit graph or as a command list
// over several streams, and replays it.
//
//	ir.Schedule ─┐                       ┌─ graph:   one explicit graph
//	trace ───────┼─► program ─► back end ─┼─ streams: a command list, with small graphs for groups
//	device ──────┘   (work of             └─ hosted:  loops and branches on a device without
//	                  each operation)                 conditional nodes
//
// All lowering happens in Instantiate. A replay is one call into the device and allocates nothing,
// except with the hosted back end, which reads the scalars of loops and branches. Exec.Apply changes
// an instance between replays: parameters, addresses, grids, and which operations run.
//
// Package graphexec/loop repeats a schedule until a scalar that it computes ends the loop.
package graphexec
