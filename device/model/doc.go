// Package model describes what the time of a GPU is computed from: the figures of a device ([Profile]), and what one
// piece of work demands of it ([Demand]).
//
// Both are input. A cost model returns demands, a simulated device counts them while it executes kernels, and the
// planner and the simulator compute times from demands and a profile. Times are virtual, in picoseconds ([Time]).
// [Of] returns the profile of a simulated device. docs/PROFILE.md lists the figures and their bounds.
package model
