// Command benchplan measures what a plan costs the host: the time and the memory from the first traced launch to a
// schedule with its waits, for programs of a thousand to a million launches. The shapes of the programs include the
// easiest and the hardest for each algorithm. `make bench-plan` runs it.
//
// Each program is traced and planned in a process of its own, whose peak of memory is that of the program. The exponent
// of growth is the slope of a line through the points (size, cost) on a doubly logarithmic scale.
//
// Second, every strategy is measured on families of graphs (fork-joins, trees, stencils,
// wavefronts, butterflies, complete layers, random graphs) at the largest size and a tenth of it. Growth
// beyond the goal is an error. One process measures one family at one size: it runs the hazard analysis and the
// reduction once, then all strategies.
//
// Third, the transitive reduction is compared with those of Boost and NetworkX on the same input. The remaining edges
// must be equal.
package main
