// Hostcost measures what submitting a replay costs the host beside what it costs a program written by hand in C++:
// the same schedule, as calls on streams and as one graph, on a driver whose calls succeed at once
// (cuda/libcudanull), so that nothing else is left of the time. `make bench-host` runs it.
//
// The program in C++, peer/peer.cpp, is a process of its own on the same processor. The two take turns, a
// millisecond or so each. Of fifty turns the quickest of each counts, since whatever else the machine does only adds; of nine
// such comparisons the median, and where a goal is missed there are two more attempts.
package main
