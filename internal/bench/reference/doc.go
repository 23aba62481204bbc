// Package reference computes the results of the benchmarks on the CPU, to check the results of the device. It shares
// no code with the kernels: it consists of plain float64 loops over the definitions. A mistake in a kernel is
// therefore not repeated here, and the differences are only those of float32 rounding on the device.
//
// The GrCUDA benchmark suite, which defines the programs, does not check its results. Its own CPU version of IMG uses
// the true minimum of the mask, where that of the GPU starts at 0, and normalises once more. The definitions here are
// those of the GPU code.
package reference
