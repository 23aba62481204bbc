// Package published holds the results of the GrCUDA paper for its six benchmarks (A. Parravicini et al., IPDPS 2021,
// arXiv 2012.09646), read off its figures, and compares results of this project with them.
package published
