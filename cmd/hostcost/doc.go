// Hostcost compares the host's cost of submitting a replay with that of a program written by hand in C++. Both submit
// the same schedule, as calls on streams and as one graph, to a driver whose calls return at once
// (cuda/libcudanull), so that only the cost of submission is measured. `make bench-host` runs it.
//
// The C++ program, peer/peer.cpp, is a process of its own on the same processor. The two sides take turns of about a
// millisecond. Disturbances only lengthen a turn, so the quickest of about fifty turns of each side counts. The result
// is the median of nine such comparisons. If it misses a goal, the measurement is repeated up to two times.
package main
