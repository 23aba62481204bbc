// Package scale measures how programs of a single device scale on machines of several (reprise scale).
//
//	executed   every kernel runs on simulated devices, with all ranks in one process (package internal/ranks);
//	           the results are compared with a CPU reference
//	timed      the plan is made and verified in full, and its steady state is timed without executing kernels
//	           (package internal/ranks/timing)
//
// What a kernel demands of its device in a timed run is counted on one simulated device, which runs some blocks of each
// chunk of one device of the machine (sample.go). Chunks of other devices are scaled by their blocks.
//
// All times of devices are virtual. Times of planning, and the cost of a step on the host, are real.
package scale
