// Package taskgraph generates task graphs of the scheduling literature in any size, to compare schedulers without
// programs.
//
// A graph has two forms. Empty returns operations with declared durations that do not share resources. Launches
// returns a program: each task is a kernel that reads the outputs of its predecessors and writes a buffer of its own.
// Dependencies then follow from accesses, kernels share the device, and data are copied from the host and back.
//
// Only the shapes come from the literature. Durations of tasks are random, except for kernels of dense linear
// algebra, whose relative work is known.
package taskgraph
