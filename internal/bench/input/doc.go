// Package input generates what the workloads start from. The hand-written C++
// programs have the same generator in baseline/common/input.hpp, and both leave the
// same bytes, which a hash over all inputs of a run shows.
//
// Each value is a function of its array and its index alone, so that an array can
// be filled in any order, in part, or not at all. Nothing here rounds: a float
// holds the highest bits of an integer. A value that is derived from one should be
// rounded once at most, as 59.5+u and u/n are, or what the compilers make of it
// (a fused multiply-add) would show in the hash.
package input
