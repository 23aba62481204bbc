// Package model describes what the time of a GPU is computed from: the figures of a device ([Profile]), with a source for
// each ([File]), and what one piece of work demands of it ([Demand]).
//
// Both are input. A cost model returns demands, a simulated device counts them while it executes kernels, and the
// planner and the simulator compute times from demands and a profile. Times are virtual, in picoseconds ([Time]).
package model
