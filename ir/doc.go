// Package ir is the program a trace records and a schedule orders: operations,
// the buffers they touch, the dependencies between them, and the lanes and
// waits chosen for a replay. It imports only internal packages of this module.
//
// Operations, buffers, modules, parameters and lanes have dense integer ids of
// different types, so side tables are slices. Print and Parse are exact
// inverses, and every pass is tested as text in, text out.
//
// A graph passes through phases. Traced: operations in program order with the
// accesses they declare. Analyzed: every hazard is an explicit dependency.
// Reduced: only dependencies that no path implies remain. A Schedule sits on
// top of a graph and says how to run it.
package ir
