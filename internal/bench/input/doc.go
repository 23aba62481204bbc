// Package input generates the inputs of the workloads. The C++ programs have the same generator in
// baseline/common/input.hpp. Both produce the same bytes, which is checked by a hash over all inputs of a run.
//
// Each value depends only on its array and its index, so that an array can be filled in any order, in part, or not at
// all. Nothing here rounds: a float holds the highest bits of an integer. A derived value should be rounded at most
// once, as in 59.5+u and u/n. Otherwise differences between compilers, such as fused multiply-adds, would change the
// hash.
package input
