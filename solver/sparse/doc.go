// Package sparse holds the matrices of package solver: compressed rows, a reader of
// Matrix Market files, and generators of the usual model problems. It runs on the host
// and knows no device.
package sparse
