// Package validation compares the times that the simulator predicts with times that were measured on GPUs. A row names
// a kernel, its launch, how it was timed, the GPU and the measured time. Predict runs the row on the simulated GPU in
// the same way, and Summarize reduces the ratios of predicted to measured times to statistics by class and device.
//
// Data holds published measurements with their sources; data/README.md describes the format. Record measures rows on a
// device of one's own.
package validation
