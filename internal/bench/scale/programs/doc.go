// Package programs holds the programs of a single device that are measured on several: the wave equation, bodies that
// attract each other, radiosity with delays, Jacobi's method, and products of matrices. They declare nothing about
// several devices. Each is a file of kernels (wave.cu), the PTX that `make ptx` makes of it (wave.ptx), the program
// (wave.go) and a test. References in internal/bench/reference check the results.
//
// The bytes that a range of blocks accesses must follow from the PTX. The kernels therefore have these forms:
//
//   - A thread has one place of its result, and its index is block index * block size + thread index along each axis.
//     No loop strides by the grid.
//   - Thread blocks have as many axes as the data. Division and remainder of a thread index would blur its range.
//   - The columns of a launch vary fastest, so that consecutive blocks write consecutive rows.
//   - Guards, minima and maxima bound every index that does not follow from these, even where the data keep the bound.
//
// The kernels of packages internal/kernels and solver compute similar things. The former stride by their grids, or
// divide thread indices as its matrix products do; the latter work on rows of sparse matrices and are internal to
// package solver.
package programs
