// Package sparse holds the matrices of package solver: the CSR format, a reader of Matrix Market files, and
// generators of common model problems. It runs on the host only.
package sparse
