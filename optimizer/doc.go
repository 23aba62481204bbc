// Package optimizer turns a traced program into a schedule for a replay: which
// operations wait for which, on how many lanes, and with how few events.
//
//	ir.Graph ──► hazards ──► reduce ──► assign ──► syncs ──► predict ──► ir.Schedule
//	traced       accesses    implied    lanes, by  fewest    time on a
//	             to edges    edges go   strategy   waits     device
//
// Passes are rows of one table. A pass either edits the graph, and returns a new
// one, or computes a part of the schedule; the constraints on their order are a
// table too. A strategy decides which operations share a lane. Most decide nothing else:
// the waits that remain follow from the lanes by one algorithm for all of them. search, and
// auto on small graphs, also change the order of the calls and add deliberate waits. Two
// passes then try what a cost model says is better, and keep what is predicted to take
// no longer: fold other lanes for what brings data in, order another order of the calls.
// Both go by the form in which the plan will be replayed, for a graph pays for the nodes
// that continue no chain, and streams for every call.
//
// Plans depend on the graph alone. Equal graphs give equal schedules: ties go to
// the lower id, and no step looks at a map, a clock or a pointer.
//
// The graph algorithms are those of package internal/dense, on rows of int32; package dag has
// them for any graph of gonum's. Nothing here depends on a device; costs come through CostModel, and
// internal/des supplies the arithmetic that the simulated device uses as well.
package optimizer
