// Package taskgraph draws the task graphs of the scheduling literature, of about any size:
// what schedulers are compared on where no program is at hand.
//
// A graph comes in two forms. Empty has operations that take as long as they say and disturb
// nobody. Launches is a program: each task is a kernel that reads what the tasks before it left
// and writes a buffer of its own, so that dependencies follow from accesses, kernels share the
// device, and data come from the host and go back.
//
// Only the shapes are those of the literature. How long a task takes is drawn, but for the
// kernels of dense linear algebra, whose shares of the work are known.
package taskgraph
