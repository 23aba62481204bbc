// Command benchplan measures what a plan costs the host: the time and the memory from the first
// traced launch to a schedule with its waits, for programs of a thousand to a million
// launches and of every shape that is easy or hard on some algorithm. `make bench-plan` runs it.
//
// Each program is traced and planned in a process of its own, so that its peak of memory is its
// own. How cost grows with size is the slope of a line through the points on a doubly logarithmic scale.
//
// Every strategy is then measured on families of graphs (fork-joins, trees, stencils,
// wavefronts, butterflies, complete layers, random graphs) at the largest size and a tenth of it. Growth
// beyond the goal is an error. A family has a process at each size, in which the analysis and the reduction run once
// for all strategies.
//
// The transitive reduction is then set beside those of Boost and NetworkX, on one input and
// with a comparison of what they leave.
package main
