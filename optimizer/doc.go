// Package optimizer turns a traced program into a schedule for a replay: which
// operations wait for which, on how many lanes, and with how few events.
//
//	ir.Graph ──► hazards ──► reduce ──► assign ──► syncs ──► predict ──► ir.Schedule
//	traced       accesses    implied    lanes, by  fewest    time on a
//	             to edges    edges go   strategy   waits     device
//
// Passes are rows of one table. A pass either edits the graph, and returns a new
// one, or computes a part of the schedule. A second table lists the constraints on
// their order. A strategy decides which operations share a lane. Most strategies
// decide nothing else: one algorithm derives the waits from the lanes. search, and
// auto on small graphs, also change the order of the calls and add deliberate waits.
// Two passes then try changes to the plan and keep those that are predicted to take
// no longer: fold moves copies to other lanes, and order changes the order of the calls.
// Both predict the form in which the plan will be replayed: a graph costs host time for
// each node that starts a new chain, streams for each call.
//
// Plans depend on the graph and the options alone. Equal graphs give equal schedules:
// ties go to the lower id, and no step depends on map order, a clock or an address.
//
// The graph algorithms are those of package internal/dense, on rows of int32; package dag
// offers them for any gonum graph. Nothing here depends on a device; costs come through
// CostModel, and internal/des supplies the arithmetic that the simulated device uses as well.
package optimizer
