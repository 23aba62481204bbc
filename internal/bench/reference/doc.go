// Package reference computes on the CPU what the benchmarks compute on the
// device, so that a run can be checked. It shares nothing with the kernels: it is
// straight loops in float64 over the definitions, so a mistake in a kernel is not
// repeated here, and the differences it reports are the device's float32 rounding
// alone.
//
// The GrCUDA benchmark suite, which defines the programs, does not check its
// results: its own CPU version of IMG uses the true minimum of the mask where the
// GPU's starts at 0, and normalises once more than the GPU does. The definitions
// here are those of the GPU code.
package reference
