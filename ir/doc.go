// Package ir is the program a trace records and a schedule orders: operations,
// the buffers they touch, the dependencies between them, and the lanes and
// waits chosen for a replay. It imports nothing of this module.
//
// Everything is named by a dense integer id whose type says what it names, so
// side tables are slices. Text is part of the contract: Print and Parse are
// exact inverses, and every pass is tested as text in, text out.
//
// A graph passes through phases. Traced: operations in program order with the
// accesses they declare. Analyzed: every hazard is an explicit dependency.
// Reduced: only dependencies that no path implies remain. A Schedule sits on
// top of a graph and says how to run it.
package ir
