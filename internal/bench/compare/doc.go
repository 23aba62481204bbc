// Package compare compares replays of traced workloads with hand-written C++ programs for the same device, with the
// same kernels, inputs, launch shapes and memory mode. It runs both alternately and refuses to compare results of
// different work. It relates every way to the best C++ version, to serial execution and to the lower bound from the
// dependencies.
package compare
