// Package compare sets replays of traced workloads beside programs written by hand
// in C++ for the same device: same kernels, inputs, launch shapes and memory mode.
// It runs both in turn, refuses to compare what differs, and relates every way to the
// best hand-written one, to serial execution and to what the dependencies allow.
package compare
