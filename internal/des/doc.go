// Package des is the discrete-event core that computes how long GPU work takes: a virtual clock, and a fluid model of
// kernels, copies and host calls that share one GPU. The simulated device drives it with the demands of kernels that it has
// executed, and the optimizer with estimates, so both compute times in the same way.
package des
