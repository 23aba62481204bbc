// Package overlap measures how much of the work on a device ran at the same time,
// from when each kernel and each transfer began and ended.
package overlap
