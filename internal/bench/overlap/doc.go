// Package overlap measures how much of the work on a device overlapped in time, from the spans of kernels and
// transfers.
package overlap
