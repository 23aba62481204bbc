// Package verify checks that a schedule, as a device receives it, computes what the trace does.
//
//	Check      proves that the lowered program orders every pair of conflicting accesses, or shows a race
//	Necessary  finds which of its waits are necessary for that
//	Bisect     runs the schedule and finds the first operation whose result differs from serial execution
//
// Check and Necessary run nothing and need no GPU.
package verify
