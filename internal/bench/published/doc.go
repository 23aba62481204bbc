// Package published holds what the GrCUDA paper published of its six benchmarks (A.
// Parravicini et al., IPDPS 2021, arXiv 2012.09646), read off its figures, and sets
// comparisons of this project beside it.
package published
